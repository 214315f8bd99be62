//! The things that disturb a measurement or a quiet program on this computer, as text.

use seatmap_data::document::visible;
use seatmap_health::doctor::{Diagnosis, Severity, gravest};

/// The findings that stand first.
const FIRST: usize = 3;

/// The findings that matter most; then a line for each thing that was examined, and one below it
/// for the remedy.
#[must_use]
pub fn text(found: &[Diagnosis], coloured: bool) -> String {
    let first = gravest(found, FIRST);
    let head = match first.len() {
        0 => "Nothing that was examined will disturb a measurement or a quiet program.\n\n"
            .to_owned(),
        1 => "Begin with this one:\n".to_owned(),
        count => format!("Begin with these {count}:\n"),
    };
    let list = first.iter().zip(1..).map(|(diagnosis, number)| {
        let remedy = diagnosis.remedy.as_ref().map(|remedy| visible(&remedy.text));
        // A word alone does not say where it belongs.
        let place = match diagnosis.level {
            Severity::Boot => "on the kernel's command line: ",
            _ => "",
        };
        let remedy = remedy.map(|remedy| format!("     -> {place}{remedy}\n")).unwrap_or_default();
        format!("  {number}. {}: {}\n{remedy}", diagnosis.subject, visible(&diagnosis.found))
    });
    let list = list.collect::<String>();
    let gap = if first.is_empty() { "" } else { "\n" };
    let all = found.iter().map(|diagnosis| line(diagnosis, coloured)).collect::<String>();
    head + &list + gap + &all
}

fn line(diagnosis: &Diagnosis, coloured: bool) -> String {
    let word = format!("{:<4}", diagnosis.level.word());
    let word = if coloured { format!("\x1b[{}m{word}\x1b[0m", sgr(diagnosis.level)) } else { word };
    let remedy = diagnosis
        .remedy
        .as_ref()
        // 22 columns: a word of 4, a subject of 14, and two gaps of 2, so that the arrow stands
        // below the finding.
        .map(|remedy| format!("\n{:22}-> {}", "", visible(&remedy.text)))
        .unwrap_or_default();
    format!("{word}  {:<14}  {}{remedy}\n", diagnosis.subject, visible(&diagnosis.found))
}

/// Green, none, yellow, red.
fn sgr(level: Severity) -> &'static str {
    match level {
        // SGR parameters (ECMA-48): 32 green, 33 yellow, 31 red; the word says the level as well,
        // for those who see no colours.
        Severity::Ok => "32",
        Severity::Info => "0",
        Severity::Fix | Severity::Boot => "33",
        Severity::No => "31",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use seatmap_health::doctor::{DoctorRemedyKind, Remedy};

    #[test]
    fn a_remedy_stands_below_its_finding() {
        let found = [Diagnosis {
            subject: "clock",
            level: Severity::Fix,
            found: "it is slow".to_owned(),
            remedy: Some(Remedy {
                kind: DoctorRemedyKind::Advice,
                text: "choose\x07 another".into(),
            }),
        }];
        let plain = "Begin with this one:\n  1. clock: it is slow\n     -> choose\\u{7} another\n\n\
                     FIX   clock           it is slow\n                      -> choose\\u{7} another\n";
        assert_eq!(text(&found, false), plain);
        assert!(text(&found, true).contains("\n\x1b[33mFIX \x1b[0m  clock"));
        assert!(text(&[], false).starts_with("Nothing that was examined"));
    }
}
