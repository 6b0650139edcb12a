//! Validates the JSON output against `assets/schemas`.

use crate::support::{Folder, corpus, run};
use serde_json::Value;
use std::path::Path;

/// Collects the violations of a schema by a value. Supports the keywords that the project's schemas use, and panics on
/// others.
fn collect_violations(schema: &Value, value: &Value, at: &str, out: &mut Vec<String>) {
    let schema = schema.as_object().expect("a schema is an object");
    for (keyword, rule) in schema {
        match keyword.as_str() {
            "const" if value != rule => out.push(format!("{at}: {value} is not {rule}")),
            "enum" if !rule.as_array().unwrap().contains(value) => out.push(format!("{at}: {value} is none of {rule}")),
            "minimum" if value.as_i64().is_some_and(|number| number < rule.as_i64().unwrap()) => {
                out.push(format!("{at}: {value} is below {rule}"));
            }
            "type" => {
                let kind = match value {
                    Value::Null => "null",
                    Value::Bool(_) => "boolean",
                    Value::Number(number) if number.is_f64() => "number",
                    Value::Number(_) => "integer",
                    Value::String(_) => "string",
                    Value::Array(_) => "array",
                    Value::Object(_) => "object",
                };
                let allowed = rule.as_array().map_or_else(|| vec![rule.clone()], Clone::clone);
                if !allowed.iter().any(|allowed| allowed == kind) {
                    out.push(format!("{at}: a {kind} instead of {rule}"));
                }
            }
            "required" => {
                let missing =
                    rule.as_array().unwrap().iter().filter(|name| value.get(name.as_str().unwrap()).is_none());
                out.extend(missing.map(|name| format!("{at}: {name} is missing")));
            }
            "properties" => {
                for (name, rule) in rule.as_object().unwrap() {
                    if let Some(value) = value.get(name) {
                        collect_violations(rule, value, &format!("{at}/{name}"), out);
                    }
                }
            }
            "additionalProperties" => {
                let known = schema.get("properties").and_then(Value::as_object);
                for (name, value) in value.as_object().into_iter().flatten() {
                    if known.is_some_and(|known| known.contains_key(name)) {
                    } else if rule == &Value::Bool(false) {
                        out.push(format!("{at}: {name} is not in the schema"));
                    } else {
                        collect_violations(rule, value, &format!("{at}/{name}"), out);
                    }
                }
            }
            "items" => {
                for (number, value) in value.as_array().into_iter().flatten().enumerate() {
                    collect_violations(rule, value, &format!("{at}/{number}"), out);
                }
            }
            // Annotations, and constraints that are satisfied.
            "$schema" | "title" | "description" | "const" | "enum" | "minimum" => {}
            other => panic!("the test does not support the keyword {other}"),
        }
    }
}

/// Panics unless a JSON text is valid under the schema of that name.
pub(crate) fn assert_matches_schema(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/schemas").join(format!("{name}.json"));
    let schema: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let value: Value = serde_json::from_str(text).unwrap_or_else(|error| panic!("{name}: {error}: {text}"));
    let mut out = Vec::new();
    collect_violations(&schema, &value, "", &mut out);
    assert!(out.is_empty(), "{name}: {out:#?} in {text}");
}

fn stdout_of(folder: &Folder, arguments: &[&str]) -> String {
    String::from_utf8(run(folder, arguments).stdout).unwrap()
}

#[test]
fn documents_match_their_schemas() {
    let folder = Folder::sample();
    let index = "sitemap_index.xml";
    assert_matches_schema("check", &stdout_of(&folder, &["check", index, "--format", "json"]));
    assert_matches_schema("sarif", &stdout_of(&folder, &["check", index, "--format", "sarif"]));
    assert_matches_schema("stats", &stdout_of(&folder, &["stats", index, "--format", "json"]));
    assert_matches_schema("stats", &stdout_of(&folder, &["stats", index, "--format", "json", "--keys"]));
    assert_matches_schema("diff", &stdout_of(&folder, &["diff", "sitemap-1.xml", "sitemap-2.xml", "--format", "json"]));
    stdout_of(&folder, &["check", index, "--write-baseline", "known.json"]);
    assert_matches_schema("baseline", &folder.text("known.json"));
    let rows = stdout_of(&folder, &["list", index, "--format", "jsonl"]);
    assert_eq!(rows.lines().count(), 61);
    rows.lines().for_each(|row| assert_matches_schema("list", row));
    let old = folder.text("sitemap-2.xml");
    let new = old.replacen("<image:image>", "<!--", 1).replacen("</image:image>", "-->", 1);
    folder.write("new.xml", new.replacen("<priority>0.4", "<priority>0.3", 1));
    let changed = stdout_of(&folder, &["diff", "sitemap-2.xml", "new.xml", "--format", "json"]);
    assert!(changed.contains("\"lost\":[\"image:loc = "), "{changed}");
    assert_matches_schema("diff", &changed);
}

/// The reports of damaged files and of files that are not sitemaps are valid too.
#[test]
fn reports_of_every_file_match_the_schema() {
    for case in corpus::all() {
        let folder = Folder::new();
        folder.write(case.file_name(), &case.bytes);
        assert_matches_schema("check", &stdout_of(&folder, &["check", case.file_name(), "--format", "json"]));
        let sarif = stdout_of(&folder, &["check", case.file_name(), "--format", "sarif"]);
        assert_matches_schema("sarif", &sarif);
        // A schema cannot check that `ruleIndex` refers to the rule `ruleId` (SARIF 2.1.0, section 3.27).
        let run = &serde_json::from_str::<Value>(&sarif).unwrap()["runs"][0];
        for result in run["results"].as_array().unwrap() {
            let rule = &run["tool"]["driver"]["rules"][result["ruleIndex"].as_u64().unwrap() as usize];
            assert_eq!(rule["id"], result["ruleId"]);
        }
    }
}
