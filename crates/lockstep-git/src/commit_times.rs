//! When files were last committed.

use std::collections::BTreeMap;

use crate::{GitError, Repository};

impl Repository {
    /// Returns the files that were committed after a time (seconds since 1970), each with the time of its
    /// last commit. `None` if unknown: in a shallow history, the oldest commit seems to add everything.
    pub fn committed_since(&self, moment: i64) -> Result<Option<BTreeMap<String, i64>>, GitError> {
        if self.head()?.is_none() {
            return Ok(Some(BTreeMap::new()));
        }
        if self.run_checked(&["rev-parse", "--is-shallow-repository"])?.starts_with(b"true") {
            return Ok(None);
        }
        // With its zone: a bare number is seconds only from nine digits on, and before that a guess that ends near today.
        let since = format!("--since=@{} +0000", moment.max(0));
        // The changes of a merge are in the commits that it joins.
        let log = self.run_checked(&[
            "log",
            &since,
            "--format=%x01%ct",
            "--name-only",
            "--relative",
            "--no-merges",
            "-z",
        ])?;
        let mut last: BTreeMap<String, i64> = BTreeMap::new();
        for commit in String::from_utf8_lossy(&log).split('\u{1}').skip(1) {
            let mut names = commit.split(['\0', '\n']).filter(|name| !name.is_empty());
            let Some(at) = names.next().and_then(|at| at.parse().ok()) else { continue };
            for name in names {
                let known = last.entry(name.to_owned()).or_insert(at);
                *known = at.max(*known);
            }
        }
        Ok(Some(last))
    }
}
