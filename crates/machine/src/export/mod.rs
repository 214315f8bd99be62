//! A [`crate::Profile`], written as other tools' files.
