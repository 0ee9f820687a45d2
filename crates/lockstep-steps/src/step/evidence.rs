//! Evidence: the result of a command that Lockstep itself ran for a phase.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandEvidence {
    /// The command, without its secrets.
    pub command: String,
    /// The exit code; `None` if a signal ended the command.
    pub exit_code: Option<i32>,
    pub duration_ms: u64,
    /// The BLAKE3 hash of all of its output.
    pub output_digest: String,
    /// The end of its output, without its secrets.
    pub output_tail: String,
    pub ran_at: String,
}

impl CommandEvidence {
    pub fn passed(&self) -> bool {
        self.exit_code == Some(0)
    }
}

/// The result that a command must have for a phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExpectedResult {
    /// The command passes.
    Pass,
    /// The command fails: a test must fail before it is made to pass.
    Fail,
}

/// The phases that require evidence, and the expected results.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct EvidenceRules(pub BTreeMap<String, ExpectedResult>);

impl EvidenceRules {
    pub fn requires_evidence(&self, phase: &str) -> bool {
        self.0.contains_key(phase)
    }

    /// Returns the expected result for a phase: the configured one, otherwise by its name, since the test of
    /// a red phase fails.
    pub fn expectation(&self, phase: &str) -> ExpectedResult {
        let by_name = if phase.starts_with("RED") { ExpectedResult::Fail } else { ExpectedResult::Pass };
        self.0.get(phase).copied().unwrap_or(by_name)
    }

    /// The outcome that the evidence shows. A command that a signal ended shows no failing test.
    pub fn outcome(&self, phase: &str, evidence: &CommandEvidence) -> PhaseOutcome {
        let is_as_expected = match self.expectation(phase) {
            ExpectedResult::Pass => evidence.passed(),
            ExpectedResult::Fail => evidence.exit_code.is_some_and(|code| code != 0 && !is_not_started(code)),
        };
        if is_as_expected { PhaseOutcome::Pass } else { PhaseOutcome::Fail }
    }

    /// Returns the contradiction between a claimed outcome and the evidence. `None` if it is proven, or needs
    /// no proof.
    pub fn claim_problem(
        &self,
        phase: &str,
        claimed: PhaseOutcome,
        evidence: Option<&CommandEvidence>,
    ) -> Option<String> {
        let Some(evidence) = evidence else {
            let word = match self.expectation(phase) {
                ExpectedResult::Pass => "passes",
                ExpectedResult::Fail => "fails",
            };
            return self
                .requires_evidence(phase)
                .then(|| format!("Phase {phase} needs evidence of a command that {word}, and has none"));
        };
        let outcome = self.outcome(phase, evidence);
        (claimed == PhaseOutcome::Pass && outcome == PhaseOutcome::Fail).then(|| {
            let wanted = match self.expectation(phase) {
                ExpectedResult::Pass => "0",
                ExpectedResult::Fail => "a failure of the command itself",
            };
            let code = evidence.exit_code.map_or("a signal".to_owned(), |code| format!("exit code {code}"));
            format!("Phase {phase} claims PASS, but its command ended with {code} instead of {wanted}")
        })
    }
}

/// The shell's own codes for a command that could not be started: nothing was tested.
fn is_not_started(code: i32) -> bool {
    matches!(code, 126 | 127)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PhaseOutcome {
    Pass,
    /// The outcome differs from the expected one.
    Fail,
}

impl PhaseOutcome {
    /// The value in the step file.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pass => "PASS",
            Self::Fail => "FAIL",
        }
    }

    /// Parses the value of the step file.
    pub fn parse(word: &str) -> Option<Self> {
        [Self::Pass, Self::Fail].into_iter().find(|outcome| outcome.as_str() == word)
    }
}
