//! Starts a cascade: from a written report, a session, or the differences from the last commit.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::time::Duration;

use lockstep_cascade::cascade_input::{self, CascadeInput, CascadeInputError, ImpactedFile};
use lockstep_cascade::event::CascadeDependent;
use lockstep_cascade::state::{ConvergeOn, OriginalDigest, RootCause};
use lockstep_cascade::tier::Tier;
use lockstep_cascade::{Cascade, StartOptions};
use lockstep_config::keys;
use lockstep_index::content_digests::{ContentDigests, digest};
use lockstep_index::index::{Index, NoProgress};
use lockstep_model::ids::SessionId;
use lockstep_refs::impact::{Before, Edit};
use lockstep_store::cascades::CascadeUpdate;

use super::analysis::{dependents, grouping_input};
use super::{CascadeContext, LoadedCascade, load};
use crate::clock;
use crate::error::{CommandError, CommandResult};
use crate::impact::analysis::{ImpactAnalysis, deadline_after};

/// The time limit of the analysis.
const TIME_LIMIT: Duration = Duration::from_secs(60);

pub(crate) enum CascadeSource {
    /// The L1 of an impact report, or why it could not be read.
    Report(Result<Vec<u8>, String>),
    /// The changes of a session's agents.
    Session(SessionId),
    /// The differences from the last commit; if there are none, the changes of the last commit.
    Tree,
}

/// A change: the report, and the former contents of the changed files.
struct StartBasis {
    report: Result<CascadeInput, CascadeInputError>,
    edits: Vec<Edit>,
}

impl CascadeContext {
    /// Starts a cascade. It may have ended at once, because there is nothing to do.
    pub(crate) fn start(
        &mut self,
        source: CascadeSource,
        tier: Option<Tier>,
        session: Option<&SessionId>,
    ) -> CommandResult<LoadedCascade> {
        let (state, contents) = self.plan(source, tier)?;
        self.insert(session, &state, contents)
    }

    /// The cascade that [`start`](Self::start) would start, with the contents it names. Nothing is kept.
    pub(crate) fn plan(
        &self,
        source: CascadeSource,
        tier: Option<Tier>,
    ) -> CommandResult<(Cascade, BTreeMap<String, Vec<u8>>)> {
        let index = self.tree.open_index(&NoProgress)?;
        let basis = self.basis(source, &index)?;
        let snapshot = ContentDigests::take(&self.tree.root, None);
        let mut contents: BTreeMap<String, Vec<u8>> = BTreeMap::new();
        let former = basis.edits.iter().map(|edit| cause(edit, &mut contents)).collect();
        let (direct, changed) = report_files(&basis.report);
        for path in &changed {
            store_content(&self.tree.root.join(path), snapshot.digest(path), &mut contents);
        }
        let state = Cascade::start(
            basis.report,
            StartOptions {
                tier,
                converge_on: match self.project().config().cascade.converge_on {
                    keys::ConvergeOn::Breaking => ConvergeOn::Breaking,
                    keys::ConvergeOn::Any => ConvergeOn::Any,
                },
                former,
                terrain: grouping_input(&index, &direct),
                refused: direct
                    .iter()
                    .filter_map(|path| Some((path.clone(), self.refusal(path, &snapshot)?)))
                    .collect(),
                present: changed
                    .iter()
                    .map(|path| (path.clone(), snapshot.digest(path).map(str::to_owned)))
                    .collect(),
            },
        );
        Ok((state, contents))
    }

    fn basis(&self, source: CascadeSource, index: &Index) -> CommandResult<StartBasis> {
        let edits = match source {
            CascadeSource::Report(bytes) => return self.basis_of_report(bytes, index),
            CascadeSource::Session(session) => self.tree.edits_of_session(&session, None)?,
            CascadeSource::Tree => self.tree.edits_by_default()?,
        };
        let analysis = ImpactAnalysis::of(
            &self.tree.root,
            index,
            &self.tree.aliases(),
            &edits.edits,
            &deadline_after(TIME_LIMIT),
        );
        let mut found: BTreeMap<String, Vec<CascadeDependent>> = BTreeMap::new();
        for dependent in dependents(&analysis.impact) {
            found.entry(dependent.cause.clone()).or_default().push(dependent);
        }
        let changed = |path: &String| ImpactedFile {
            path: path.clone(),
            dependents: found.get(path).cloned().unwrap_or_default(),
        };
        let impacts = analysis.impact.files.iter().map(|file| changed(&file.path)).collect();
        let warnings = match analysis.impact.truncated {
            true => {
                vec!["The impact report is partial: there may be dependents it does not name.".to_owned()]
            }
            false => vec![],
        };
        Ok(StartBasis { report: Ok(CascadeInput { impacts, warnings }), edits: edits.edits })
    }

