//! Which files changed between two states.

use crate::{GitError, Repository};

/// Two states of a repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DiffRange {
    /// The commit that is checked out and the files as they are, untracked ones included.
    HeadToWorktree,
    /// The checked-out commit and the staged state.
    HeadToIndex,
    /// Two commits, by any of their names.
    Commits(String, String),
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct DiffEntry {
    /// The path; for a deleted file the old one.
    pub path: String,
    pub status: DiffStatus,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum DiffStatus {
    Added,
    Deleted,
    Modified,
    Renamed { from: String },
}

impl Repository {
    /// Returns the two states of a range: `A..B`, `A...B` (from their common ancestor), or `A` alone (from
    /// there to the checked-out commit).
    pub fn parse_range(&self, range: &str) -> Result<DiffRange, GitError> {
        let or_head = |name: &str| if name.is_empty() { "HEAD".to_owned() } else { name.to_owned() };
        if let Some((a, b)) = range.split_once("...") {
            let (a, b) = (self.commit(&or_head(a))?, self.commit(&or_head(b))?);
            let base = self.run_checked(&["merge-base", "--end-of-options", &a, &b])?;
            return Ok(DiffRange::Commits(String::from_utf8_lossy(&base).trim().to_owned(), b));
        }
        let (a, b) = range.split_once("..").unwrap_or((range, "HEAD"));
        Ok(DiffRange::Commits(self.commit(&or_head(a))?, self.commit(&or_head(b))?))
    }

    /// The last commit and the one before it; before that, nothing.
    pub fn last_commit_range(&self) -> Result<Option<DiffRange>, GitError> {
        let Some(head) = self.head()? else { return Ok(None) };
        let before = self.revision("HEAD~1")?.map_or_else(|| self.empty_tree(), Ok)?;
        Ok(Some(DiffRange::Commits(before, head)))
    }

    /// The id of the empty tree. It depends on the repository's object format.
    fn empty_tree(&self) -> Result<String, GitError> {
        let id = self.run_checked(&["hash-object", "-t", "tree", "/dev/null"])?;
        Ok(String::from_utf8_lossy(&id).trim().to_owned())
    }

    /// Returns the differing files at or below `paths`, sorted by path. Git checks other files only for
    /// renames of new or deleted ones.
    pub fn diff_paths(&self, between: &DiffRange, paths: &[String]) -> Result<Vec<DiffEntry>, GitError> {
        if paths.iter().any(String::is_empty) {
            return self.diff(between);
        }
        let changed = self.run_diff(between, paths)?;
        if changed.iter().all(|changed| changed.status == DiffStatus::Modified) {
            return Ok(changed);
        }
        self.diff(between)
    }

    /// The files that differ, sorted by path.
    pub fn diff(&self, between: &DiffRange) -> Result<Vec<DiffEntry>, GitError> {
        self.run_diff(between, &[])
    }

    /// Returns the differing files at or below `paths`; without paths, all.
    fn run_diff(&self, between: &DiffRange, paths: &[String]) -> Result<Vec<DiffEntry>, GitError> {
        // A path is a path, whatever characters it has.
        let paths: Vec<String> = paths.iter().map(|path| format!(":(literal){path}")).collect();
        let paths = || paths.iter().map(String::as_str);
        let mut arguments = vec!["diff", "--name-status", "-z", "-M", "--no-ext-diff", "--relative"];
        let head = self.old_revision(between)?;
        match between {
            DiffRange::HeadToWorktree => arguments.push(&head),
            DiffRange::HeadToIndex => arguments.extend(["--cached", &head]),
            DiffRange::Commits(_, new) => arguments.extend([&*head, &**new]),
        }
        arguments.push("--");
        arguments.extend(paths());
        let mut changed = parse(&self.run_checked(&arguments)?)?;
        if *between == DiffRange::HeadToWorktree {
            let mut arguments = vec!["ls-files", "--others", "--exclude-standard", "-z", "--"];
            arguments.extend(paths());
            let untracked = self.run_checked(&arguments)?;
            changed.extend(fields(&untracked).map(|path| DiffEntry { path, status: DiffStatus::Added }));
        }
        changed.sort();
        Ok(changed)
    }

    /// The name of the older state.
    pub fn old_revision(&self, between: &DiffRange) -> Result<String, GitError> {
        match between {
            DiffRange::Commits(old, _) => Ok(old.clone()),
            _ => self.head()?.map_or_else(|| self.empty_tree(), Ok),
        }
    }

    fn commit(&self, name: &str) -> Result<String, GitError> {
        if let Some(commit) = self.revision(name)? {
            return Ok(commit);
        }
        let message = match self.head()? {
            Some(_) => format!("there is no commit called {name:?}"),
            None => format!("there is no commit called {name:?}: nothing was committed yet"),
        };
        Err(GitError::Failed { what: "rev-parse".to_owned(), message })
    }
}

fn fields(bytes: &[u8]) -> impl Iterator<Item = String> {
    bytes
        .split(|byte| *byte == 0)
        .filter(|field| !field.is_empty())
        .map(|field| String::from_utf8_lossy(field).into_owned())
}

fn parse(bytes: &[u8]) -> Result<Vec<DiffEntry>, GitError> {
    let not_understood = || GitError::UnexpectedOutput { what: "diff --name-status".to_owned() };
    let mut fields = fields(bytes);
    let mut changed = Vec::new();
    while let Some(status) = fields.next() {
        let path = fields.next().ok_or_else(not_understood)?;
        changed.push(match status.chars().next() {
            Some('A') => DiffEntry { path, status: DiffStatus::Added },
            Some('D') => DiffEntry { path, status: DiffStatus::Deleted },
            Some('R') => DiffEntry {
                path: fields.next().ok_or_else(not_understood)?,
                status: DiffStatus::Renamed { from: path },
            },
            Some('C') => {
                DiffEntry { path: fields.next().ok_or_else(not_understood)?, status: DiffStatus::Added }
            }
            Some(_) => DiffEntry { path, status: DiffStatus::Modified },
            None => return Err(not_understood()),
        });
    }
    Ok(changed)
}
