//! Rule table: the user's own policy (`--never`, `--must`).

use super::rows;

rows! { super::format::END;
    POLICY_NEVER "policy-never" E("The policy of this set forbids the URL.") Entry None POLICY,
        "a URL that the policy forbids",
        "The URL matches a pattern of --never, or of `never` in the policy file (--policy, `:policy FILE`). Remove the row, or correct the pattern.";
    POLICY_MUST "policy-must" E("The policy of this set requires the URL.") Set None POLICY,
        "a URL that the policy requires is missing",
        "A URL of --must, or of `must` in the policy file, is in no file of the set. Add it; URLs are compared exactly, after decoding and without white space around them.";
}
