//! The commit that was checked out some time ago, from git's own record of updates of `HEAD` and of the stash.

use std::path::Path;

use super::LocalRepository;
use super::objects::Oid;

struct Update {
    old: String,
    new: String,
    /// In seconds since 1970.
    at: i64,
    /// True if a commit was made, so that its content was written in the working tree.
    is_own: bool,
}

impl LocalRepository {
    /// Returns the commit that the working tree was based on at a time in seconds since 1970: the checked-out one
    /// before the first update since then. If the working tree was stashed first, this is the commit of the
    /// stash, which has the uncommitted contents. `None` if nothing was updated, or there was no commit.
    pub fn commit_at(&self, since: i64) -> Option<String> {
        // Before the first commit the id consists of zeros.
        let is_commit = |id: &str| Oid::from_hex(id).is_some_and(|id| id.0.iter().any(|byte| *byte != 0));
        let head = updates(&self.git.join("logs/HEAD"));
        let head = head.into_iter().find(|update| update.at >= since && is_commit(&update.old));
        let stash = updates(&self.common.join("logs/refs/stash"));
        let stash = stash.into_iter().find(|update| update.at >= since);
        match (head, stash) {
            (Some(head), Some(stash)) if head.at < stash.at => Some(head.old),
            (_, Some(stash)) => Some(stash.new),
            (Some(head), None) => Some(head.old),
            (None, None) => None,
        }
    }

    /// Returns the commit whose files git last wrote into the working tree since a time in seconds since 1970: by a
    /// checkout, a merge, a rebase or a reset. A commit that was only recorded does not count.
    pub fn written_commit(&self, since: i64) -> Option<String> {
        let updates = updates(&self.git.join("logs/HEAD"));
        updates.into_iter().rfind(|update| update.at >= since && !update.is_own).map(|update| update.new)
    }
}

/// Returns the updates of a reference to another commit, the oldest first.
fn updates(log: &Path) -> Vec<Update> {
    let text = lockstep_fs::read_text(log).unwrap_or_default();
    text.lines().filter_map(update).filter(|update| update.old != update.new).collect()
}

/// Parses `OLD NEW NAME <MAIL> SECONDS ZONE<TAB>MESSAGE`.
fn update(line: &str) -> Option<Update> {
    let (entry, message) = line.split_once('\t').unwrap_or((line, ""));
    let is_own = ["commit", "cherry-pick", "revert", "am"].iter().any(|verb| message.starts_with(verb));
    let (old, rest) = entry.split_once(' ')?;
    let (new, rest) = rest.split_once(' ')?;
    let at = rest.rsplit(' ').nth(1)?.parse().ok()?;
    Some(Update { old: old.to_owned(), new: new.to_owned(), at, is_own })
}
