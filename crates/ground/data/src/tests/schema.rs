//! JSON Schemas, derived from the types of the documents: for tests.
//!
//! The schemas are checked in, so readers find them without a build. A test compares them with the
//! types; `docs/formats/README.md` has the command that writes them.
//!
//! | function | is |
//! |---|---|
//! | [`of`] | the schema of a type |
//! | [`check_in`] | the test of a folder of schemas |
//! | [`refused`] | a schema's errors in a document, including unknown keys |
//! | [`never_written`] | the keys missing from all documents |
//! | [`closed`] | the schema that refuses unknown keys |
//! | [`add_later_keys`] | a document as a later version might write it |

use crate::statistics::words::joined;
use schemars::generate::SchemaSettings;
use schemars::transform::{RecursiveTransform, Transform};
use schemars::{JsonSchema, Schema};
use serde_json::{Map, Value};
use std::path::Path;

/// Keywords whose schemas describe the same value as the schema around them.
const SAME_VALUE: [&str; 3] = ["allOf", "anyOf", "oneOf"];

/// The schema of a type's documents. A key is required if every version of the format writes it:
/// always, and without a default for older documents. The key `format` is the format itself.
pub fn of<T: JsonSchema>(format: &str) -> Value {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    RecursiveTransform(tidy).transform(&mut schema);
    schema.insert("$id".to_owned(), format!("urn:{}", format.replace(['-', '/'], ":")).into());
    schema.insert("title".to_owned(), format.into());
    if let Some(key) = schema.pointer_mut("/properties/format") {
        key["const"] = format.into();
    }
    schema.to_value()
}

/// Compares the schemas of a folder with those of the types, whose titles are their formats, and
/// lists the differences. If `SEATMAP_SCHEMA` is `write`, it writes them first.
pub fn check_in(folder: &Path, schemas: &[Value]) -> Vec<String> {
    let is_written = std::env::var_os("SEATMAP_SCHEMA").is_some_and(|wish| wish == "write");
    let mut problems = Vec::new();
    for schema in schemas {
        let format = schema["title"].as_str().unwrap_or_default();
        let name = format!("{}.schema.json", format.replace('/', "-"));
        let path = folder.join(&name);
        let text = format!("{schema:#}\n");
        if is_written && let Err(error) = std::fs::write(&path, &text) {
            problems.push(format!("{name}: {error}"));
        }
        if std::fs::read_to_string(&path).ok().as_ref() != Some(&text) {
            problems.push(format!("{name} is not the schema of its type; write it anew"));
        }
        problems.extend(flaws(schema).into_iter().map(|flaw| format!("{name}: {flaw}")));
    }
    problems
}

fn flaws(schema: &Value) -> Vec<String> {
    let mut flaws = Vec::new();
    flaws.extend(jsonschema::meta::validate(schema).err().map(|error| error.to_string()));
    visit(schema, schema, "", &mut |path, property| {
        if !property.get("description").is_some_and(Value::is_string) {
            flaws.push(format!("{path} has no description"));
        }
    });
    // A handwritten file refuses unknown keys everywhere, because they are mistakes.
    if schema.get("additionalProperties").is_none() && is_closed(schema) {
        flaws.push("it refuses the keys of a later program".to_owned());
    }
    let text = schema.to_string();
    let words = ["[`", "`None`"].into_iter().filter(|word| text.contains(word));
    flaws.extend(words.map(|word| format!("{word} in a description is for readers of Rust alone")));
    flaws
}

/// Whether a part of a schema refuses unlisted keys. An object with only the key that marks a
/// variant may: a later variant is another such object.
fn is_closed(schema: &Value) -> bool {
    let refuses = schema.get("additionalProperties").is_some_and(|further| further == false);
    let keys = schema.get("properties").and_then(Value::as_object);
    match schema {
        Value::Object(parts) => {
            refuses && keys.is_some_and(|keys| keys.len() > 1) || parts.values().any(is_closed)
        }
        Value::Array(parts) => parts.iter().any(is_closed),
        _ => false,
    }
}

/// A schema's errors in a document, with unknown keys as errors.
pub fn refused(schema: &Value, document: &Value) -> Vec<String> {
    match jsonschema::validator_for(&closed(schema)) {
        Ok(validator) => validator
            .iter_errors(document)
            .map(|error| format!("{}: {error}", error.instance_path()))
            .collect(),
        Err(error) => vec![error.to_string()],
    }
}

