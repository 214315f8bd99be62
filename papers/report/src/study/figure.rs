//! A paper's figure, and ours.

use super::claim::{ClaimKind, ClaimVerdict, PaperClaim, WrittenClaim};
use super::with_program;
use seatmap_data::document::visible;
use serde::{Deserialize, Serialize};

/// A figure or a result in a paper's text.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(try_from = "WrittenFigure")]
pub struct StudyFigure {
    /// Its place in the paper: a figure, a table or a section.
    pub place: String,
    /// The figure's name.
    pub what: String,
    /// The command that computes ours, without the program's name and `--json`.
    pub command: String,
    /// A pointer into the command's JSON (RFC 6901), in which `[NAME]` stands for the array element
    /// with this name.
    pub value: String,
    /// A pointer to the divisor of this value, in the same JSON.
    pub over_value: Option<String>,
    /// A command with the same pointers whose quantity divides the first one's.
    pub over: Option<String>,
    /// A command with the same pointers whose quantity is subtracted from the first one's.
    pub minus: Option<String>,
    /// The unit of both figures.
    pub unit: String,
    /// Whether the model was fitted to it.
    pub kind: ClaimKind,
    /// The paper's number or order.
    pub claim: PaperClaim,
    /// The paper's statement of an order.
    pub says: Option<String>,
    /// A remark, usually the reason for a miss.
    pub note: Option<String>,
}

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

/// A figure with ours.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MeasuredFigure {
    /// Its place in the paper.
    pub place: String,
    /// The figure's name.
    pub what: String,
    /// The command.
    pub command: String,
    /// The published value; null if the paper only gives an order.
    pub published: Option<f64>,
    /// The paper's statement of an order.
    pub says: Option<String>,
    /// The value that Seatmap found.
    pub ours: f64,
    /// Our value divided by the published one; null if that is 0 or missing.
    pub ratio: Option<f64>,
    /// The unit of both figures.
    pub unit: String,
    /// Whether it is a calibration or a check.
    pub kind: ClaimKind,
    /// The rule of the verdict, with its tolerance.
    pub rule: String,
    /// The verdict.
    pub verdict: ClaimVerdict,
    /// A remark.
    pub note: Option<String>,
}

impl StudyFigure {
    fn commands(&self) -> String {
        let over = self.over.as_ref().map(|over| format!(" / {}", with_program(over)));
        let minus = self.minus.as_ref().map(|minus| format!(" - {}", with_program(minus)));
        let rest = over.into_iter().chain(minus).collect::<String>();
        with_program(&self.command) + &rest
    }

    /// A quotient of 0 was not measured, so it has no direction.
    fn verdict(&self, ours: f64) -> ClaimVerdict {
        let is_quotient = self.over.is_some() || self.over_value.is_some();
        match self.claim.verdict(ours) {
            ClaimVerdict::Direction if is_quotient && ours == 0.0 => ClaimVerdict::Miss,
            verdict => verdict,
        }
    }

    /// This figure with ours.
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
            verdict: self.verdict(ours),
            note: self.note.clone(),
        }
    }
}
