//! Programs written once, generic over Port.

mod conformance;
