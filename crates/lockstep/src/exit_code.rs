//! The exit codes. Other programs may depend on them; they never change their meaning.

/// Done; a yes-or-no answer is "yes".
pub const DONE: u8 = 0;
/// The answer is "no": a check failed, something is stale or missing.
pub const NO: u8 = 1;
/// Wrong usage of the command line; for a hook: the step is blocked.
pub const USAGE: u8 = 2;
/// The configuration is missing or wrong.
pub const CONFIGURATION: u8 = 3;
/// A file or the store could not be read or written.
pub const STORE: u8 = 4;
/// The answer is incomplete: the time limit was reached first.
pub const PARTIAL: u8 = 5;
pub const BUG: u8 = 70;

/// Every code with its meaning, for the reference.
pub const ALL: &[(u8, &str)] = &[
    (DONE, "done; where the command answers a question, the answer is yes"),
    (NO, "the answer is no: a check failed, something is stale or missing"),
    (USAGE, "wrong usage of the command line; for a hook: the step is blocked"),
    (CONFIGURATION, "the configuration is missing or wrong"),
    (STORE, "a file or the store could not be read or written"),
    (PARTIAL, "the answer is incomplete: the time limit was reached before everything was analysed"),
    (BUG, "a bug in Lockstep"),
];

#[cfg(test)]
mod tests {
    #[test]
    fn no_two_meanings_share_a_code() {
        let mut codes: Vec<u8> = super::ALL.iter().map(|(code, _)| *code).collect();
        codes.dedup();
        assert_eq!(codes.len(), super::ALL.len());
    }
}
