//! What came of a request.

use seatmap_plan::{Baselines, Channel};

/// A placement with what is known about it.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// The OS index of the PU of each task.
    pub placement: Vec<u32>,
    /// The objective: weight x ns for distance, weight for congestion.
    pub cost: f64,
    /// No placement costs less.
    pub lower_bound: f64,
    /// Whether that this is the cheapest is proven.
    pub optimal: bool,
    /// What the usual placements cost.
    pub baselines: Baselines,
    /// How it was found.
    pub method: String,
    /// Which home each communicating pair should use, where that was asked for.
    pub channels: Vec<Channel>,
    /// The weight that flows through the most loaded link, and its name, where the machine has links that are known.
    pub busiest_link: Option<(String, f64)>,
    /// The weight that crosses between chips or sections, and the weight of all, where these were asked for.
    pub crossing: Option<(f64, f64)>,
}
