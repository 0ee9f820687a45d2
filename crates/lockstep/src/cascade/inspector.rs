//! Reads the disk for a cascade: present contents, stale lines and other changes.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Read as _;

use lockstep_cascade::Cascade;
use lockstep_cascade::event::{CheckResult, Digest, DiskObservation, ObservedFile, UnassignedChange};
use lockstep_cascade::inspector::Inspector;
use lockstep_cascade::state::{Group, OriginalDigest, RootCause};
use lockstep_index::content_digests::{ContentDigests, digest};
use lockstep_refs::impact::{After, Before, Edit};
use lockstep_store::Store;
use lockstep_store::cascades::CascadeUpdate;

use super::{LoadedCascade, analysis, reports, verification};
use crate::clock;
use crate::error::{CommandError, CommandResult};
use crate::project::ActiveProject;
use crate::workspace::Workspace;

/// Larger contents are not saved and count as unknown.
const MAX_KEPT_BYTES: u64 = 1 << 20;

/// Outside of git, contents are kept up to this many bytes in all.
const MAX_KEPT_WITHOUT_GIT: u64 = 16 << 20;

/// Looks at the disk for one cascade, and keeps its states.
pub(crate) struct DiskInspector<'a> {
    pub(crate) tree: &'a Workspace,
    pub(crate) project: &'a ActiveProject,
    pub(crate) store: Store,
    pub(crate) id: i64,
    revision: u64,
    verify: Option<&'a str>,
    /// The contents that the next state names and the store does not have.
    contents: BTreeMap<Digest, Vec<u8>>,
    iteration_tree: Option<(u8, ContentDigests)>,
    head: OnceCell<Option<String>>,
}

impl<'a> DiskInspector<'a> {
    pub(super) fn open(
        tree: &'a Workspace,
        project: &'a ActiveProject,
        opened: &LoadedCascade,
        verify: Option<&'a str>,
    ) -> CommandResult<Self> {
        Ok(Self {
            tree,
            project,
            store: Store::open(&project.state)?,
            id: opened.record.id,
            revision: opened.record.revision,
            verify,
            contents: BTreeMap::new(),
            iteration_tree: None,
            head: OnceCell::new(),
        })
    }

    /// Creates a reader for a cascade that is only previewed, with the contents it names.
    pub(super) fn for_preview(
        tree: &'a Workspace,
        project: &'a ActiveProject,
        contents: BTreeMap<Digest, Vec<u8>>,
    ) -> CommandResult<Self> {
        Ok(Self {
            tree,
            project,
            store: Store::open(&project.state)?,
            id: 0,
            revision: 0,
            verify: None,
            contents,
            iteration_tree: None,
            head: OnceCell::new(),
        })
    }

    /// A content that the cascade has seen.
    pub(crate) fn content(&self, digest: &str) -> Option<Vec<u8>> {
        let cached = self.contents.get(digest).cloned();
        cached.or_else(|| self.store.cascade_content(self.id, digest).ok().flatten())
    }

    /// The same as text.
    pub(crate) fn text(&self, digest: &str) -> Option<String> {
        String::from_utf8(self.content(digest)?).ok()
    }

    /// Returns the present content of a file, if it is text.
    pub(crate) fn current_text(&self, path: &str) -> Option<String> {
        String::from_utf8(self.read(path)?).ok()
    }

    /// The edits that causes amount to, as of now.
    pub(crate) fn edits(&self, causes: &[RootCause]) -> Vec<Edit> {
        let before = |former: &OriginalDigest| match former {
            OriginalDigest::Unknown => Before::Unknown,
            OriginalDigest::Absent => Before::Absent,
            OriginalDigest::Content(digest) => {
                self.text(digest).map_or(Before::Unknown, |text| Before::Text(text.into()))
            }
        };
        let is_removed = |path: &str| fs::symlink_metadata(self.tree.root.join(path)).is_err();
        let edit = |cause: &RootCause| Edit {
            path: cause.path.clone(),
            former: cause.from.clone(),
            before: before(&cause.before),
            after: if is_removed(&cause.path) { After::Gone } else { After::Present },
        };
        // Files that were created and deleted again have no effect.
        let passing = |edit: &Edit| matches!((&edit.before, &edit.after), (Before::Absent, After::Gone));
        causes.iter().map(edit).filter(|edit| !passing(edit)).collect()
    }

