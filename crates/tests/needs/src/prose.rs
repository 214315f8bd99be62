//! Faults in printed sentences.

/// Faults in a printed text, each with its line: `1 threads`, `-0`, two spaces within a
/// sentence, a letter right after a full stop or a semicolon.
pub fn faults(text: &str) -> Vec<String> {
    text.lines()
        .flat_map(|line| line_faults(line).into_iter().map(move |fault| format!("{fault}: {line}")))
        .collect()
}

const NOUNS: [&str; 40] = [
    "batch",
    "block",
    "byte",
    "candidate",
    "cell",
    "change",
    "core",
    "CPU",
    "cycle",
    "edge",
    "event",
    "file",
    "group",
    "home",
    "interrupt",
    "line",
    "link",
    "look",
    "message",
    "microsecond",
    "node",
    "page",
    "pair",
    "pass",
    "period",
    "process",
    "program",
    "PU",
    "rank",
    "row",
    "run",
    "seat",
    "second",
    "sample",
    "task",
    "thing",
    "thread",
    "time",
    "visit",
    "wakeup",
];

fn line_faults(line: &str) -> Vec<&'static str> {
    let mut faults = Vec::new();
    let words: Vec<&str> = line.split_whitespace().collect();
    for pair in words.windows(2) {
        let number = pair[0].trim_start_matches(['(', '[', '\'']);
        let noun = bare(pair[1]);
        if number == "1" && is_plural(noun) {
            faults.push("1 with a plural");
        }
        if number.parse::<u64>().is_ok_and(|number| number != 1) && NOUNS.contains(&noun) {
            faults.push("a number with a singular");
        }
    }
    for triple in words.windows(3) {
        if triple[0].trim_start_matches('(') == "1"
            && triple[1] == "more"
            && is_plural(bare(triple[2]))
        {
            faults.push("1 more with a plural");
        }
    }
    if words.iter().any(|word| is_negative_zero(word)) {
        faults.push("a negative zero");
    }
    if line.trim().contains("  ") {
        faults.push("two spaces");
    }
    let letters: Vec<char> = line.chars().collect();
    if letters.windows(3).any(|triple| {
        triple[0].is_alphabetic() && [';', ','].contains(&triple[1]) && triple[2].is_alphabetic()
    }) {
        faults.push("no space behind a mark");
    }
    faults
}

fn bare(word: &str) -> &str {
    word.trim_matches(|letter: char| !letter.is_alphanumeric() && letter != '-')
}

fn is_plural(word: &str) -> bool {
    NOUNS.iter().any(|noun| matches!(word.strip_prefix(noun), Some("s" | "es")))
}

fn is_negative_zero(word: &str) -> bool {
    let Some(number) = word.trim_start_matches(['(', '[']).strip_prefix('-') else {
        return false;
    };
    let digits = number.trim_end_matches(|letter: char| !letter.is_ascii_digit());
    !digits.is_empty() && digits.chars().all(|letter| letter == '0' || letter == '.')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentence_faults_are_found() {
        let text = "1 threads wait\n1 more runs; it's\n2 thread wait\n-0 interrupts/s (-0.0 %)\na  b\nkind;and\nall, well";
        let found: Vec<String> =
            faults(text).into_iter().map(|fault| fault.split(':').next().unwrap().into()).collect();
        let expected = [
            "1 with a plural",
            "1 more with a plural",
            "a number with a singular",
            "a negative zero",
            "two spaces",
            "no space behind a mark",
        ];
        assert_eq!(found, expected);
        let well = "1 thread, 2 threads and 11 threads; CPU 0, -0.5 % of 1 run";
        assert!(faults(well).is_empty(), "{:?}", faults(well));
    }
}
