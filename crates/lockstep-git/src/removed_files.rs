//! Removed files: those in the history that the working tree no longer has.

use std::collections::BTreeMap;

use crate::{GitError, Repository};

/// The number of newest commits that are read.
const MAX_COMMITS: &str = "--max-count=2000";

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemovedFile {
    pub path: String,
    /// The commit that removed or renamed it; its content is in the parent.
    pub commit: String,
}

impl Repository {
    /// Returns removed or renamed files, the last removal of each, sorted by path. Uncommitted removals are
    /// not included.
    pub fn removed_files(&self) -> Result<Vec<RemovedFile>, GitError> {
        if self.head()?.is_none() {
            return Ok(Vec::new());
        }
        let log = self.run_checked(&[
            "log",
            MAX_COMMITS,
            "--format=%x01%H",
            "--diff-filter=DR",
            "--name-status",
            "-M",
            "-z",
            "--relative",
            "--no-merges",
        ])?;
        Ok(parse(&String::from_utf8_lossy(&log)))
    }
}

impl Repository {
    /// The newest commits, at most `max` of those searched, that changed how often a text occurs, with the files they changed.
    pub fn commits_touching(&self, text: &str, max: usize) -> Result<Vec<(String, Vec<String>)>, GitError> {
        if text.is_empty() || self.head()?.is_none() {
            return Ok(Vec::new());
        }
        // `--max-count` counts only matching commits: the range limits how many are searched.
        let newest = self.run_checked(&["rev-list", &format!("--max-count={max}"), "--no-merges", "HEAD"])?;
        let newest = String::from_utf8_lossy(&newest);
        let mut arguments =
            vec!["log", "--no-walk", "--format=%x01%H", "--name-only", "-z", "--relative", "--no-textconv"];
        let search = format!("-S{text}");
        arguments.push(&search);
        arguments.extend(newest.lines());
        let log = self.run_checked(&arguments)?;
        let log = String::from_utf8_lossy(&log).into_owned();
        let commits = log.split('\u{1}').skip(1).filter_map(|commit| {
            let mut fields = commit.split(['\0', '\n']).filter(|field| !field.is_empty());
            let id = fields.next()?.to_owned();
            Some((id, fields.map(str::to_owned).collect()))
        });
        Ok(commits.collect())
    }
}

fn parse(log: &str) -> Vec<RemovedFile> {
    let mut removed: BTreeMap<&str, &str> = BTreeMap::new();
    for commit in log.split('\u{1}').skip(1) {
        let mut fields = commit.split(['\0', '\n']).filter(|field| !field.is_empty());
        let Some(id) = fields.next() else { continue };
        while let (Some(status), Some(path)) = (fields.next(), fields.next()) {
            if status.starts_with('R') {
                fields.next();
            }
            // The newest commit comes first.
            removed.entry(path).or_insert(id);
        }
    }
    let owned =
        |(path, commit): (&str, &str)| RemovedFile { path: path.to_owned(), commit: commit.to_owned() };
    removed.into_iter().map(owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn removals_and_renames_are_read() {
        let log = "\u{1}c2\0\nD\0b\0R090\0old\0new\0\u{1}c1\0\nD\0b\0";
        let found: Vec<_> =
            parse(log).into_iter().map(|candidate| (candidate.path, candidate.commit)).collect();
        assert_eq!(found, [("b".to_owned(), "c2".to_owned()), ("old".to_owned(), "c2".to_owned())]);
    }
}
