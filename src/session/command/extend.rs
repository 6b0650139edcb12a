//! The grammar of extension commands: `ext add image loc=…`, `ext set video/duration=120`, `ext remove image[2]`.

use crate::document::query::Candidate;
use crate::document::query::scan::{Scanner, quoted};
use crate::protocol::extension::path::{ALL, Path};
use crate::protocol::extension::root;
use crate::session::command::CommandError;
use crate::xml::extension_edit::ExtensionChange;
use std::ops::Range;

/// A word of the line, split at its `=`.
pub(super) struct Word {
    /// The text before the `=`.
    pub(super) name: String,
    /// The text after it.
    pub(super) value: Option<String>,
    /// Its position in the line.
    pub(super) span: Range<usize>,
}

/// The actions, each with its description.
pub(super) const ACTIONS: [(&str, &str); 3] = [
    ("add", "a new element with its content"),
    ("set", "a value; created if missing"),
    ("remove", "elements or attributes"),
];

/// The name of an element or attribute, up to `=` or a blank.
pub(super) fn name<'t>(scanner: &mut Scanner<'t>) -> &'t str {
    scanner.take_while(|c| !c.is_whitespace() && c != '=')
}

/// Parses the words after an action.
pub(super) fn parse_changes(action: &str, words: Vec<Word>) -> Result<Vec<ExtensionChange>, CommandError> {
    match action {
        "add" => parse_add(words).map(|change| vec![change]),
        "set" => words.into_iter().map(parse_set).collect(),
        _ => words.into_iter().map(parse_remove).collect(),
    }
}

fn parse_path(text: &str, span: &Range<usize>) -> Result<Path, CommandError> {
    Path::parse(text).map_err(|message| CommandError::new(span.clone(), message))
}

fn parse_set(word: Word) -> Result<ExtensionChange, CommandError> {
    let path = parse_path(&word.name, &word.span)?;
    let value = word.value.ok_or_else(|| CommandError::new(word.span, format!("expected a value: {path}=…")))?;
    Ok(ExtensionChange::Set { path, value: value.into() })
}

fn parse_remove(word: Word) -> Result<ExtensionChange, CommandError> {
    let path = parse_path(&word.name, &word.span)?;
    match word.value {
        Some(_) => Err(CommandError::new(word.span, format!("remove takes no value: remove {path}"))),
        None => Ok(ExtensionChange::Remove(path)),
    }
}

/// The first word names the element, or something in it; the other names are relative to the element.
fn parse_add(words: Vec<Word>) -> Result<ExtensionChange, CommandError> {
    let mut words = words.into_iter();
    let Some(first) = words.next() else {
        return Err(CommandError::new(0..0, "expected an element, such as image"));
    };
    let whole = parse_path(&first.name, &first.span)?;
    let element = match first.value {
        // The innermost repeatable element is added, and never one that an index already selects.
        Some(_) => {
            let fixed = whole.steps.iter().rposition(|step| step.index.is_some()).map_or(0, |at| at + 1);
            let repeats = whole.elements().iter().rposition(|element| element.max_count != 1).unwrap_or(0);
            let repeats = repeats.max(fixed).min(whole.steps.len() - 1);
            Path { steps: whole.steps.get(..=repeats).unwrap_or_default().to_vec(), attribute: None, ..whole.clone() }
        }
        None if whole.attribute.is_some() => {
            return Err(CommandError::new(first.span, format!("expected a value: {whole}=…")));
        }
        None => whole.clone(),
    };
    let mut values: Vec<(Path, Box<str>)> = first.value.map(|value| (whole, value.into())).into_iter().collect();
    for word in words {
        let message = |message| CommandError::new(word.span.clone(), message);
        let path = element.join(&word.name).map_err(message)?;
        let value = word.value.ok_or_else(|| message(format!("expected a value: {}=…", word.name)))?;
        values.push((path, value.into()));
    }
    Ok(ExtensionChange::Add { path: element, values })
}

