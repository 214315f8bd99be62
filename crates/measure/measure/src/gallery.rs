//! Many machines side by side.
//!
//! | module | holds |
//! |---|---|
//! | [`collection`] | the machines, each with a unique name |
//! | [`like`] | comparisons of machines with the same processor |
//! | [`ranking`] | the machines by the time of a pattern |
//! | [`contribution`] | whether a profile may be published |

pub mod collection;
pub mod contribution;
pub mod like;
pub mod ranking;

pub use collection::{Gallery, GalleryError, GalleryMachine};
pub use contribution::ContributionFault;
pub use like::{LikePair, like_pairs};
pub use ranking::{MachineRanking, RankingError, RankingRequest};