    /// Reads a report, which names the changed files but not their former contents. Contents from git are
    /// used if they explain the report.
    fn basis_of_report(&self, bytes: Result<Vec<u8>, String>, index: &Index) -> CommandResult<StartBasis> {
        let root = self.tree.root.to_string_lossy();
        let report = match bytes {
            Ok(bytes) => cascade_input::read(&bytes, &root),
            Err(why) => Err(CascadeInputError::Missing(why)),
        };
        let Ok(input) = &report else { return Ok(StartBasis { report, edits: Vec::new() }) };
        let mut edits = match &self.tree.repository {
            Some(_) => self.tree.edits_by_default()?.edits,
            None => Vec::new(),
        };
        edits.retain(|edit| input.impacts.iter().any(|changed| changed.path == edit.path));
        let analysis = ImpactAnalysis::of(
            &self.tree.root,
            index,
            &self.tree.aliases(),
            &edits,
            &deadline_after(TIME_LIMIT),
        );
        let breaking: BTreeSet<(&str, &str)> = analysis
            .impact
            .dependents()
            .filter(|(_, dependent)| dependent.breaks)
            .map(|(file, dependent)| (file.path.as_str(), dependent.path.as_str()))
            .collect();
        let explained = |changed: &ImpactedFile| {
            let claimed = changed.dependents.iter().filter(|d| d.direct && d.breaks == Some(true));
            claimed.into_iter().all(|d| breaking.contains(&(changed.path.as_str(), d.path.as_str())))
        };
        let unexplained: BTreeSet<&str> =
            input.impacts.iter().filter(|changed| !explained(changed)).map(|c| c.path.as_str()).collect();
        edits.retain(|edit| !unexplained.contains(edit.path.as_str()));
        Ok(StartBasis { report, edits })
    }

    /// Returns the reason why a dependent cannot be updated.
    fn refusal(&self, path: &str, snapshot: &ContentDigests) -> Option<String> {
        match snapshot.digest(path) {
            Some(digest) if digest.starts_with("link:") => Some("it is a link".to_owned()),
            Some(_) => None,
            None if fs::symlink_metadata(self.tree.root.join(path)).is_err() => {
                Some("it does not exist".to_owned())
            }
            None => Some("it is not a file in scope: ignored, a directory, or behind a link".to_owned()),
        }
    }

    fn insert(
        &mut self,
        session: Option<&SessionId>,
        state: &Cascade,
        contents: BTreeMap<String, Vec<u8>>,
    ) -> CommandResult<LoadedCascade> {
        let text = serde_json::to_string(state).expect("a state is maps with text keys, lists and scalars");
        let contents: Vec<(String, Vec<u8>)> = contents.into_iter().collect();
        let first = CascadeUpdate {
            id: 0,
            revision: 0,
            state: &text,
            ended: !state.is_active(),
            contents: &contents,
            tree: None,
            at: clock::now().timestamp(),
        };
        let id = self.store.insert_cascade(session, &first)?.map_err(|active| {
            CommandError::usage(format!("cascade {active} is active already"))
                .hint("`lockstep cascade next` goes on with it; `lockstep cascade abort --why ...` ends it")
        })?;
        let record = self.store.cascade(Some(id))?.expect("it was entered just now");
        let opened = load(record)?;
        if !opened.state.is_active() {
            let disk = self.disk(&opened, None)?;
            super::reports::write(&disk, &opened.state)?;
        }
        Ok(opened)
    }
}

/// The direct dependents of a report, and the files that changed.
fn report_files(report: &Result<CascadeInput, CascadeInputError>) -> (BTreeSet<String>, BTreeSet<String>) {
    let impacts = report.as_ref().map_or(&[][..], |input| &input.impacts[..]);
    let direct = impacts.iter().flat_map(|changed| &changed.dependents).filter(|dependent| dependent.direct);
    (
        direct.map(|dependent| dependent.path.clone()).collect(),
        impacts.iter().map(|changed| changed.path.clone()).collect(),
    )
}

fn cause(edit: &Edit, contents: &mut BTreeMap<String, Vec<u8>>) -> RootCause {
    let before = match &edit.before {
        Before::Absent => OriginalDigest::Absent,
        Before::Text(text) => {
            let digest = digest(text.as_bytes());
            contents.insert(digest.clone(), text.as_bytes().to_vec());
            OriginalDigest::Content(digest)
        }
        Before::Facts(_) | Before::Unknown => OriginalDigest::Unknown,
    };
    RootCause { path: edit.path.clone(), from: edit.former.clone(), before }
}

fn store_content(file: &std::path::Path, expected: Option<&str>, contents: &mut BTreeMap<String, Vec<u8>>) {
    let plain = fs::symlink_metadata(file).is_ok_and(|meta| meta.is_file());
    if let (Some(expected), true, Ok(bytes)) = (expected, plain, lockstep_fs::read(file))
        && digest(&bytes) == expected
    {
        contents.insert(expected.to_owned(), bytes);
    }
}