/// The canonical text of changes, after `ext`.
pub(super) fn to_text(changes: &[ExtensionChange]) -> String {
    let action = match changes.first() {
        Some(ExtensionChange::Add { .. }) | None => "add",
        Some(ExtensionChange::Set { .. }) => "set",
        Some(ExtensionChange::Remove(_)) => "remove",
    };
    let mut words = vec![action.to_owned()];
    for change in changes {
        match change {
            ExtensionChange::Remove(path) => words.push(path.to_string()),
            ExtensionChange::Set { path, value } => words.push(format!("{path}={}", quoted_if_needed(value))),
            ExtensionChange::Add { path, values } => {
                let own = values.first().filter(|(first, _)| first == path);
                words.push(
                    own.map_or_else(|| path.to_string(), |(_, value)| format!("{path}={}", quoted_if_needed(value))),
                );
                let below = values.iter().skip(usize::from(own.is_some()));
                words.extend(
                    below.map(|(below, value)| format!("{}={}", relative(path, below), quoted_if_needed(value))),
                );
            }
        }
    }
    words.join(" ")
}

/// A path relative to an element that contains it.
fn relative(element: &Path, below: &Path) -> String {
    let whole = below.to_string();
    let rest = whole.strip_prefix(&element.to_string()).unwrap_or(&whole);
    rest.trim_start_matches(['/', '@']).to_owned()
}

fn quoted_if_needed(value: &str) -> String {
    if value.is_empty() || value.starts_with('"') || value.contains(char::is_whitespace) {
        quoted(value)
    } else {
        value.to_owned()
    }
}

/// The path of a child or an attribute of an element.
fn child_path(element: &str, name: &str) -> String {
    let is_attribute = Path::parse(element).ok().and_then(|path| path.element()).is_some_and(|element| {
        element.child(name.as_bytes()).is_none() && element.attribute(name.as_bytes()).is_some()
    });
    format!("{element}{}{name}", if is_attribute { "@" } else { "/" })
}

/// Completions for a word: an action, an element, its content.
pub(super) fn candidates(before: &[&str], word: &str) -> Vec<Candidate> {
    let Some(action) = before.first() else {
        return ACTIONS.iter().map(|(name, about)| Candidate::new(format!("{name} "), about)).collect();
    };
    let equals = if *action == "remove" { "" } else { "=" };
    // After `add`, names are relative to the added element.
    let below = before.get(1).filter(|_| *action == "add").and_then(|first| first.split('=').next());
    if let Some((name, _)) = word.split_once('=') {
        let path = below.map_or_else(|| name.to_owned(), |below| child_path(below, name));
        let values = Path::parse(&path).map(|path| path.choices()).unwrap_or_default();
        return values.iter().map(|value| Candidate::new(format!("{name}={value}"), "")).collect();
    }
    let (start, element) = match word.rfind(['/', '@']) {
        Some(cut) => {
            let (head, _) = word.split_at(cut);
            let text = below.map_or_else(|| head.to_owned(), |below| format!("{below}/{head}"));
            (word.get(..=cut).unwrap_or_default(), Path::parse(&text).ok())
        }
        None => ("", below.and_then(|below| Path::parse(below).ok())),
    };
    let Some(element) = element.and_then(|path| path.element()) else {
        if word.contains(['/', '@']) || below.is_some() {
            return Vec::new();
        }
        let roots = ALL.iter().filter_map(|namespace| root(*namespace));
        return roots.map(|root| Candidate::new(root.name, "extension")).collect();
    };
    let children = element.children.iter().map(|child| {
        let end = if child.children.is_empty() { equals } else { "/" };
        let about = if child.is_required {
            "required"
        } else if child.is_deprecated {
            "withdrawn"
        } else {
            ""
        };
        Candidate::new(format!("{start}{}{end}", child.name), about)
    });
    let attributes =
        element.attributes.iter().map(|attribute| Candidate::new(format!("{start}{}{equals}", attribute.name), ""));
    children.chain(attributes).collect()
}
