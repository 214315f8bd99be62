//! Many machines side by side: the bundled ones, and the profiles of a folder.
//!
//! A gallery answers two questions that one profile cannot. How far do two computers with the same
//! processor differ? And which machine suits a program, whose pattern is known?
//!
//! | module | holds |
//! |---|---|
//! | [`collection`] | the machines, each with a name of its own |
//! | [`like`] | the pairs of machines with the same processor, compared |
//! | [`ranking`] | the machines in the order of the time that a pattern takes on each |
//! | [`contribution`] | whether a profile may be published: names nobody, sound figures |

pub mod collection;
pub mod contribution;
pub mod like;
pub mod ranking;

pub use collection::{Gallery, GalleryError, GalleryMachine};
pub use contribution::ContributionFault;
pub use like::{LikePair, like_pairs};
pub use ranking::{MachineRanking, RankingError, RankingRequest};
