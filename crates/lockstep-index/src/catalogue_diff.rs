//! The differences between two catalogues. Pure.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use lockstep_model::change::ChangeKind;

use crate::catalogue::{Catalogue, CataloguedDirectory};
use crate::stamp::CatalogueStamp;

/// Returns the changes from `old` to `new`, by path relative to the root: written, created and deleted files,
/// and renames.
pub(crate) fn diff(old: &Catalogue, new: &Catalogue) -> Vec<(PathBuf, ChangeKind)> {
    let mut found = DiffBuilder::default();
    let none = CataloguedDirectory::default();
    merge(
        &old.directories,
        &new.directories,
        |dir| dir.path.as_path(),
        |old, new| {
            let path = old.or(new).map_or(Path::new(""), |dir| dir.path.as_path());
            let (old, new) = (old.unwrap_or(&none), new.unwrap_or(&none));
            if !Arc::ptr_eq(&old.files, &new.files) {
                merge(&old.files, &new.files, file_name, |old, new| found.file(path, old, new));
            }
        },
    );
    found.into_changes()
}

fn file_name(file: &(OsString, CatalogueStamp)) -> &OsStr {
    &file.0
}

/// Merges two sorted lists. `visit` is called once per key, with the items of both lists.
fn merge<'a, T, K: Ord + ?Sized>(
    old: &'a [T],
    new: &'a [T],
    key: impl Fn(&T) -> &K,
    mut visit: impl FnMut(Option<&'a T>, Option<&'a T>),
) {
    let (mut old, mut new) = (old.iter().peekable(), new.iter().peekable());
    loop {
        let order = match (old.peek(), new.peek()) {
            (None, None) => return,
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (Some(old), Some(new)) => key(old).cmp(key(new)),
        };
        match order {
            Ordering::Less => visit(old.next(), None),
            Ordering::Greater => visit(None, new.next()),
            Ordering::Equal => visit(old.next(), new.next()),
        }
    }
}

#[derive(Default)]
struct DiffBuilder {
    written: Vec<PathBuf>,
    created: Vec<(PathBuf, CatalogueStamp)>,
    deleted: Vec<(PathBuf, CatalogueStamp)>,
}

impl DiffBuilder {
    fn file(
        &mut self,
        dir: &Path,
        old: Option<&(OsString, CatalogueStamp)>,
        new: Option<&(OsString, CatalogueStamp)>,
    ) {
        match (old, new) {
            (Some((_, before)), Some((_, now))) if before.same(now) => {}
            (Some((name, _)), Some(_)) => self.written.push(dir.join(name)),
            (Some((name, stamp)), None) => self.deleted.push((dir.join(name), *stamp)),
            (None, Some((name, stamp))) => self.created.push((dir.join(name), *stamp)),
            (None, None) => {}
        }
    }

    /// Returns the changes. A deleted and a created file with the same inode, size and time are reported as a
    /// rename.
    fn into_changes(self) -> Vec<(PathBuf, ChangeKind)> {
        let mut appeared: HashMap<_, Vec<PathBuf>> = HashMap::new();
        for (path, stamp) in self.created.into_iter().rev() {
            appeared.entry(stamp.identity()).or_default().push(path);
        }
        let mut changes: Vec<(PathBuf, ChangeKind)> =
            self.written.into_iter().map(|path| (path, ChangeKind::Written)).collect();
        for (old, stamp) in self.deleted {
            match appeared.get_mut(&stamp.identity()).and_then(Vec::pop) {
                Some(new) => {
                    changes.push((old.clone(), ChangeKind::RenamedTo(new.clone())));
                    changes.push((new, ChangeKind::RenamedFrom(old)));
                }
                None => changes.push((old, ChangeKind::Deleted)),
            }
        }
        let created = appeared.into_values().flatten().map(|path| (path, ChangeKind::Created));
        changes.extend(created);
        changes.sort_by(|(a, _), (b, _)| a.cmp(b));
        changes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn catalogue(files: &[(&str, u64)]) -> Catalogue {
        let mut catalogue = Catalogue::default();
        for (path, inode) in files {
            catalogue.set(Path::new(path), CatalogueStamp { size: 1, mtime: 1, inode: *inode, digest: 0 });
        }
        catalogue
    }

    #[test]
    fn every_kind_of_difference_is_reported() {
        let old = catalogue(&[("a", 1), ("d/gone", 2), ("d/same", 3), ("old", 4), ("w", 5)]);
        let new = catalogue(&[("a", 1), ("d/same", 3), ("e/new", 4), ("fresh", 6), ("w", 7)]);
        assert_eq!(
            diff(&old, &new),
            [
                ("d/gone".into(), ChangeKind::Deleted),
                ("e/new".into(), ChangeKind::RenamedFrom("old".into())),
                ("fresh".into(), ChangeKind::Created),
                ("old".into(), ChangeKind::RenamedTo("e/new".into())),
                ("w".into(), ChangeKind::Written),
            ]
        );
        assert!(diff(&old, &old).is_empty());
    }
}
