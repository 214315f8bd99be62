//! The JSON Schemas of `docs/formats` against what is really written, key by key in both
//! directions: for tests.
//!
//! A schema that is looser than its documents says nothing, and one that lists fields that no
//! program writes misleads. So each function lists the problems, and a test wants that list empty.
//!
//! | function | lists |
//! |---|---|
//! | [`undescribed`] | where a schema is none, or does not say what a key is |
//! | [`refused`] | what a schema has against a document, unknown keys included |
//! | [`never_written`] | keys that no document has |
//! | [`add_later_keys`] | nothing: it makes the document of a later program |
//! | [`closed`] | nothing: it is the schema that unknown keys offend |
#![deny(missing_docs)]

use serde_json::{Map, Value};

/// The value is not a schema, or has properties without a description.
#[must_use]
pub fn undescribed(schema: &Value) -> Vec<String> {
    let mut found = Vec::new();
    found.extend(jsonschema::meta::validate(schema).err().map(|error| error.to_string()));
    visit(schema, schema, "", &mut |path, property| {
        if !property.get("description").is_some_and(Value::is_string) {
            found.push(format!("{path} has no description"));
        }
    });
    found
}

/// The objections of a schema to a document, where keys that it does not list are errors.
#[must_use]
pub fn refused(schema: &Value, document: &Value) -> Vec<String> {
    match jsonschema::validator_for(&closed(schema)) {
        Ok(validator) => validator
            .iter_errors(document)
            .map(|error| format!("{}: {error}", error.instance_path()))
            .collect(),
        Err(error) => vec![error.to_string()],
    }
}

/// Properties that none of the documents has.
#[must_use]
pub fn never_written(schema: &Value, documents: &[Value]) -> Vec<String> {
    let mut missing = Vec::new();
    visit(schema, schema, "", &mut |path, _| {
        if documents.iter().all(|document| document.pointer(path).is_none()) {
            missing.push(path.to_owned());
        }
    });
    missing
}

/// The schema with every object closed, so that a key that it does not list is an error.
#[must_use]
pub fn closed(schema: &Value) -> Value {
    match schema {
        Value::Object(object) => {
            let mut object: Map<_, _> =
                object.iter().map(|(key, it)| (key.clone(), closed(it))).collect();
            if object.get("properties").is_some_and(Value::is_object) {
                object.insert("additionalProperties".into(), Value::Bool(false));
            }
            Value::Object(object)
        }
        Value::Array(items) => items.iter().map(closed).collect(),
        other => other.clone(),
    }
}

/// Each property with its path, through references, alternatives and the items of arrays. Puts a
/// key that no program writes yet into every object of a document, as a later program may. `maps`
/// names the keys whose objects list things by name: there a new key is one more of them.
pub fn add_later_keys(document: &mut Value, maps: &[&str]) {
    match document {
        Value::Array(elements) => {
            elements.iter_mut().for_each(|element| add_later_keys(element, maps))
        }
        Value::Object(members) => {
            let inner = members.iter_mut().filter(|(key, _)| !maps.contains(&key.as_str()));
            inner.for_each(|(_, member)| add_later_keys(member, maps));
            members.insert("of_a_later_program".to_owned(), Value::Array(Vec::new()));
        }
        _ => {}
    }
}

fn visit(root: &Value, schema: &Value, path: &str, seen: &mut dyn FnMut(&str, &Value)) {
    let target = schema
        .get("$ref")
        .and_then(Value::as_str)
        .and_then(|to| root.pointer(to.trim_start_matches('#')));
    let alternatives = schema.get("oneOf").and_then(Value::as_array).into_iter().flatten();
    for part in target.into_iter().chain(alternatives) {
        visit(root, part, path, seen);
    }
    if let Some(items) = schema.get("items") {
        visit(root, items, &format!("{path}/0"), seen);
    }
    for (key, property) in schema.get("properties").and_then(Value::as_object).into_iter().flatten()
    {
        let path = format!("{path}/{key}");
        seen(&path, property);
        visit(root, property, &path, seen);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn each_difference_is_listed() {
        let number = json!({ "type": "number", "description": "A number." });
        let schema = json!({
            "oneOf": [{ "$ref": "#/$defs/one" }],
            "$defs": { "one": { "type": "object", "properties": { "a": number, "b": { "items": { "properties": { "c": {} } } } } } }
        });
        assert_eq!(undescribed(&schema), ["/b has no description", "/b/0/c has no description"]);
        assert_eq!(refused(&schema, &json!({ "a": 1 })), Vec::<String>::new());
        assert_eq!(refused(&schema, &json!({ "a": 1, "z": 2 })).len(), 1);
        assert_eq!(never_written(&schema, &[json!({ "a": 1 }), json!({ "b": [{}] })]), ["/b/0/c"]);
    }

    #[test]
    fn what_is_no_schema_is_said() {
        assert_eq!(undescribed(&json!({ "type": 7 })).len(), 1);
        assert_eq!(refused(&json!({ "type": 7 }), &json!(1)).len(), 1);
    }
}
