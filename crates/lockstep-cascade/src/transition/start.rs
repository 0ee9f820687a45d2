//! Starts a cascade from an impact report, and each iteration from the dependents found.

use std::collections::{BTreeMap, BTreeSet};

use crate::MAX_ITERATIONS;
use crate::cascade_input::{CascadeInput, CascadeInputError};
use crate::event::{CascadeDependent, GroupingInput};
use crate::grouping::{FileToAssign, partition};
use crate::state::{
    Assignment, Cascade, CascadeEnd, CascadeStatus, ConvergeOn, FORMAT, Group, GroupStage, Iteration,
    OriginalDigest, RootCause,
};
use crate::tier::Tier;

/// The settings of a new cascade.
#[derive(Debug, Clone, Default)]
pub struct StartOptions {
    /// The tier; derived from the number and spread of the files if `None`.
    pub tier: Option<Tier>,
    pub converge_on: ConvergeOn,
    /// The contents of the changed files before the change. The content of a file that is not listed is
    /// unknown.
    pub former: Vec<RootCause>,
    /// Sizes and import cycles of the dependents.
    pub terrain: GroupingInput,
    /// Dependents that cannot be updated because they are missing or outside the project, with the reasons.
    pub refused: BTreeMap<String, String>,
    /// The present contents of the changed files.
    pub present: BTreeMap<String, Option<String>>,
}

impl Cascade {
    /// Starts a cascade from an impact report. It ends at once if there is nothing to do.
    pub fn start(report: Result<CascadeInput, CascadeInputError>, start: StartOptions) -> Self {
        let mut cascade = Self {
            format: FORMAT,
            tier: start.tier.unwrap_or(Tier::Trivial),
            converge_on: start.converge_on,
            causes: Vec::new(),
            original: BTreeSet::new(),
            iterations: Vec::new(),
            checking: None,
            contents: BTreeMap::new(),
            dismissed: BTreeMap::new(),
            returned: BTreeMap::new(),
            warnings: Vec::new(),
            end: None,
        };
        match report {
            Ok(input) => cascade.begin(input, start),
            Err(unusable) => {
                cascade.warn(unusable.to_string());
                cascade.finish(CascadeStatus::Skipped, "there is no impact report to act on");
            }
        }
        cascade
    }

    fn begin(&mut self, input: CascadeInput, start: StartOptions) {
        self.warnings.extend(input.warnings);
        let mut dependents = Vec::new();
        for changed in input.impacts {
            let known = start.former.iter().find(|cause| cause.path == changed.path).cloned();
            let cause = known.unwrap_or(RootCause {
                path: changed.path,
                from: None,
                before: OriginalDigest::Unknown,
            });
            self.contents
                .insert(cause.path.clone(), content_history(&cause.before, start.present.get(&cause.path)));
            self.causes.push(cause);
            dependents.extend(changed.dependents);
        }
        let (direct, transitive): (Vec<_>, Vec<_>) = dependents.into_iter().partition(|d| d.direct);
        let causes: BTreeSet<&str> = self.causes.iter().map(|cause| cause.path.as_str()).collect();
        let mut warnings = Vec::new();
        let direct: Vec<CascadeDependent> = direct
            .into_iter()
            .filter(|dependent| {
                let refused = start.refused.get(&dependent.path);
                warnings.extend(refused.map(|why| format!("{} is left out: {why}.", dependent.path)));
                // A changed file is a cause, not work, unless it no longer fits another changed file.
                let fits = dependent.breaks == Some(false) && causes.contains(dependent.path.as_str());
                refused.is_none() && !fits
            })
            .collect();
        warnings.into_iter().for_each(|warning| self.warn(warning));
        self.original = direct.iter().map(|dependent| dependent.path.clone()).collect();
        if self.original.is_empty() {
            let why = match transitive.len() {
                0 => "no file depends directly on what changed".to_owned(),
                n => format!("only transitive dependents ({n}): they reference what did not change"),
            };
            self.finish(CascadeStatus::Skipped, why);
            return;
        }
        self.tier = start.tier.unwrap_or_else(|| Tier::of(self.original.iter().map(String::as_str)));
        let causes = self.causes.clone();
        self.open_iteration(causes, direct, &start.terrain);
    }

    /// Begins the next iteration, unless the limit is reached. The limit is checked before anything is
    /// started.
    pub(super) fn open_iteration(
        &mut self,
        causes: Vec<RootCause>,
        dependents: Vec<CascadeDependent>,
        terrain: &GroupingInput,
    ) {
        let number = u8::try_from(self.iterations.len() + 1).unwrap_or(u8::MAX);
        if number > MAX_ITERATIONS {
            self.end = Some(CascadeEnd {
                status: CascadeStatus::Partial,
                why: format!("new impacts are left after iteration {MAX_ITERATIONS}"),
            });
            return;
        }
        let mut needs: BTreeMap<String, Vec<CascadeDependent>> = BTreeMap::new();
        for dependent in dependents {
            needs.entry(dependent.path.clone()).or_default().push(dependent);
        }
        let places: Vec<FileToAssign<'_>> = needs
            .iter()
            .map(|(path, needs)| FileToAssign {
                path,
                cause: needs.iter().map(|need| need.cause.as_str()).min().unwrap_or_default(),
                size: terrain.sizes.get(path).copied().unwrap_or(0),
            })
            .collect();
        let divided = partition(&places, &terrain.cycles, self.tier);
        let groups = divided
            .into_iter()
            .zip('a'..)
            .map(|((role, files), letter)| Group {
                id: format!("{number}{letter}"),
                role,
                files: files.into_iter().map(|path| assignment(path, &mut needs)).collect(),
                stage: GroupStage::Waiting,
                attempt: 1,
                errors: Vec::new(),
            })
            .collect();
        self.checking = None;
        self.iterations.push(Iteration {
            number,
            causes,
            groups,
            agents: 0,
            before: BTreeMap::new(),
            after: BTreeMap::new(),
            violations: BTreeMap::new(),
            new_impacts: None,
            oracle_passed: None,
        });
    }
}

fn assignment(path: String, needs: &mut BTreeMap<String, Vec<CascadeDependent>>) -> Assignment {
    let needs = needs.remove(&path).unwrap_or_default();
    Assignment { path, dependencies: needs, outcome: None, stale_lines: Vec::new() }
}

/// Returns the known contents of a changed file: the former one, if known, and the present one.
fn content_history(before: &OriginalDigest, present: Option<&Option<String>>) -> Vec<Option<String>> {
    let mut history = match before {
        OriginalDigest::Unknown => vec![],
        OriginalDigest::Absent => vec![None],
        OriginalDigest::Content(digest) => vec![Some(digest.clone())],
    };
    if let Some(present) = present
        && history.last() != Some(present)
    {
        history.push(present.clone());
    }
    history
}
