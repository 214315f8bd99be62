//! The page of what will disturb a measurement or a quiet program on this computer.

use crate::page::{Page, PageSection, Table, TableCell, draw};
use seatmap_data::statistics::words::counted;
use seatmap_health::doctor::{Diagnosis, DoctorRemedyKind, Severity};

/// The order in which findings are listed: those that can be fixed come first.
const ORDER: [(Severity, &str); 5] = [
    (Severity::Fix, "Can be mended on the running system"),
    (Severity::Boot, "Can be mended by a word on the kernel's command line"),
    (Severity::No, "Cannot be mended from here"),
    (Severity::Info, "Worth knowing"),
    (Severity::Ok, "As it should be"),
];

/// Findings as one HTML file that works offline and without scripts.
#[must_use]
pub fn doctor(machine: &str, found: &[Diagnosis]) -> String {
    let sections = ORDER.iter().map(|(level, title)| {
        PageSection::new(*title)
            .with(table(found.iter().filter(|diagnosis| diagnosis.level == *level)))
    });
    draw::html(&Page {
        sections: sections.collect(),
        footer: "As 'seatmap doctor' found this computer; nothing is left changed.",
        ..Page::new(format!("What disturbs programs on {machine}"), sentence(found))
    })
}

/// How much can be mended, and what to begin with.
fn sentence(found: &[Diagnosis]) -> String {
    let count = |level| found.iter().filter(|diagnosis| diagnosis.level == level).count();
    let now = count(Severity::Fix);
    let boot = count(Severity::Boot);
    let never = count(Severity::No);
    let first = found.iter().find(|diagnosis| diagnosis.level == Severity::Fix);
    let begin = first.map(|first| format!("; begin with '{}'", first.subject)).unwrap_or_default();
    match now + boot + never {
        0 => format!(
            "None of {} will disturb a measurement or a quiet program.",
            counted(found.len(), "point")
        ),
        bad => format!(
            "{bad} of {} points disturb measurements or quiet programs: {now} can be mended on the \
             running system, {boot} by a word on the kernel's command line, {never} not from \
             here{begin}.",
            found.len()
        ),
    }
}

fn table<'a>(found: impl Iterator<Item = &'a Diagnosis>) -> Table {
    Table::default().words(["subject", "found", "remedy"]).rows(found.map(|diagnosis| {
        [
            TableCell::from(diagnosis.subject)
                .level(diagnosis.level.word(), class(diagnosis.level)),
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

fn class(level: Severity) -> &'static str {
    match level {
        Severity::Ok => "good",
        Severity::Info => "plain",
        Severity::Fix | Severity::Boot => "fair",
        Severity::No => "bad",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use seatmap_health::doctor::Remedy;

    fn of(subject: &'static str, level: Severity) -> Diagnosis {
        let remedy = (level == Severity::Fix)
            .then(|| Remedy { kind: DoctorRemedyKind::GatherSeldom, text: "echo <x>".to_owned() });
        Diagnosis { subject, level, found: format!("{subject} is so"), remedy }
    }

    #[test]
    fn the_sentence_counts_what_can_be_mended() {
        let good = [of("clock", Severity::Ok), of("hypervisor", Severity::Info)];
        let bad = [
            of("clock", Severity::Ok),
            of("governor", Severity::Fix),
            of("ticks", Severity::Boot),
            of("steal", Severity::No),
        ];
        insta::assert_snapshot!([sentence(&good), sentence(&bad)].join("\n"), @"
        None of 2 points will disturb a measurement or a quiet program.
        3 of 4 points disturb measurements or quiet programs: 1 can be mended on the running system, 1 by a word on the kernel's command line, 1 not from here; begin with 'governor'.
        ");
    }

    #[test]
    fn remedies_come_first_and_are_text() {
        let page = doctor("desk", &[of("clock", Severity::Ok), of("governor", Severity::Fix)]);
        assert!(page.find("Can be mended on").unwrap() < page.find("As it should be").unwrap());
        assert!(page.contains("<code>echo &lt;x&gt;</code>") && !page.contains("Worth knowing"));
    }
}
