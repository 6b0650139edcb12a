//! Regression tests of the fuzzer: every file under `tests/cases` goes through its target.

#[path = "../fuzz/targets.rs"]
mod targets;

use std::fs;
use std::path::Path;

#[test]
fn past_fuzz_failures_stay_fixed() {
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let mut seen = 0;
    for (name, target) in targets::TARGETS {
        for entry in fs::read_dir(cases.join(name)).unwrap_or_else(|error| panic!("tests/cases/{name}: {error}")) {
            let path = entry.unwrap().path();
            let result = target(&fs::read(&path).unwrap());
            assert_eq!(result, Ok(()), "{}", path.display());
            seen += 1;
        }
    }
    assert!(seen >= targets::TARGETS.len(), "every target has a case at least");
}

/// Passes each file of the project's corpus, unmodified, to every target.
#[test]
fn every_fuzz_target_passes_on_the_corpus() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus");
    for folder in ["valid", "quirky", "damaged", "forms"] {
        for entry in fs::read_dir(corpus.join(folder)).unwrap() {
            let path = entry.unwrap().path();
            let bytes = fs::read(&path).unwrap();
            for (name, target) in targets::TARGETS {
                assert_eq!(target(&bytes), Ok(()), "{name}: {}", path.display());
            }
        }
    }
}
