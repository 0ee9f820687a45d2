//! The reaction to a failing hook action: one type, resolved in one function.
//!
//! Observers never block; gates never fail silently.

use crate::decision::Decision;

/// The part a route plays in the client's work, which decides how it fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ActionRole {
    /// Journal, sweep, delivery: fails open and silent. The fault is in the log and in `doctor`.
    Observer,
    /// Session context: fails open, with a line that the session is degraded.
    Announcer,
    /// A gate: if it cannot decide, it blocks, with the reason.
    Enforcer,
}

/// `[hooks] on_failure`: the action of an enforcer that cannot decide.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnFailure {
    #[default]
    Block,
    /// Let it pass. The fault is still logged.
    Allow,
}

/// The decision for a route of `role` that failed because of `fault`.
pub fn decide_on_failure(role: ActionRole, on_failure: OnFailure, fault: &str) -> Decision {
    match (role, on_failure) {
        (ActionRole::Observer, _) => Decision::Silent,
        (ActionRole::Announcer, _) => Decision::Context(format!("lockstep: degraded: {}", one_line(fault))),
        (ActionRole::Enforcer, OnFailure::Block) => Decision::Block(format!(
            "lockstep could not decide, so this is blocked: {}. `lockstep doctor` explains how to mend it; \
             `on_failure = \"allow\"` under [hooks] in lockstep.toml lets undecided steps pass.",
            one_line(fault)
        )),
        (ActionRole::Enforcer, OnFailure::Allow) => Decision::Silent,
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn observers_stay_silent_under_every_policy() {
        for on_failure in [OnFailure::Block, OnFailure::Allow] {
            assert_eq!(decide_on_failure(ActionRole::Observer, on_failure, "disk full"), Decision::Silent);
        }
    }

    #[test]
    fn announcers_say_one_line() {
        let Decision::Context(text) = decide_on_failure(ActionRole::Announcer, OnFailure::Block, "no\ncache")
        else {
            panic!("an announcer speaks");
        };
        assert_eq!(text, "lockstep: degraded: no cache");
    }

    #[test]
    fn enforcers_block_with_the_reason_unless_the_project_allows() {
        let Decision::Block(reason) =
            decide_on_failure(ActionRole::Enforcer, OnFailure::Block, "step file unreadable")
        else {
            panic!("an enforcer that cannot decide blocks");
        };
        assert!(reason.contains("step file unreadable"));
        assert!(reason.contains("on_failure"));
        assert_eq!(decide_on_failure(ActionRole::Enforcer, OnFailure::Allow, "x"), Decision::Silent);
    }
}
