//! Splits the words of a command into its paths and its other arguments.

use super::{Failure, Status, Streams};
use crate::protocol::Field;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// The text of an argument that is not a path.
pub(super) fn text_of(word: &OsStr) -> Result<&str, Failure> {
    word.to_str().ok_or_else(|| {
        let message = format!("{}: not valid UTF-8", word.to_string_lossy());
        Failure::Usage(message, "only paths may contain other bytes".to_owned())
    })
}

/// Splits `PATH… FIELD=VALUE…`. The first word is always a path, and `./a=b` is a path anywhere.
pub(super) fn field_values(words: &[OsString]) -> Result<(Vec<PathBuf>, Vec<&str>), Failure> {
    let (mut paths, mut values): (Vec<PathBuf>, Vec<&str>) = (Vec::new(), Vec::new());
    for word in words {
        let name = word.to_str().and_then(|word| word.split_once('=')).map(|(name, _)| name);
        let is_value = name.is_some_and(|name| {
            let is_word = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'-');
            Field::from_name(name).is_some() || (is_word && !Path::new(word).exists())
        });
        if is_value && !paths.is_empty() {
            values.push(text_of(word)?);
        } else {
            paths.push(PathBuf::from(word));
        }
    }
    Ok((paths, values))
}

/// Splits `PATH… [KEYS]`: the last word is a list of sort keys if it looks like one and no such file exists.
pub(super) fn sort_keys(words: &[OsString]) -> Result<(Vec<PathBuf>, Option<&str>), Failure> {
    let is_keys = |word: &OsString| {
        let text = word.to_string_lossy();
        let is_key = |byte: u8| byte.is_ascii_lowercase() || b",+-@_".contains(&byte);
        text != "-" && (text.starts_with('-') || text.bytes().all(is_key)) && !Path::new(word).exists()
    };
    let (paths, keys) = match words {
        [paths @ .., last] if !paths.is_empty() && is_keys(last) => (paths, Some(text_of(last)?)),
        paths => (paths, None),
    };
    Ok((paths_of(&paths.iter().collect::<Vec<_>>())?, keys))
}

/// Words as paths. Refuses words that look like options: where later arguments may begin with a hyphen, the parser does
/// not report a mistyped option, and the command would run without it.
pub(super) fn paths_of(words: &[&OsString]) -> Result<Vec<PathBuf>, Failure> {
    let is_option = |word: &&&OsString| {
        word.as_encoded_bytes().starts_with(b"-") && word.as_os_str() != "-" && !Path::new(word).exists()
    };
    if let Some(word) = words.iter().find(is_option) {
        let word = word.to_string_lossy();
        let hint = format!("a file of that name is ./{word}; --help lists the options");
        return Err(Failure::Usage(format!("{word}: no such option, and no such file"), hint));
    }
    Ok(words.iter().map(PathBuf::from).collect())
}

/// Runs `work` for each path. A file that cannot be read is reported and skipped, and determines the status.
pub(super) fn each_path(
    paths: &[PathBuf],
    streams: &mut Streams<'_>,
    mut work: impl FnMut(&Path, &mut Streams<'_>) -> Result<(), Failure>,
) -> Result<Status, Failure> {
    let mut status = Status::Fine;
    for path in paths {
        match work(path, streams) {
            Err(failure @ Failure::File(_)) => {
                failure.print_error(streams.notes);
                status = Status::Files;
            }
            other => other?,
        }
    }
    Ok(status)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<OsString> {
        line.split(' ').map(OsString::from).collect()
    }

    #[test]
    fn paths_come_before_values() {
        for (line, paths, values) in [
            ("a.xml priority=1", vec!["a.xml"], vec!["priority=1"]),
            ("a.xml b/ lastmod=today loc=a=b", vec!["a.xml", "b/"], vec!["lastmod=today", "loc=a=b"]),
            ("priority=1 priority=0.5", vec!["priority=1"], vec!["priority=0.5"]),
            ("a.xml prio=1", vec!["a.xml"], vec!["prio=1"]),
            ("a.xml ./x=1 x/y=2 =3", vec!["a.xml", "./x=1", "x/y=2", "=3"], vec![]),
            ("a.xml", vec!["a.xml"], vec![]),
        ] {
            let words = words(line);
            let (found, typed) = field_values(&words).unwrap();
            assert_eq!((found, typed), (paths.into_iter().map(PathBuf::from).collect(), values), "{line}");
        }
    }

    #[test]
    fn a_mistyped_option_is_not_a_path() {
        for (line, wrong) in [
            ("a.xml --wher priority", Some("--wher")),
            ("a.xml -x", Some("-x")),
            ("--recursiv a.xml", Some("--recursiv")),
            ("a.xml -", None),
            ("./-x a-b", None),
        ] {
            let words = words(line);
            let found = paths_of(&words.iter().collect::<Vec<_>>());
            match wrong {
                None => assert_eq!(found.unwrap().len(), words.len(), "{line}"),
                Some(word) => {
                    let Err(Failure::Usage(message, _)) = found else { panic!("{line}") };
                    assert!(message.starts_with(word), "{message}");
                }
            }
        }
        assert!(sort_keys(&words("a.xml --recursiv b.xml loc")).is_err());
    }

    #[test]
    fn sort_keys_come_last() {
        for (line, count, keys) in [
            ("a.xml", 1, None),
            ("loc", 1, None),
            ("a.xml loc", 1, Some("loc")),
            ("a.xml b.xml lastmod,-loc", 2, Some("lastmod,-loc")),
            ("a.xml -lastmod", 1, Some("-lastmod")),
            ("a.xml priorty", 1, Some("priorty")),
            ("a.xml b.xml", 2, None),
            ("a.xml src", 2, None),
            ("a.xml -", 2, None),
        ] {
            let words = words(line);
            let (paths, found) = sort_keys(&words).unwrap();
            assert_eq!((paths.len(), found), (count, keys), "{line}");
        }
    }
}
