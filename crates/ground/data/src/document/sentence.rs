//! The messages of the JSON and TOML parsers as sentences about the file.
//!
//! A parser's message is about the types of the program: "invalid type: string "8", expected u32".
//! The owner of a file knows only keys and values, so each message is rewritten. The parsers
//! (`serde` 1, `serde_json` 1 and `toml` 1) have messages but no types for them. An unknown message
//! stays as it is, because those of Seatmap's own readers also come through the parsers.

use crate::document::visible;

const SYNTAX: [(&str, &str); 22] = [
    ("EOF while parsing a value", "the file ends where a value should stand"),
    ("EOF while parsing a list", "the file ends in the middle of a list"),
    ("EOF while parsing an object", "the file ends in the middle of an object"),
    ("EOF while parsing a string", "the file ends in the middle of a string"),
    ("expected value", "this is not a JSON value; text stands in double quotes"),
    ("expected ident", "this is not a JSON value; text stands in double quotes"),
    ("expected `:`", "a ':' is missing after a key"),
    ("expected `,` or `]`", "a ',' or the closing ']' of a list is missing"),
    ("expected `,` or `}`", "a ',' or the closing '}' of an object is missing"),
    ("expected `\"`", "text must stand in double quotes"),
    ("key must be a string", "a key must stand in double quotes"),
    (
        "invalid value: expected key to be a number in quotes",
        "a key must be a number in double quotes",
    ),
    ("trailing comma", "remove the ',' before the closing bracket"),
    ("trailing characters", "more stands here than the document may have"),
    ("invalid number", "this is not a JSON number"),
    ("number out of range", "the number is too large"),
    ("invalid escape", "unknown escape in a string; write a backslash as \\\\"),
    ("unexpected end of hex escape", "an escape \\u needs four hexadecimal digits"),
    ("lone leading surrogate in hex escape", "an escape \\u names half a character"),
    (
        "invalid unicode code point",
        "an escape \\u does not name a character, or the text is not UTF-8",
    ),
    (
        "control character (\\u0000-\\u001F) found while parsing a string",
        "write a line end or tab in a string as \\n or \\t",
    ),
    ("recursion limit exceeded", "the lists and objects are nested too deeply"),
];

/// The beginnings of messages about TOML's syntax; the parser's expectations follow.
const TOML: [(&str, &str); 11] = [
    ("string values must be quoted", "text must stand in double quotes"),
    ("key with no value", "a '=' and a value are missing after the key"),
    ("missing value for key", "a value is missing after the '='"),
    ("unclosed table", "the ']' after a table's name is missing"),
    ("unclosed array", "the closing ']' of a list is missing"),
    ("unclosed inline table", "the closing '}' is missing"),
    ("duplicate key", "the key is there twice"),
    ("unexpected key or value", "more stands on this line than one key and its value"),
    ("integer number overflowed", "the number is too large"),
    ("floating-point number overflowed", "the number is too large"),
    ("cannot recurse further", "the lists and tables are nested too deeply"),
];

/// A message of `serde_json` or `toml`, without its position, as a sentence about the file.
///
/// ```
/// use seatmap_data::document::parser_sentence;
/// let sentence = parser_sentence("invalid type: string \"8\", expected u32");
/// assert_eq!(sentence, "expected a whole number from 0 to 4294967295, and found the text \"8\"");
/// assert_eq!(parser_sentence("missing field `nodes`"), "the key 'nodes' is missing");
/// ```
#[must_use]
pub fn parser_sentence(message: &str) -> String {
    // TOML's parser puts its expectations on separate lines.
    let message = message.replace('\n', ", ");
    if let Some((_, sentence)) = SYNTAX.iter().find(|(parsers, _)| *parsers == message) {
        return (*sentence).to_owned();
    }
    if let Some((_, sentence)) = TOML.iter().find(|(parsers, _)| message.starts_with(parsers)) {
        return (*sentence).to_owned();
    }
    about_a_key(&message).or_else(|| about_a_value(&message)).unwrap_or_else(|| plain(&message))
}

