//! A figure of a paper, and ours beside it.

use super::claim::{ClaimKind, ClaimVerdict, PaperClaim, WrittenClaim};
use super::with_program;
use seatmap_data::document::visible;
use serde::{Deserialize, Serialize};

/// One figure, or one result that the paper's text states.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(try_from = "WrittenFigure")]
pub struct StudyFigure {
    /// Its place in the paper: a figure, a table or a section.
    pub place: String,
    /// The figure's name.
    pub what: String,
    /// The command that gives ours, without its program and `--json`.
    pub command: String,
    /// Where in the command's JSON: a pointer (RFC 6901), in which `[NAME]` stands for the element
    /// of an array with this name.
    pub value: String,
    /// Where the divisor of this value is, in the same command's JSON.
    pub over_value: Option<String>,
    /// A command whose quantity, made in the same way, divides the first one's.
    pub over: Option<String>,
    /// A command whose quantity, made in the same way, is taken from the first one's.
    pub minus: Option<String>,
    /// The unit of both figures.
    pub unit: String,
    /// Whether the model was fitted to it.
    pub kind: ClaimKind,
    /// The paper's number or order.
    pub claim: PaperClaim,
    /// The paper's statement of an order.
    pub says: Option<String>,
    /// A remark, above all the reason for a miss.
    pub note: Option<String>,
}

/// A figure as a study's file has it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenFigure {
    place: String,
    what: String,
    command: String,
    value: String,
    over_value: Option<String>,
    over: Option<String>,
    minus: Option<String>,
    unit: String,
    kind: ClaimKind,
    note: Option<String>,
    published: Option<f64>,
    within: Option<f64>,
    within_absolute: Option<f64>,
    limit: Option<super::ClaimLimit>,
    above: Option<f64>,
    below: Option<f64>,
    margin: Option<f64>,
    says: Option<String>,
}

impl TryFrom<WrittenFigure> for StudyFigure {
    type Error = String;

    fn try_from(written: WrittenFigure) -> Result<Self, String> {
        let claim = WrittenClaim {
            published: written.published,
            within: written.within,
            within_absolute: written.within_absolute,
            limit: written.limit,
            above: written.above,
            below: written.below,
            margin: written.margin,
            says: written.says.clone(),
        };
        let claim = claim
            .understood(written.kind)
            .map_err(|problem| format!("figure '{}': {problem}", visible(&written.what)))?;
        Ok(Self {
            place: written.place,
            what: written.what,
            command: written.command,
            value: written.value,
            over_value: written.over_value,
            over: written.over,
            minus: written.minus,
            unit: written.unit,
            kind: written.kind,
            claim,
            says: written.says,
            note: written.note,
        })
    }
}

/// A figure and ours.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MeasuredFigure {
    /// Its place in the paper.
    pub place: String,
    /// The figure's name.
    pub what: String,
    /// The command.
    pub command: String,
    /// The published value; null where the paper gives only an order.
    pub published: Option<f64>,
    /// The paper's statement of an order.
    pub says: Option<String>,
    /// The value that Seatmap found.
    pub ours: f64,
    /// Seatmap's value over the published one; null where that is 0 or is not there.
    pub ratio: Option<f64>,
    /// The unit of both figures.
    pub unit: String,
    /// Whether it is a calibration or a check.
    pub kind: ClaimKind,
    /// The rule by which ours is judged, with its tolerance.
    pub rule: String,
    /// The verdict.
    pub verdict: ClaimVerdict,
    /// A remark.
    pub note: Option<String>,
}

impl StudyFigure {
    /// Its commands as a person types them, with the sign of what is done with their quantities.
    fn commands(&self) -> String {
        let over = self.over.as_ref().map(|over| format!(" / {}", with_program(over)));
        let minus = self.minus.as_ref().map(|minus| format!(" - {}", with_program(minus)));
        let rest = over.into_iter().chain(minus).collect::<String>();
        with_program(&self.command) + &rest
    }

    /// This figure beside ours.
    #[must_use]
    pub fn beside(&self, ours: f64) -> MeasuredFigure {
        let published = self.claim.published();
        MeasuredFigure {
            place: self.place.clone(),
            what: self.what.clone(),
            command: self.commands(),
            published,
            says: self.says.clone(),
            ours,
            ratio: published.filter(|number| *number != 0.0).map(|number| ours / number),
            unit: self.unit.clone(),
            kind: self.kind,
            rule: self.claim.rule(),
            verdict: self.claim.verdict(ours),
            note: self.note.clone(),
        }
    }
}
