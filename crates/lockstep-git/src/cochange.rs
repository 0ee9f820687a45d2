//! Files that changed together: association rules over the history, newer commits counting more.

use std::collections::{BTreeMap, BTreeSet};

use crate::{GitError, Repository};

/// Commits that touch more files than this are no evidence of a relation between two of them.
const MAX_FILES: usize = 40;

/// The number of newest commits of a file that are read.
const MAX_COMMITS: usize = 400;

/// After this many commits to the file, a common change counts half.
const HALF_LIFE: f64 = 100.0;

/// A file that tends to change when another one does.
#[derive(Debug, Clone, PartialEq)]
pub struct CoChange {
    pub path: String,
    /// In how many commits both changed.
    pub together: usize,
    /// The share of the other's changes that it took part in, newer ones counting more: from 0 to 1.
    pub confidence: f64,
}

impl Repository {
    /// The files that tend to change when `path` does, the likeliest first. At least `together` common commits.
    pub fn cochanges(&self, path: &str, together: usize) -> Result<Vec<CoChange>, GitError> {
        let limit = format!("--max-count={MAX_COMMITS}");
        let arguments = [
            "log",
            &limit,
            "--format=%x01",
            "--name-only",
            "--full-diff",
            "--relative",
            "--no-merges",
            "-z",
            "--",
            path,
        ];
        if self.head()?.is_none() {
            return Ok(Vec::new());
        }
        Ok(association_rules(path, &commits(&self.run_checked(&arguments)?), together))
    }
}

/// The files of each commit, the newest first.
fn commits(log: &[u8]) -> Vec<BTreeSet<String>> {
    let text = String::from_utf8_lossy(log);
    text.split('\u{1}')
        .skip(1)
        .map(|commit| {
            let names = commit.split(['\0', '\n']);
            names.filter(|name| !name.is_empty()).map(str::to_owned).collect()
        })
        .collect()
}

fn association_rules(path: &str, commits: &[BTreeSet<String>], together: usize) -> Vec<CoChange> {
    let mut total = 0.0;
    let mut others: BTreeMap<&str, (usize, f64)> = BTreeMap::new();
    let telling = commits.iter().filter(|files| files.contains(path) && files.len() <= MAX_FILES);
    for (age, files) in telling.enumerate() {
        #[expect(clippy::cast_precision_loss, reason = "ages are small")]
        let weight = 0.5_f64.powf(age as f64 / HALF_LIFE);
        total += weight;
        for other in files.iter().filter(|other| *other != path) {
            let entry = others.entry(other).or_default();
            entry.0 += 1;
            entry.1 += weight;
        }
    }
    let mut rules: Vec<CoChange> = others
        .into_iter()
        .filter(|(_, (count, _))| *count >= together)
        .map(|(path, (count, weight))| CoChange {
            path: path.to_owned(),
            together: count,
            confidence: weight / total,
        })
        .collect();
    rules.sort_by(|a, b| b.confidence.total_cmp(&a.confidence).then_with(|| a.path.cmp(&b.path)));
    rules
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn newer_common_changes_count_more() {
        let commit = |files: &[&str]| files.iter().map(|file| (*file).to_owned()).collect::<BTreeSet<_>>();
        let history = [
            commit(&["a", "new"]),
            commit(&["a", "new"]),
            commit(&["a", "old"]),
            commit(&["a", "old"]),
            commit(&["a", "once"]),
        ];
        let found = association_rules("a", &history, 2);
        let names: Vec<_> = found.iter().map(|rule| (&*rule.path, rule.together)).collect();
        assert_eq!(names, [("new", 2), ("old", 2)]);
        assert!(found[0].confidence > found[1].confidence && found[0].confidence < 1.0);
    }

    #[test]
    fn commit_of_all_files_adds_no_cochange() {
        let all: BTreeSet<String> = (0..50).map(|n| format!("f{n}")).chain(["a".to_owned()]).collect();
        assert_eq!(association_rules("a", &[all.clone(), all], 1), []);
    }
}