/// The keys missing from all documents, except those of maps, which are names.
pub fn never_written(schema: &Value, documents: &[Value]) -> Vec<String> {
    let mut missing: Vec<String> = Vec::new();
    visit(schema, schema, "", &mut |path, _| {
        let is_written = documents.iter().any(|document| document.pointer(path).is_some());
        if !path.contains('*') && !is_written && missing.iter().all(|known| known != path) {
            missing.push(path.to_owned());
        }
    });
    missing
}

/// The schema with every object closed, so unknown keys are errors.
pub fn closed(schema: &Value) -> Value {
    let mut schema = schema.clone();
    close(&mut schema);
    schema
}

/// Closes a schema. Its alternatives and definitions stay open, because each describes only some of
/// the value's keys.
fn close(schema: &mut Value) {
    close_parts(schema);
    let Value::Object(keywords) = schema else { return };
    let lists_keys = SAME_VALUE.iter().chain(&["$ref", "properties"]);
    if lists_keys.into_iter().any(|keyword| keywords.contains_key(*keyword)) {
        keywords.insert("unevaluatedProperties".to_owned(), false.into());
    }
}

fn close_parts(schema: &mut Value) {
    let Value::Object(keywords) = schema else { return };
    for (keyword, part) in keywords {
        match (keyword.as_str(), part) {
            ("properties", Value::Object(parts)) => parts.values_mut().for_each(close),
            ("$defs", Value::Object(parts)) => parts.values_mut().for_each(close_parts),
            ("prefixItems", Value::Array(parts)) => parts.iter_mut().for_each(close),
            ("items" | "additionalProperties", part) => close(part),
            (keyword, Value::Array(parts)) if SAME_VALUE.contains(&keyword) => {
                parts.iter_mut().for_each(close_parts);
            }
            _ => {}
        }
    }
}

/// Adds an unknown key to every object of a document, as a later version might, except to those of
/// `maps`, in which a key is a name.
pub fn add_later_keys(document: &mut Value, maps: &[&str]) {
    match document {
        Value::Array(elements) => {
            elements.iter_mut().for_each(|element| add_later_keys(element, maps));
        }
        Value::Object(members) => {
            let inner = members.iter_mut().filter(|(key, _)| !maps.contains(&key.as_str()));
            inner.for_each(|(_, member)| add_later_keys(member, maps));
            members.insert("of_a_later_program".to_owned(), Value::Array(Vec::new()));
        }
        _ => {}
    }
}

fn tidy(schema: &mut Schema) {
    let Some(keywords) = schema.as_object_mut() else { return };
    // The sizes of Rust's numbers mean nothing to readers in other languages.
    keywords.remove("format");
    // A default of null only repeats that the key is optional.
    if keywords.get("default").is_some_and(Value::is_null) {
        keywords.remove("default");
    }
    if let Some(Value::String(description)) = keywords.get_mut("description") {
        *description = joined(description.split("\n\n").map(one_line), "\n\n");
    }
    forgive_older_documents(keywords);
    describe_alternatives(keywords);
}

fn one_line(paragraph: &str) -> String {
    joined(paragraph.split_whitespace(), " ")
}

/// Makes keys with a default optional: they are newer than their format, or optional by hand.
fn forgive_older_documents(keywords: &mut Map<String, Value>) {
    let Some(Value::Object(properties)) = keywords.get("properties") else { return };
    let has_default = |name: &Value| {
        let name = name.as_str().unwrap_or_default();
        properties.get(name).is_some_and(|property| property.get("default").is_some())
    };
    let Some(Value::Array(required)) = keywords.get("required") else { return };
    let required: Vec<Value> = required.iter().filter(|name| !has_default(name)).cloned().collect();
    keywords.insert("required".to_owned(), required.into());
}

/// Moves the doc comment of a variant to the key that marks it.
fn describe_alternatives(keywords: &mut Map<String, Value>) {
    let Some(Value::Array(alternatives)) = keywords.get_mut("oneOf") else { return };
    for alternative in alternatives {
        let Some(description) = alternative.get("description").cloned() else { continue };
        let Some(Value::Object(properties)) = alternative.get_mut("properties") else { continue };
        for property in properties.values_mut().filter_map(Value::as_object_mut) {
            property.entry("description").or_insert_with(|| description.clone());
        }
    }
}

