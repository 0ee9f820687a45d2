//! The convergence check: selects the new impacts among the dependents of the changed files.

use std::collections::BTreeSet;

use crate::MAX_ITERATIONS;
use crate::event::{CascadeDependent, CheckFindings, VerificationResult};
use crate::state::{Cascade, CascadeStatus, ConvergeOn, FileOutcome, RootCause};

/// The kind of a dependent that the verification named.
pub(crate) const ORACLE: &str = "verify";

impl Cascade {
    /// Applies the result of a check: begins another iteration, or ends the cascade.
    pub(super) fn apply_findings(&mut self, findings: CheckFindings) {
        findings.warnings.iter().for_each(|warning| self.warn(warning.clone()));
        let passed = findings.oracle.as_ref().map(|oracle| oracle.passed);
        let named = findings.oracle.as_ref().map(|oracle| !oracle.failures.is_empty());
        let mut dependents = findings.dependents;
        dependents.extend(findings.oracle.iter().flat_map(failures));
        let new: Vec<CascadeDependent> = dependents.into_iter().filter(|d| self.is_new(d)).collect();
        let files: BTreeSet<String> = new.iter().map(|dependent| dependent.path.clone()).collect();
        let iteration = self.current();
        iteration.new_impacts = Some(files.iter().cloned().collect());
        iteration.oracle_passed = passed;
        let (number, mut changed) = (iteration.number, iteration.changed());
        if files.is_empty() {
            self.converge(number, passed, named);
        } else if number >= MAX_ITERATIONS {
            let left = format!("impacts are left after iteration {MAX_ITERATIONS}: {}", join(&files));
            self.warn(format!("New {left}."));
            self.finish(CascadeStatus::Partial, format!("new {left}"));
        } else {
            let is_named = |cause: &&RootCause| new.iter().any(|dependent| dependent.cause == cause.path);
            let known: BTreeSet<String> = changed.iter().map(|cause| cause.path.clone()).collect();
            let open = self.causes.iter().filter(is_named).filter(|cause| !known.contains(&cause.path));
            changed.extend(open.cloned());
            self.open_iteration(changed, new, &findings.terrain);
        }
    }

    /// Ends the cascade when nothing new was found. It has converged only if no file was skipped or needs a
    /// change again.
    fn converge(&mut self, number: u8, passed: Option<bool>, named: Option<bool>) {
        let skipped: BTreeSet<String> = self.skipped().into_keys().map(str::to_owned).collect();
        let returned: BTreeSet<String> = self.unresolved().into_iter().map(str::to_owned).collect();
        if !skipped.is_empty() {
            self.finish(
                CascadeStatus::Partial,
                format!("files could not be brought up to date: {}", join(&skipped)),
            );
        } else if !returned.is_empty() {
            let why = format!("files no longer fit what changed after them: {}", join(&returned));
            self.finish(CascadeStatus::Partial, why);
        } else if passed == Some(false) {
            let what = match named {
                Some(true) => "names only files that are handled",
                _ => "names no file of the project",
            };
            self.warn(format!("The verification fails and {what}."));
            self.finish(CascadeStatus::Partial, format!("the verification fails and {what}"));
        } else {
            self.finish(
                CascadeStatus::Converged,
                format!("nothing unresolved is left after iteration {number}"),
            );
        }
    }

    /// Returns true if a dependent is work for the next iteration. Files that need a change again are
    /// recorded.
    fn is_new(&mut self, dependent: &CascadeDependent) -> bool {
        let breaks = dependent.breaks == Some(true);
        if !dependent.direct || !(breaks || self.converge_on == ConvergeOn::Any) {
            return false;
        }
        let path = dependent.path.as_str();
        if self.dismissed.contains_key(path) || self.skipped().contains_key(path) {
            return false;
        }
        let is_open_cause = dependent.is_own() && !self.has_changed(path);
        if self.is_handled(path) && !is_open_cause {
            self.record_returned_file(dependent, breaks);
            return false;
        }
        // The file was checked before and needed no change. It is work only if it breaks now.
        let seen = |outcome: &Option<FileOutcome>| matches!(outcome, Some(FileOutcome::Unchanged));
        let in_order = self.assignments().any(|(_, _, file)| file.path == path && seen(&file.outcome));
        breaks || !in_order
    }

    /// Returns true if the file changed in this cascade or caused it. Such a file is not assigned again.
    fn is_handled(&self, path: &str) -> bool {
        let cause = self.causes.iter().any(|cause| cause.path == path);
        cause || self.has_changed(path)
    }

    fn has_changed(&self, path: &str) -> bool {
        self.iterations.iter().any(|iteration| iteration.has_changed(path))
    }

    fn record_returned_file(&mut self, dependent: &CascadeDependent, breaks: bool) {
        let path = &dependent.path;
        let evidence = self.returned.entry(path.clone()).or_default();
        if breaks {
            evidence.extend(dependent.evidence.first().cloned().or_else(|| Some(path.clone())));
            evidence.dedup();
        }
        let what = match (breaks, dependent.cause.is_empty()) {
            (true, true) => "the verification names it".to_owned(),
            (true, false) if dependent.is_own() => "references in it do not resolve".to_owned(),
            (true, false) => format!("it no longer fits {}", dependent.cause),
            (false, _) => format!("it depends on {}", dependent.cause),
        };
        self.warn(format!("{path} returns after it was handled: {what}. It is not processed again."));
    }
}

/// Returns the files that a failed verification names, as dependents.
fn failures(oracle: &VerificationResult) -> Vec<CascadeDependent> {
    if oracle.passed {
        return Vec::new();
    }
    let dependent = |(path, line): &(String, String)| CascadeDependent {
        path: path.clone(),
        cause: String::new(),
        direct: true,
        pattern: String::new(),
        evidence: vec![line.clone()],
        kind: Some(ORACLE.to_owned()),
        breaks: Some(true),
    };
    oracle.failures.iter().map(dependent).collect()
}

fn join(files: &BTreeSet<String>) -> String {
    files.iter().cloned().collect::<Vec<_>>().join(", ")
}