fn about_a_key(message: &str) -> Option<String> {
    if let Some(key) =
        message.strip_prefix("missing field `").and_then(|rest| rest.strip_suffix('`'))
    {
        return Some(format!("the key '{key}' is missing"));
    }
    if let Some(key) =
        message.strip_prefix("duplicate field `").and_then(|rest| rest.strip_suffix('`'))
    {
        return Some(format!("the key '{}' is there twice", visible(key)));
    }
    if message.starts_with("data did not match any variant of untagged enum") {
        return Some("the value has none of the forms that it may have".to_owned());
    }
    let (kind, rest) = message
        .strip_prefix("unknown field `")
        .map(|rest| ("key", rest))
        .or_else(|| message.strip_prefix("unknown variant `").map(|rest| ("value", rest)))?;
    // The name is from the file and may contain anything; the words after it are Seatmap's own.
    if let Some((name, known)) = rest.rsplit_once("`, expected ") {
        let several = known
            .strip_prefix("one of ")
            .map(|known| format!("one of: {}", known.replace('`', "")));
        let known = several.unwrap_or_else(|| known.replace('`', "'"));
        return Some(format!("unknown {kind} '{}'; expected {known}", visible(name)));
    }
    let name = rest.split_once("`, there are no").map_or(rest, |(name, _)| name);
    Some(format!("unknown {kind} '{}'; none is expected here", visible(name)))
}

fn about_a_value(message: &str) -> Option<String> {
    // From the end: the value before it is from the file, and may contain these words.
    let (start, expected) = message.rsplit_once(", expected ")?;
    let expected = expectation(expected);
    if let Some(found) =
        start.strip_prefix("invalid type: ").or_else(|| start.strip_prefix("invalid value: "))
    {
        return Some(format!("expected {expected}, and found {}", finding(found)));
    }
    let length = start.strip_prefix("invalid length ")?;
    Some(format!("expected {expected}, and found a list of length {length}"))
}

fn expectation(expected: &str) -> String {
    let word = match expected {
        "u8" => return whole_number_range(0, u8::MAX.into()),
        "u16" => return whole_number_range(0, u16::MAX.into()),
        "u32" => return whole_number_range(0, u32::MAX.into()),
        "u64" | "usize" => "a whole number, 0 or more",
        "i8" | "i16" | "i32" | "i64" | "isize" => "a whole number",
        "f32" | "f64" => "a number",
        "a string" | "a borrowed string" | "path string" | "string" => "text in double quotes",
        "a boolean" => "true or false",
        "a sequence" | "sequence" | "an empty array" => "a list",
        "a map" | "map" | "option" => "keys with values",
        "string or map" => "text in double quotes, or keys with values",
        "unit" => "null",
        "variant identifier" => "one of the words that are known here",
        _ => return structure(expected),
    };
    word.to_owned()
}

fn whole_number_range(least: i128, most: u128) -> String {
    format!("a whole number from {least} to {most}")
}

fn structure(expected: &str) -> String {
    let length = ["an array of length ", "a tuple of size "]
        .iter()
        .find_map(|start| expected.strip_prefix(start));
    if let Some(length) = length {
        return format!("a list of length {length}");
    }
    if let Some(integer) = expected.strip_prefix("a nonzero ") {
        let least_one = if integer.starts_with('u') {
            "a whole number, 1 or more"
        } else {
            "a whole number except 0"
        };
        return least_one.to_owned();
    }
    if is_of_a_type(expected, &["tuple struct ", "tuple variant "]) {
        return "a list".to_owned();
    }
    if is_of_a_type(expected, &["enum "]) {
        return "one of the words that are known here".to_owned();
    }
    if is_of_a_type(
        expected,
        &["struct ", "internally tagged enum ", "adjacently tagged enum ", "newtype ", "unit "],
    ) {
        return "keys with values".to_owned();
    }
    plain(expected)
}

fn is_of_a_type(expected: &str, starts: &[&str]) -> bool {
    starts.iter().any(|start| expected.starts_with(start))
}