fn visit(root: &Value, schema: &Value, path: &str, seen: &mut dyn FnMut(&str, &Value)) {
    let reference = schema.get("$ref").and_then(Value::as_str);
    let target = reference.and_then(|to| root.pointer(to.trim_start_matches('#')));
    let alternatives = SAME_VALUE.iter().filter_map(|keyword| schema.get(*keyword)?.as_array());
    for part in target.into_iter().chain(alternatives.flatten()) {
        visit(root, part, path, seen);
    }
    for (keyword, step) in [("items", "0"), ("additionalProperties", "*")] {
        if let Some(part) = schema.get(keyword) {
            visit(root, part, &format!("{path}/{step}"), seen);
        }
    }
    let tuple = schema.get("prefixItems").and_then(Value::as_array);
    for (at, part) in tuple.into_iter().flatten().enumerate() {
        visit(root, part, &format!("{path}/{at}"), seen);
    }
    let properties = schema.get("properties").and_then(Value::as_object);
    for (key, property) in properties.into_iter().flatten() {
        let path = format!("{path}/{key}");
        seen(&path, property);
        visit(root, property, &path, seen);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::{Deserialize, Serialize};
    use serde_json::json;

    /// A note
    /// of two lines.
    #[derive(Serialize, Deserialize, JsonSchema)]
    struct Note {
        /// A number.
        number: f64,
        /// Null where it is unknown.
        known: Option<u32>,
        /// Older notes do not say.
        #[serde(default)]
        later: u32,
        /// The rest.
        #[serde(flatten)]
        rest: Rest,
        /// The notes below it.
        below: Vec<Rest>,
    }

    #[derive(Serialize, Deserialize, JsonSchema)]
    #[serde(tag = "kind", rename_all = "lowercase")]
    enum Rest {
        /// Nothing.
        None,
        /// A text.
        Text {
            /// Its words.
            words: String,
        },
    }

    fn document() -> Value {
        let text = || Rest::Text { words: "x".to_owned() };
        let below = vec![text(), Rest::None];
        let note = Note { number: 1.0, known: None, later: 0, rest: text(), below };
        serde_json::to_value(note).unwrap()
    }

    #[test]
    fn schema_matches_its_type() {
        let schema = of::<Note>("seatmap-note/1");
        assert_eq!(flaws(&schema), [""; 0]);
        assert_eq!(schema["$id"], "urn:seatmap:note:1");
        assert_eq!(schema["description"], "A note of two lines.");
        assert_eq!(schema["required"], json!(["number", "known", "below"]));
        assert_eq!(refused(&schema, &document()), [""; 0]);
        assert_eq!(never_written(&schema, &[document()]), [""; 0]);
        assert_eq!(never_written(&schema, &[json!({ "below": [] })]).len(), 7);
    }

    #[test]
    fn closed_schema_alone_refuses_unknown_keys() {
        let schema = of::<Note>("seatmap-note/1");
        for path in ["", "/below/0", "/below/1"] {
            let mut more = document();
            more.pointer_mut(path).unwrap()["more"] = json!(1);
            assert_ne!(refused(&schema, &more), [""; 0], "{path}");
            assert!(jsonschema::is_valid(&schema, &more), "{path}");
        }
        let mut later = document();
        add_later_keys(&mut later, &[]);
        assert!(jsonschema::is_valid(&schema, &later));
    }

    #[test]
    fn schema_flaws_are_listed() {
        let schema = json!({ "properties": { "a": {}, "b": { "description": "As [`X`]." } } });
        assert_eq!(flaws(&schema)[0], "/a has no description");
        assert!(flaws(&schema)[1].starts_with("[` in a description"));
        assert_eq!(flaws(&json!({ "type": 7 })).len(), 1);
        let mut later = of::<Note>("seatmap-note/1");
        later["$defs"]["Rest"]["oneOf"][1]["additionalProperties"] = json!(false);
        assert_eq!(flaws(&later), ["it refuses the keys of a later program"]);
        assert_eq!(refused(&json!({ "type": 7 }), &json!(1)).len(), 1);
    }
}
