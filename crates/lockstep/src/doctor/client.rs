//! The version of the client, compared with the versions that Lockstep was tested with.

use std::process::{Command, Stdio};

use lockstep_rehearsal::client::{NEWEST, VERSIONS};

use super::DoctorCheck;
use crate::executable;

const NAME: &str = "client";

/// Compares the client's version with the tested ones; `None` if there is no client on PATH.
pub(super) fn check() -> Option<DoctorCheck> {
    let program = executable::find("claude")?;
    let output = Command::new(&program).arg("--version").stdin(Stdio::null()).output();
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    let version = text.split_whitespace().next().filter(|word| number(word).is_some());
    Some(judge(version))
}

fn judge(version: Option<&str>) -> DoctorCheck {
    let tested = VERSIONS.join(" and ");
    match version {
        None => DoctorCheck::warning(
            NAME,
            "`claude --version` does not print a version",
            "run `claude --version` by hand",
        ),
        Some(version) if number(version) > number(NEWEST) => DoctorCheck::warning(
            NAME,
            format!("Claude Code {version} is newer than the newest tested version, {NEWEST}"),
            "run `lockstep doctor --live`, and look for a newer Lockstep",
        ),
        Some(version) => DoctorCheck::ok(NAME, format!("Claude Code {version}; tested are {tested}")),
    }
}

/// The parts of a version, for comparison.
fn number(version: &str) -> Option<(u32, u32, u32)> {
    let mut parts = version.split('.').map(|part| part.parse().ok());
    let number = (parts.next()??, parts.next()??, parts.next()??);
    parts.next().is_none().then_some(number)
}

#[cfg(test)]
mod tests {
    use super::super::CheckStatus;
    use super::*;

    #[test]
    fn a_version_that_is_newer_than_the_newest_tested_one_is_a_warning() {
        for (version, status) in [
            (Some(NEWEST), CheckStatus::Ok),
            (Some("2.1.197"), CheckStatus::Ok),
            (Some("2.1.99"), CheckStatus::Ok),
            (Some("2.1.1000"), CheckStatus::Warning),
            (Some("2.10.0"), CheckStatus::Warning),
            (Some("3.0.0"), CheckStatus::Warning),
            (None, CheckStatus::Warning),
        ] {
            assert_eq!(judge(version).status, status, "{version:?}");
        }
    }

    #[test]
    fn only_three_numbers_are_a_version() {
        assert_eq!(number("2.1.326"), Some((2, 1, 326)));
        for no in ["", "2.1", "2.1.x", "2.1.3.4", "claude"] {
            assert_eq!(number(no), None, "{no}");
        }
    }
}