fn finding(found: &str) -> String {
    let numbers = ["integer `", "floating point `", "boolean `"];
    if let Some(value) = numbers.iter().find_map(|start| found.strip_prefix(start)) {
        // After an integer of more than 64 bits the message has the type that would hold it.
        return value.split('`').next().unwrap_or_default().to_owned();
    }
    if let Some(text) = found.strip_prefix("string ") {
        return format!("the text {}", visible(text));
    }
    match found {
        "sequence" => "a list".to_owned(),
        "map" => "keys with values".to_owned(),
        "null" | "unit value" | "Option value" => "null".to_owned(),
        other => plain(other),
    }
}

fn plain(words: &str) -> String {
    let quoted = words.replace('`', "'");
    quoted
        .strip_prefix("wanted ")
        .map_or_else(|| quoted.clone(), |expected| format!("expected {expected}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;
    use std::collections::BTreeMap;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "it is read to be refused")]
    struct Note {
        cpus: Vec<u32>,
        pair: Option<(usize, usize)>,
        rate: Option<f64>,
        on: Option<bool>,
        kind: Option<Kind>,
        names: Option<BTreeMap<String, String>>,
    }

    #[derive(Debug, Deserialize)]
    #[serde(rename_all = "lowercase")]
    enum Kind {
        Node,
        Core,
    }

    fn json(text: &str) -> String {
        crate::document::DocumentError::from(serde_json::from_str::<Note>(text).unwrap_err())
            .to_string()
    }

    #[test]
    fn every_message_of_the_json_parser_is_a_sentence() {
        let texts = [
            "",
            "[",
            "{",
            r#"{"cpus"#,
            r#"{"cpus":"#,
            r#"{"cpus":[1"#,
            r#"{"cpus":[1 2"#,
            r#"{"cpus":[1,]}"#,
            r#"{"cpus":[]} x"#,
            r#"{"cpus":[],}"#,
            r#"{"cpus" 1}"#,
            r#"{cpus:1}"#,
            r#"{"cpus":cpus}"#,
            r#"{"cpus":[]"#,
            r#"{"cpus":[01]}"#,
            r#"{"cpus":[1e999]}"#,
            r#"{"kind":"\q"}"#,
            r#"{"kind":"\u12"}"#,
            "{\"kind\":\"a\nb\"}",
            r#"{"kind":"\ud800"}"#,
            "{}",
            r#"{"cpus":1}"#,
            r#"{"cpus":[-1]}"#,
            r#"{"cpus":[1.5]}"#,
            r#"{"cpus":["8"]}"#,
            r#"{"cpus":[],"cpus":[]}"#,
            r#"{"cpu":[]}"#,
            r#"{"pair":[1]}"#,
            r#"{"pair":[1,2,3]}"#,
            r#"{"rate":null,"on":1}"#,
            r#"{"rate":{}}"#,
            r#"{"kind":"rack"}"#,
            r#"{"kind":7}"#,
            r#"{"names":[]}"#,
            r#"{"names":{"a":true}}"#,
            "7",
        ];
        let sentences: Vec<String> =
            texts.iter().map(|text| format!("{text:?}: {}", json(text))).collect();
        insta::assert_snapshot!(sentences.join("\n"));
        for words in
            ["EOF", "field", "invalid type", "u32", "struct", "variant", "ident", "sequence", "`"]
        {
            let said = sentences.iter().find(|sentence| sentence.contains(words));
            assert_eq!(said, None, "{words}");
        }
    }

    #[test]
    fn a_name_in_a_message_is_the_files_own_and_is_shown_so() {
        let sentence =
            parser_sentence("unknown field `a`, expected `\u{1b}[2J`, expected one of `x`, `y`");
        assert_eq!(sentence, "unknown key 'a`, expected `\\u{1b}[2J'; expected one of: x, y");
    }

    #[test]
    fn our_own_words_stay_and_toml_has_one_line() {
        assert_eq!(parser_sentence("a distance is negative"), "a distance is negative");
        assert_eq!(
            parser_sentence("invalid type: integer `99999999999999999999` as i128, expected f64"),
            "expected a number, and found 99999999999999999999"
        );
        assert_eq!(
            parser_sentence("extra comma in array\nexpected `]`"),
            "extra comma in array, expected ']'"
        );
        assert_eq!(
            parser_sentence("key with no value\nexpected `=`"),
            "a '=' and a value are missing after the key"
        );
    }
}
