//! A simulated cascade: each helper applies one event with its observation.

use std::collections::{BTreeMap, BTreeSet};

use lockstep_cascade::cascade_input::{CascadeInput, ImpactedFile};
use lockstep_cascade::event::{
    AgentClaim, CascadeDependent, CheckFindings, CheckResult, DiskObservation, FileStaleness, ObservedFile,
    UnassignedChange, VerificationResult,
};
use lockstep_cascade::state::{GroupStage, OriginalDigest, RootCause};
use lockstep_cascade::{Cascade, CascadeEffect, CascadeEvent, StartOptions, TransitionError};

pub(crate) const ROOT: &str = "src/root.rs";

/// A dependent that breaks.
pub(crate) fn breaks(path: &str, cause: &str) -> CascadeDependent {
    CascadeDependent {
        path: path.to_owned(),
        cause: cause.to_owned(),
        direct: true,
        pattern: "old".to_owned(),
        evidence: vec![format!("{path}:1:use old;")],
        kind: Some("symbol".to_owned()),
        breaks: Some(true),
    }
}

/// A report that [`ROOT`] changed and these depend on it.
pub(crate) fn report(dependents: Vec<CascadeDependent>) -> CascadeInput {
    CascadeInput { impacts: vec![ImpactedFile { path: ROOT.to_owned(), dependents }], warnings: vec![] }
}

/// Returns a start in which [`ROOT`] changed from `root 0` to `root 1`.
pub(crate) fn root_changed() -> StartOptions {
    StartOptions {
        former: vec![RootCause {
            path: ROOT.to_owned(),
            from: None,
            before: OriginalDigest::Content("root 0".to_owned()),
        }],
        present: BTreeMap::from([(ROOT.to_owned(), Some("root 1".to_owned()))]),
        ..StartOptions::default()
    }
}

/// A cascade in progress, with an in-memory disk.
#[derive(Debug, Clone)]
pub(crate) struct Play {
    pub(crate) cascade: Cascade,
    disk: BTreeMap<String, String>,
    stale: BTreeSet<String>,
    unknown: BTreeSet<String>,
    base: BTreeMap<String, String>,
}

impl Play {
    pub(crate) fn start(files: &[&str]) -> Self {
        Self::of(files.iter().map(|file| breaks(file, ROOT)).collect(), root_changed())
    }

    pub(crate) fn of(dependents: Vec<CascadeDependent>, start: StartOptions) -> Self {
        let disk: BTreeMap<String, String> =
            dependents.iter().map(|d| (d.path.clone(), "0".to_owned())).collect();
        let stale = dependents.iter().filter(|d| d.breaks != Some(false)).map(|d| d.path.clone()).collect();
        let cascade = Cascade::start(Ok(report(dependents)), start);
        Self { cascade, base: disk.clone(), disk, stale, unknown: BTreeSet::new() }
    }

    pub(crate) fn try_step(&mut self, event: CascadeEvent) -> Result<Vec<CascadeEffect>, TransitionError> {
        let (cascade, effects) = self.cascade.clone().apply(event)?;
        self.cascade = cascade;
        Ok(effects)
    }

    pub(crate) fn step(&mut self, event: CascadeEvent) -> Vec<CascadeEffect> {
        self.try_step(event).unwrap()
    }

    /// Writes a file and removes its stale lines.
    pub(crate) fn fix(&mut self, path: &str, content: &str) -> &mut Self {
        self.disk.insert(path.to_owned(), content.to_owned());
        self.stale.remove(path);
        self
    }

    /// Writes a file that stays stale.
    pub(crate) fn botch(&mut self, path: &str, content: &str) -> &mut Self {
        self.disk.insert(path.to_owned(), content.to_owned());
        self.stale.insert(path.to_owned());
        self
    }

    pub(crate) fn nobody_knows(&mut self, path: &str) -> &mut Self {
        self.unknown.insert(path.to_owned());
        self
    }

