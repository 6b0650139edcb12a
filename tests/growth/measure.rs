//! Measures the allocations of whole runs in this process, and their growth.

use clap::Parser;
use rayon::ThreadPool;
use sited::cli::{self, Env, Next, args};
use std::path::Path;

thread_local! {
    /// The pool of a test: one thread, so that equal runs allocate equal numbers of bytes, all of them in that thread.
    /// One-time allocations are already made.
    static POOL: ThreadPool = {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a pool of one thread");
        pool.install(|| {
            let file = tempfile::NamedTempFile::new().expect("a temporary file");
            std::fs::write(file.path(), "<urlset><url><loc>https://e.com/?a&b</loc></url></urlset>").expect("write it");
            run("check", file.path());
            run("fix --dry-run", file.path());
        });
        pool
    };
}

/// The cost of one run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cost {
    /// Bytes of the input.
    pub input: usize,
    /// Bytes allocated over the whole run, freed or not.
    pub allocated: usize,
    /// Maximum number of bytes held at the same time.
    pub peak: usize,
}

/// Returns the cost of `work`, which allocates in its own thread only; `input` is the size of its input in bytes.
pub(crate) fn measure(input: usize, work: impl FnOnce() + Send) -> Cost {
    let counts = POOL.with(|pool| pool.install(|| allocation_counter::measure(work)));
    Cost { input, allocated: counts.bytes_total as usize, peak: counts.bytes_max as usize }
}

/// Runs a command (for example `fix --dry-run`) on `path` in this process, and discards its output.
pub(crate) fn run(words: &str, path: &Path) {
    let words = ["sited"].into_iter().chain(words.split(' ')).map(str::to_owned);
    let words = words.chain([path.to_str().expect("a temporary path is UTF-8").to_owned()]);
    let line = args::Cli::try_parse_from(words).expect("words that the command line knows");
    let result = cli::run(&line, Env::default(), &mut std::io::sink(), &mut std::io::sink());
    assert!(matches!(result, Next::End(_)), "no screen is asked for");
}

/// Maximum number of bytes that a run may allocate independently of its input: tables, patterns, buffers.
pub(crate) const MAX_ONE_TIME_BYTES: usize = 8 << 20;

/// Asserts that three costs, at n, 2n and 4n, grow linearly: the growth from 2n to 4n is at most 2.6 times that from n
/// to 2n (a buffer may double in one of the two steps), and at most `most` bytes are held per byte of input.
pub(crate) fn assert_linear(what: &str, costs: [Cost; 3], most: usize) {
    let [n, twice, fourfold] = costs;
    let grown = |from: usize, to: usize| to.saturating_sub(from);
    let (first, second) = (grown(n.allocated, twice.allocated), grown(twice.allocated, fourfold.allocated));
    assert!(
        second * 10 <= first * 26 + 10 * MAX_ONE_TIME_BYTES,
        "{what}: allocations grow faster than the input: {costs:?}"
    );
    let input = fourfold.input - n.input;
    let peak = fourfold.peak.saturating_sub(n.peak);
    assert!(
        peak <= most * input + MAX_ONE_TIME_BYTES,
        "{what}: {} bytes held per byte of input: {costs:?}",
        peak / input
    );
}
