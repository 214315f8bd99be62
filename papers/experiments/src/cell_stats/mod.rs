//! CellStats on any machine: the cost of each way of communicating.
//!
//! After Abellán, Fernández & Acacio 2009. [`measure`] runs one experiment, and [`survey`] all
//! those of the paper's evaluation.

mod experiment;
mod many;
mod options;
mod outcome;
mod overlapping;
mod rooms;
mod rows;
mod survey;

pub use experiment::{StatsError, measure};
pub use options::{CellStatsPrimitive, StatsOptions};
pub use outcome::{LatencySpread, PerTask, StatsResult};
pub use rooms::Rooms;
pub use survey::{
    CellStatsSurvey, LatencyPoint, Refused, SurveyFigure, SurveyLatency, SurveySeries, survey,
};