    fn read(&self, path: &str) -> Option<Vec<u8>> {
        let file = self.tree.root.join(path);
        let meta = fs::symlink_metadata(&file).ok()?;
        if !meta.is_file() || meta.len() > MAX_KEPT_BYTES {
            return None;
        }
        let mut bytes = Vec::new();
        lockstep_fs::open(file).ok()?.take(MAX_KEPT_BYTES + 1).read_to_end(&mut bytes).ok()?;
        Some(bytes)
    }

    fn keep_present(&mut self, path: &str, expected: Option<&str>) {
        if let (Some(expected), Some(bytes)) = (expected, self.read(path))
            && digest(&bytes) == expected
        {
            self.contents.insert(expected.to_owned(), bytes);
        }
    }

    /// Returns the snapshot of the tree when the present iteration began.
    fn iteration_snapshot(&self, cascade: &Cascade) -> CommandResult<ContentDigests> {
        let number = cascade.iteration().map_or(0, |iteration| iteration.number);
        if let Some((_, tree)) = self.iteration_tree.as_ref().filter(|(of, _)| *of == number) {
            return Ok(tree.clone());
        }
        let stored = self.store.iteration_snapshot(self.id, number)?;
        let tree = stored.as_deref().and_then(|text| serde_json::from_str(text).ok());
        tree.ok_or_else(|| {
            let what = format!(
                "what the files were when iteration {number} of cascade {} began is not known",
                self.id
            );
            CommandError::store(what).hint("abort it and start again: `lockstep cascade abort --why ...`")
        })
    }

    /// Records a snapshot of the tree at the start of an iteration, and saves contents that git does not
    /// have.
    fn record_snapshot(&mut self, cascade: &Cascade) -> CommandResult<ContentDigests> {
        let number = cascade.iteration().map_or(0, |iteration| iteration.number);
        if let Ok(base) = self.iteration_snapshot(cascade) {
            return Ok(base);
        }
        let now = ContentDigests::take(&self.tree.root, None);
        for path in self.unknown_to_git(&now)? {
            self.keep_present(&path, now.digest(&path));
        }
        let assigned: Vec<String> = cascade.assignments().map(|(_, _, file)| file.path.clone()).collect();
        for path in assigned {
            self.keep_present(&path, now.digest(&path));
        }
        self.iteration_tree = Some((number, now.clone()));
        Ok(now)
    }

    /// Returns the files whose present content differs from the last commit.
    fn unknown_to_git(&self, now: &ContentDigests) -> CommandResult<Vec<String>> {
        let Some(repository) = &self.tree.repository else {
            let mut total = 0;
            let fits = |path: &&str| {
                total += now.size(path).unwrap_or(0);
                total <= MAX_KEPT_WITHOUT_GIT
            };
            return Ok(now.paths().take_while(fits).map(str::to_owned).collect());
        };
        let changed = repository.diff(&lockstep_git::DiffRange::HeadToWorktree)?;
        Ok(changed.into_iter().map(|changed| changed.path).collect())
    }

    /// The content that git has of a file, if it is this one.
    fn keep_from_git(&mut self, path: &str, expected: &str) {
        if self.content(expected).is_some() {
            return;
        }
        let Some(repository) = &self.tree.repository else { return };
        let head = self.head.get_or_init(|| repository.head().ok().flatten());
        let Some(head) = head else { return };
        let found = repository.read_blobs(head, &[path.to_owned()]).unwrap_or_default();
        if let Some(Some(bytes)) = found.into_iter().next()
            && digest(&bytes) == expected
        {
            self.contents.insert(expected.to_owned(), bytes);
        }
    }