    pub(crate) fn hand(&mut self, group: &str) -> Vec<CascadeEffect> {
        if self.cascade.iteration().is_some_and(|i| i.groups.iter().all(|g| g.stage == GroupStage::Waiting)) {
            self.base = self.disk.clone();
        }
        let files = self.cascade.group(group).map_or_else(Vec::new, |group| group.files.clone());
        let before = files.iter().map(|f| (f.path.clone(), self.disk.get(&f.path).cloned())).collect();
        self.step(CascadeEvent::Dispatched { group: group.to_owned(), before })
    }

    pub(crate) fn seen(&self) -> DiskObservation {
        let groups = self.cascade.iteration().map_or(&[][..], |iteration| &iteration.groups[..]);
        let assigned: BTreeSet<&String> = groups.iter().flat_map(|g| &g.files).map(|f| &f.path).collect();
        let files = assigned.iter().map(|path| {
            let left = match (self.unknown.contains(*path), self.stale.contains(*path)) {
                (true, _) => FileStaleness::Unknown("nobody can tell".to_owned()),
                (_, true) => FileStaleness::Stale(vec![format!("{path}:1:use old;")]),
                (_, false) => FileStaleness::Clean,
            };
            ((*path).clone(), ObservedFile { content: self.disk.get(*path).cloned(), left })
        });
        let others = self
            .disk
            .iter()
            .filter(|(path, content)| !assigned.contains(path) && self.base.get(*path) != Some(content));
        DiskObservation {
            files: files.collect(),
            unassigned_changes: others
                .map(|(path, content)| UnassignedChange {
                    path: path.clone(),
                    before: self
                        .base
                        .get(path)
                        .cloned()
                        .or_else(|| (path == ROOT).then(|| "root 1".to_owned())),
                    content: Some(content.clone()),
                })
                .collect(),
        }
    }

    pub(crate) fn done(&mut self, group: &str) -> Vec<CascadeEffect> {
        self.done_saying(group, AgentClaim { complete: true, ..AgentClaim::default() })
    }

    pub(crate) fn failed(&mut self, group: &str, error: &str) -> Vec<CascadeEffect> {
        self.done_saying(
            group,
            AgentClaim { complete: false, error: Some(error.to_owned()), ..AgentClaim::default() },
        )
    }

    pub(crate) fn done_saying(&mut self, group: &str, claim: AgentClaim) -> Vec<CascadeEffect> {
        let seen = self.seen();
        self.step(CascadeEvent::AgentFinished { group: group.to_owned(), claim, seen })
    }

    /// The check finds these.
    pub(crate) fn check(&mut self, dependents: Vec<CascadeDependent>) -> Vec<CascadeEffect> {
        for dependent in &dependents {
            self.disk.entry(dependent.path.clone()).or_insert_with(|| "0".to_owned());
            if dependent.breaks == Some(true) {
                self.stale.insert(dependent.path.clone());
            }
        }
        self.base = self.disk.clone();
        self.step(CascadeEvent::CheckCompleted(CheckResult::Found(CheckFindings {
            dependents,
            ..CheckFindings::default()
        })))
    }

    pub(crate) fn verify(&mut self, passed: bool, failures: &[(&str, &str)]) -> Vec<CascadeEffect> {
        let failures = failures.iter().map(|(path, line)| ((*path).to_owned(), (*line).to_owned())).collect();
        let oracle = Some(VerificationResult { passed, failures });
        self.step(CascadeEvent::CheckCompleted(CheckResult::Found(CheckFindings {
            oracle,
            ..CheckFindings::default()
        })))
    }

    pub(crate) fn ended(&self) -> (&'static str, Option<bool>, usize) {
        assert!(!self.cascade.is_active(), "{:?}", self.cascade);
        (self.cascade.status().as_str(), self.cascade.convergence(), self.cascade.iterations.len())
    }

    #[track_caller]
    pub(crate) fn warned(&self, text: &str) {
        let warnings = self.cascade.all_warnings();
        assert!(warnings.iter().any(|warning| warning.contains(text)), "{text:?} is not in {warnings:?}");
    }
}
