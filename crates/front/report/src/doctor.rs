//! Things that disturb a measurement or a quiet program on this computer.

use crate::page::{Page, Table, TableCell, html_section, terminal_section};
use crate::words::counted;
use seatmap_health::doctor::{Diagnosis, DoctorRemedyKind, Severity, gravest};

const FIRST: usize = 3;

/// Findings that can be fixed come first.
const ORDER: [(Severity, &str); 5] = [
    (Severity::Fix, "Can be fixed on the running system"),
    (Severity::Boot, "Can be fixed by a kernel parameter"),
    (Severity::No, "Cannot be fixed from here"),
    (Severity::Info, "Worth knowing"),
    (Severity::Ok, "No problem"),
];

/// In a terminal, the gravest findings, then all settings with their remedies; on a page, the
/// findings by remedy.
pub fn page(machine: &str, found: &[Diagnosis], is_coloured: bool) -> Page {
    let all = Table::new(":4 | :14 |").flush();
    let all = all.rows(found.iter().flat_map(|diagnosis| lines(diagnosis, is_coloured)));
    let first = gravest(found, FIRST);
    let title = match first.len() {
        0 => "No check found anything that disturbs measurements or quiet programs.".to_owned(),
        1 => "Begin with this one:".to_owned(),
        count => format!("Begin with these {count}:"),
    };
    let first = first.iter().zip(1..).flat_map(|(diagnosis, number)| begin_with(diagnosis, number));
    let first = Table::new("").flush().rows(first.map(|line| [line]));
    let terminal = [terminal_section(vec![title]).with(first), terminal_section(all)];
    Page {
        sections: terminal
            .into_iter()
            .chain(ORDER.map(|(level, title)| {
                let found = found.iter().filter(|diagnosis| diagnosis.level == level);
                html_section(title, table(found))
            }))
            .collect(),
        footer: "Checked by 'seatmap doctor', which left nothing changed.",
        ..Page::new(format!("What disturbs programs on {machine}"), sentence(found))
    }
}

fn begin_with(diagnosis: &Diagnosis, number: usize) -> impl Iterator<Item = TableCell> {
    let finding = format!("  {number}. {}: {}", diagnosis.subject, diagnosis.found);
    // A bare word does not say where to put it.
    let place = match diagnosis.level {
        Severity::Boot => "add to the kernel's command line: ",
        _ => "",
    };
    std::iter::once(finding.into()).chain(remedy(diagnosis, &format!("     -> {place}")))
}

fn lines(diagnosis: &Diagnosis, is_coloured: bool) -> impl Iterator<Item = [TableCell; 3]> {
    let word = diagnosis.level.word();
    let word =
        if is_coloured { TableCell::painted(word, look(diagnosis.level)[0]) } else { word.into() };
    let remedy = remedy(diagnosis, "-> ").map(|remedy| ["".into(), "".into(), remedy]);
    std::iter::once([word, diagnosis.subject.into(), (&diagnosis.found).into()]).chain(remedy)
}

fn remedy(diagnosis: &Diagnosis, arrow: &str) -> Option<TableCell> {
    let remedy = diagnosis.remedy.as_ref()?;
    let text = format!("{arrow}{}", remedy.text);
    let is_command = remedy.kind != DoctorRemedyKind::Advice && diagnosis.level != Severity::Boot;
    Some(if is_command { TableCell::code(text) } else { text.into() })
}

/// The colour in a terminal (ECMA-48: 32 green, 33 yellow, 31 red), and its class on a page.
fn look(level: Severity) -> [&'static str; 2] {
    match level {
        Severity::Ok => ["32", "good"],
        Severity::Info => ["0", "plain"],
        Severity::Fix | Severity::Boot => ["33", "fair"],
        Severity::No => ["31", "bad"],
    }
}

fn sentence(found: &[Diagnosis]) -> String {
    let [now, boot, never] = [Severity::Fix, Severity::Boot, Severity::No]
        .map(|level| found.iter().filter(|diagnosis| diagnosis.level == level).count());
    let first = found.iter().find(|diagnosis| diagnosis.level == Severity::Fix);
    let begin = first.map(|first| format!("; begin with '{}'", first.subject)).unwrap_or_default();
    match now + boot + never {
        0 => format!(
            "None of {} found anything that disturbs measurements or quiet programs.",
            counted(found.len(), "check")
        ),
        bad => format!(
            "{bad} of {} checks found something that disturbs measurements or quiet programs: \
             {now} can be fixed on the running system, {boot} by a kernel parameter, {never} not \
             from here{begin}.",
            found.len()
        ),
    }
}

fn table<'a>(found: impl Iterator<Item = &'a Diagnosis>) -> Table {
    Table::new("subject | found | remedy").rows(found.map(|diagnosis| {
        [
            TableCell::from(diagnosis.subject)
                .level(diagnosis.level.word(), look(diagnosis.level)[1]),
            TableCell::from(&diagnosis.found),
            match &diagnosis.remedy {
                None => "-".into(),
                Some(remedy) if remedy.kind == DoctorRemedyKind::Advice => {
                    TableCell::from(&remedy.text)
                }
                Some(remedy) => TableCell::code(&remedy.text),
            },
        ]
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use seatmap_health::doctor::Remedy;

    #[test]
    fn remedy_is_printed_below_finding() {
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
        assert_eq!(page("made", &found, false).text(None), plain);
        assert!(page("made", &found, true).text(None).contains("\n\x1b[33mFIX \x1b[0m  clock"));
        assert!(page("made", &[], false).text(None).starts_with("No check found anything"));
    }

    fn of(subject: &'static str, level: Severity) -> Diagnosis {
        let remedy = (level == Severity::Fix)
            .then(|| Remedy { kind: DoctorRemedyKind::GatherSeldom, text: "echo <x>".to_owned() });
        Diagnosis { subject, level, found: format!("{subject} is so"), remedy }
    }

    #[test]
    fn sentence_counts_fixable_findings() {
        let good = [of("clock", Severity::Ok), of("hypervisor", Severity::Info)];
        let bad = [
            of("clock", Severity::Ok),
            of("governor", Severity::Fix),
            of("ticks", Severity::Boot),
            of("steal", Severity::No),
        ];
        insta::assert_snapshot!([sentence(&good), sentence(&bad)].join("\n"), @"
        None of 2 checks found anything that disturbs measurements or quiet programs.
        3 of 4 checks found something that disturbs measurements or quiet programs: 1 can be fixed on the running system, 1 by a kernel parameter, 1 not from here; begin with 'governor'.
        ");
    }

    #[test]
    fn html_lists_remedies_first_and_escapes_text() {
        let found = [of("clock", Severity::Ok), of("governor", Severity::Fix)];
        let page = page("desk", &found, false).html();
        assert!(page.find("Can be fixed on").unwrap() < page.find("No problem").unwrap());
        assert!(page.contains("<code>echo &lt;x&gt;</code>") && !page.contains("Worth knowing"));
    }
}