    fn unassigned_changes(
        &mut self,
        base: &ContentDigests,
        now: &ContentDigests,
        assigned: &BTreeSet<String>,
    ) -> Vec<UnassignedChange> {
        let changed: Vec<String> = base.diff_paths(now).into_iter().map(str::to_owned).collect();
        let mut others = Vec::new();
        for path in changed.into_iter().filter(|path| !assigned.contains(path)) {
            let (before, content) = (base.digest(&path), now.digest(&path));
            if let Some(before) = before {
                self.keep_from_git(&path, before);
            }
            self.keep_present(&path, content);
            others.push(UnassignedChange {
                before: before.map(str::to_owned),
                content: content.map(str::to_owned),
                path,
            });
        }
        others
    }
}

impl Inspector for DiskInspector<'_> {
    type Error = CommandError;

    fn group_contents(
        &mut self,
        cascade: &Cascade,
        group: &Group,
    ) -> CommandResult<BTreeMap<String, Option<Digest>>> {
        let base = self.record_snapshot(cascade)?;
        let now = ContentDigests::take(&self.tree.root, Some(&base));
        let of = |path: &String| (path.clone(), now.digest(path).map(str::to_owned));
        Ok(group.files.iter().map(|file| of(&file.path)).collect())
    }

    fn observe(&mut self, cascade: &Cascade) -> CommandResult<DiskObservation> {
        let base = self.iteration_snapshot(cascade)?;
        let now = ContentDigests::take(&self.tree.root, Some(&base));
        let groups = cascade.iteration().map_or(&[][..], |iteration| &iteration.groups[..]);
        let assigned: BTreeSet<String> =
            groups.iter().flat_map(|group| &group.files).map(|file| file.path.clone()).collect();
        for path in &assigned {
            self.keep_present(path, now.digest(path));
        }
        let mut left = analysis::stale_lines(self, cascade)?;
        let files = assigned.iter().map(|path| {
            // A link in the place of a file has no content of its own: the file is gone.
            let is_file = fs::symlink_metadata(self.tree.root.join(path)).is_ok_and(|meta| meta.is_file());
            let content = now.digest(path).filter(|_| is_file).map(str::to_owned);
            let left = left.remove(path).unwrap_or(lockstep_cascade::event::FileStaleness::Clean);
            (path.clone(), ObservedFile { content, left })
        });
        let files = files.collect();
        let others = self.unassigned_changes(&base, &now, &assigned);
        Ok(DiskObservation { files, unassigned_changes: others })
    }

    fn check(&mut self, cascade: &Cascade) -> CheckResult {
        let found = analysis::of_cascade(self, cascade).and_then(|mut findings| {
            if let Some(command) = self.verify {
                let number = cascade.iteration().map_or(0, |iteration| iteration.number);
                let oracle = verification::run_verification(self, command, number)?;
                analysis::add_grouping_input(self, &mut findings, &oracle)?;
                findings.oracle = Some(oracle);
            }
            Ok(findings)
        });
        match found {
            Ok(findings) => CheckResult::Found(findings),
            Err(error) => CheckResult::Failed(error.render().trim().replace('\n', "; ")),
        }
    }

    fn persist(&mut self, cascade: &Cascade) -> CommandResult<()> {
        let state =
            serde_json::to_string(cascade).expect("a state is maps with text keys, lists and scalars");
        let contents: Vec<(Digest, Vec<u8>)> = std::mem::take(&mut self.contents).into_iter().collect();
        let tree = self.iteration_tree.as_ref().map(|(number, tree)| {
            (*number, serde_json::to_string(tree).expect("a snapshot is a map with text keys"))
        });
        let is_stored = self.store.update_cascade(&CascadeUpdate {
            id: self.id,
            revision: self.revision,
            state: &state,
            ended: !cascade.is_active(),
            contents: &contents,
            tree: tree.as_ref().map(|(number, text)| (*number, text.as_str())),
            at: clock::now().timestamp(),
        })?;
        if !is_stored {
            let message =
                format!("another process has changed cascade {} meanwhile; nothing was written", self.id);
            return Err(CommandError::store(message).hint("look at `lockstep cascade status`"));
        }
        self.revision += 1;
        if !cascade.is_active() {
            reports::write(self, cascade)?;
        }
        Ok(())
    }
}
