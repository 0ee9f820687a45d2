//! Evidence: what a command that Lockstep itself ran says about a phase.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// A command that was run, and what came of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    /// The command, without its secrets.
    pub command: String,
    /// Its exit code; `None` where a signal ended it.
    pub exit_code: Option<i32>,
    /// How long it took.
    pub duration_ms: u64,
    /// The BLAKE3 hash of all of its output.
    pub output_digest: String,
    /// The end of its output, without its secrets.
    pub output_tail: String,
    /// When it began.
    pub ran_at: String,
}

impl Evidence {
    /// Whether the command passed.
    pub fn passed(&self) -> bool {
        self.exit_code == Some(0)
    }
}

/// What a command must show for a phase to be as it should be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expectation {
    /// It passes.
    Pass,
    /// It fails: a test was seen to fail before it was made to pass.
    Fail,
}

/// Which phases must have evidence, and of what.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct EvidenceRules(pub BTreeMap<String, Expectation>);

impl EvidenceRules {
    /// Whether a phase may not be claimed without evidence.
    pub fn is_compulsory(&self, phase: &str) -> bool {
        self.0.contains_key(phase)
    }

    /// What a command must show for a phase: as configured, else by its name, since a red phase is about a test that fails.
    pub fn expectation(&self, phase: &str) -> Expectation {
        let by_name = if phase.starts_with("RED") { Expectation::Fail } else { Expectation::Pass };
        self.0.get(phase).copied().unwrap_or(by_name)
    }

    /// The outcome that the evidence shows. A command that a signal ended shows no failing test.
    pub fn outcome(&self, phase: &str, evidence: &Evidence) -> Outcome {
        let shown = match self.expectation(phase) {
            Expectation::Pass => evidence.passed(),
            Expectation::Fail => evidence.exit_code.is_some_and(|code| code != 0 && !not_run(code)),
        };
        if shown { Outcome::Pass } else { Outcome::Fail }
    }

    /// What is wrong with a claim of an outcome; `None` where it is proven, or needs no proof.
    pub fn refute(&self, phase: &str, claimed: Outcome, evidence: Option<&Evidence>) -> Option<String> {
        let Some(evidence) = evidence else {
            let word = match self.expectation(phase) {
                Expectation::Pass => "passes",
                Expectation::Fail => "fails",
            };
            return self
                .is_compulsory(phase)
                .then(|| format!("Phase {phase} needs evidence of a command that {word}, and has none"));
        };
        let shown = self.outcome(phase, evidence);
        (claimed == Outcome::Pass && shown == Outcome::Fail).then(|| {
            let wanted = match self.expectation(phase) {
                Expectation::Pass => "0",
                Expectation::Fail => "a failure of the command itself",
            };
            let code = evidence.exit_code.map_or("a signal".to_owned(), |code| format!("exit code {code}"));
            format!("Phase {phase} claims PASS, but its command ended with {code} instead of {wanted}")
        })
    }
}

/// The shell's own codes for a command that could not be started: nothing was tested.
fn not_run(code: i32) -> bool {
    matches!(code, 126 | 127)
}

/// How a phase ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// As it should.
    Pass,
    /// Not as it should.
    Fail,
}

impl Outcome {
    /// Its word in the step file.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pass => "PASS",
            Self::Fail => "FAIL",
        }
    }

    /// The outcome a word stands for.
    pub fn parse(word: &str) -> Option<Self> {
        [Self::Pass, Self::Fail].into_iter().find(|outcome| outcome.as_str() == word)
    }
}
