//! Which files changed between two states.

use crate::{GitError, Repository};

/// Two states of a repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Between {
    /// The commit that is checked out and the files as they are, untracked ones included.
    HeadAndFiles,
    /// The checked-out commit and the staged state.
    HeadAndStaged,
    /// Two commits, by any of their names.
    Commits(String, String),
}

/// A file that differs.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Changed {
    /// The path; for a deleted file the old one.
    pub path: String,
    pub status: Status,
}

/// The difference of a file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Status {
    Added,
    Deleted,
    Modified,
    Renamed { from: String },
}

impl Repository {
    /// Returns the two states of a range: `A..B`, `A...B` (from their common ancestor), or `A` alone (from
    /// there to the checked-out commit).
    pub fn range(&self, range: &str) -> Result<Between, GitError> {
        let or_head = |name: &str| if name.is_empty() { "HEAD".to_owned() } else { name.to_owned() };
        if let Some((a, b)) = range.split_once("...") {
            let (a, b) = (self.commit(&or_head(a))?, self.commit(&or_head(b))?);
            let base = self.tell(&["merge-base", "--end-of-options", &a, &b])?;
            return Ok(Between::Commits(String::from_utf8_lossy(&base).trim().to_owned(), b));
        }
        let (a, b) = range.split_once("..").unwrap_or((range, "HEAD"));
        Ok(Between::Commits(self.commit(&or_head(a))?, self.commit(&or_head(b))?))
    }

    /// The last commit and the one before it; before that, nothing.
    pub fn last_commit(&self) -> Result<Option<Between>, GitError> {
        let Some(head) = self.head()? else { return Ok(None) };
        let before = self.revision("HEAD~1")?.map_or_else(|| self.empty_tree(), Ok)?;
        Ok(Some(Between::Commits(before, head)))
    }

    /// The id of the empty tree. It depends on the repository's object format.
    fn empty_tree(&self) -> Result<String, GitError> {
        let id = self.tell(&["hash-object", "-t", "tree", "/dev/null"])?;
        Ok(String::from_utf8_lossy(&id).trim().to_owned())
    }

    /// Returns the differing files at or below `paths`, sorted by path. Git checks other files only for
    /// renames of new or deleted ones.
    pub fn changed_among(&self, between: &Between, paths: &[String]) -> Result<Vec<Changed>, GitError> {
        if paths.iter().any(String::is_empty) {
            return self.changed(between);
        }
        let changed = self.differing(between, paths)?;
        if changed.iter().all(|changed| changed.status == Status::Modified) {
            return Ok(changed);
        }
        self.changed(between)
    }

    /// The files that differ, sorted by path.
    pub fn changed(&self, between: &Between) -> Result<Vec<Changed>, GitError> {
        self.differing(between, &[])
    }

    /// Returns the differing files at or below `paths`; without paths, all.
    fn differing(&self, between: &Between, paths: &[String]) -> Result<Vec<Changed>, GitError> {
        // A path is a path, whatever characters it has.
        let paths: Vec<String> = paths.iter().map(|path| format!(":(literal){path}")).collect();
        let paths = || paths.iter().map(String::as_str);
        let mut arguments = vec!["diff", "--name-status", "-z", "-M", "--no-ext-diff", "--relative"];
        let head = self.old_state(between)?;
        match between {
            Between::HeadAndFiles => arguments.push(&head),
            Between::HeadAndStaged => arguments.extend(["--cached", &head]),
            Between::Commits(_, new) => arguments.extend([&*head, &**new]),
        }
        arguments.push("--");
        arguments.extend(paths());
        let mut changed = parse(&self.tell(&arguments)?)?;
        if *between == Between::HeadAndFiles {
            let mut arguments = vec!["ls-files", "--others", "--exclude-standard", "-z", "--"];
            arguments.extend(paths());
            let untracked = self.tell(&arguments)?;
            changed.extend(fields(&untracked).map(|path| Changed { path, status: Status::Added }));
        }
        changed.sort();
        Ok(changed)
    }

    /// The name of the older state.
    pub fn old_state(&self, between: &Between) -> Result<String, GitError> {
        match between {
            Between::Commits(old, _) => Ok(old.clone()),
            _ => self.head()?.map_or_else(|| self.empty_tree(), Ok),
        }
    }

    fn commit(&self, name: &str) -> Result<String, GitError> {
        self.revision(name)?.ok_or_else(|| GitError::Refused {
            what: "rev-parse".to_owned(),
            message: format!("there is no commit called {name:?}"),
        })
    }
}

fn fields(bytes: &[u8]) -> impl Iterator<Item = String> {
    bytes
        .split(|byte| *byte == 0)
        .filter(|field| !field.is_empty())
        .map(|field| String::from_utf8_lossy(field).into_owned())
}

fn parse(bytes: &[u8]) -> Result<Vec<Changed>, GitError> {
    let not_understood = || GitError::Answer { what: "diff --name-status".to_owned() };
    let mut fields = fields(bytes);
    let mut changed = Vec::new();
    while let Some(status) = fields.next() {
        let path = fields.next().ok_or_else(not_understood)?;
        changed.push(match status.chars().next() {
            Some('A') => Changed { path, status: Status::Added },
            Some('D') => Changed { path, status: Status::Deleted },
            Some('R') => Changed {
                path: fields.next().ok_or_else(not_understood)?,
                status: Status::Renamed { from: path },
            },
            Some('C') => Changed { path: fields.next().ok_or_else(not_understood)?, status: Status::Added },
            Some(_) => Changed { path, status: Status::Modified },
            None => return Err(not_understood()),
        });
    }
    Ok(changed)
}
