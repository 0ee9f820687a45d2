//! Merges several waiting alerts into one.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::{Alert, AlertDependent, AlertFindings, ChangedFile, display_names};

impl Alert {
    /// Merges alerts, oldest first, into one with correct totals. `None` if there are none, or if one of them
    /// is of an older version and does not name its files.
    pub fn merge(alerts: &[Self]) -> Option<Self> {
        let (newest, earlier) = alerts.split_last()?;
        if earlier.is_empty() {
            return Some(newest.clone());
        }
        let is_old = |alert: &Self| alert.files.len() != alert.changed.len();
        if alerts.iter().any(is_old) {
            return None;
        }
        // The newest alert describes a file. Earlier findings stay, because each analysis covers the changes since the one before;
        // but an analysis that was cut off is replaced by a later one of the same files.
        let mut newest_of: BTreeMap<PathBuf, (usize, ChangedFile)> = BTreeMap::new();
        for (at, alert) in alerts.iter().enumerate() {
            newest_of.extend(alert.files.iter().map(|file| (file.path.clone(), (at, file.clone()))));
        }
        let is_truncated = |alert: &Self| alert.findings.as_ref().is_some_and(|findings| findings.truncated);
        let is_newest = |at: usize| newest_of.values().any(|(newest, _)| *newest == at);
        let valid = alerts.iter().enumerate().filter(|(at, alert)| !is_truncated(alert) || is_newest(*at));
        let findings = merged(valid.map(|(_, alert)| alert));
        let files: Vec<ChangedFile> = newest_of.into_values().map(|(_, file)| file).collect();
        if files.iter().all(|file| file.is_unanalysed) {
            let changed = display_names(&files.iter().map(|file| file.path.clone()).collect::<Vec<_>>());
            return Some(Self { changed, files, ..newest.clone() });
        }
        Some(Self::analysed(files, findings))
    }
}

fn merged<'a>(alerts: impl Iterator<Item = &'a Alert>) -> AlertFindings {
    let mut found = AlertFindings { dependents: Vec::new(), truncated: false, broken_in_file: Vec::new() };
    for findings in alerts.filter_map(|alert| alert.findings.as_ref()) {
        found.truncated |= findings.truncated;
        for own in &findings.broken_in_file {
            found.broken_in_file.retain(|known| known.file != own.file);
            found.broken_in_file.push(own.clone());
        }
        for finding in &findings.dependents {
            match found.dependents.iter_mut().find(|known| known.dependent == finding.dependent) {
                Some(known) => add(known, finding),
                None => found.dependents.push(finding.clone()),
            }
        }
    }
    found
}

fn add(known: &mut AlertDependent, finding: &AlertDependent) {
    known.breaks |= finding.breaks;
    extend(&mut known.refs, &finding.refs);
    extend(&mut known.names, &finding.names);
    extend(&mut known.lines, &finding.lines);
    known.lines.sort_unstable();
}

fn extend<T: Clone + PartialEq>(to: &mut Vec<T>, from: &[T]) {
    let new: Vec<T> = from.iter().filter(|item| !to.contains(item)).cloned().collect();
    to.extend(new);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::SessionId;

    fn alert(file: &str, dependent: &str, line: u32) -> Alert {
        let finding = AlertDependent {
            dependent: dependent.to_owned(),
            refs: vec![file.to_owned()],
            names: Vec::new(),
            lines: vec![line],
            breaks: false,
        };
        let files = vec![ChangedFile { path: PathBuf::from("/r").join(file), ..ChangedFile::default() }];
        let findings =
            AlertFindings { dependents: vec![finding], truncated: false, broken_in_file: Vec::new() };
        Alert::analysed(files, findings)
    }

    #[test]
    fn totals_are_true_and_nothing_is_counted_twice() {
        let merged =
            Alert::merge(&[alert("a.py", "x.py", 3), alert("b.py", "x.py", 1), alert("a.py", "y.py", 2)])
                .unwrap();
        assert_eq!(merged.changed, ["a.py", "b.py"]);
        let findings = merged.findings.unwrap();
        assert_eq!(findings.dependents.len(), 2);
        assert_eq!(
            (&*findings.dependents[0].refs, &*findings.dependents[0].lines),
            (&["a.py".to_owned(), "b.py".to_owned()][..], &[1, 3][..])
        );
    }

    #[test]
    fn an_analysis_replaces_the_alert_that_there_was_none() {
        let session = SessionId::new("s").unwrap();
        let early = Alert::not_analysed(&session, &[PathBuf::from("/r/a.py")]);
        let merged = Alert::merge(&[early.clone(), alert("a.py", "x.py", 1)]).unwrap();
        assert!(!merged.files[0].is_unanalysed && merged.findings.is_some());
        let both = Alert::merge(&[early.clone(), Alert::not_analysed(&session, &[PathBuf::from("/r/b.py")])]);
        assert!(both.unwrap().findings.is_none());
        let old = Alert { files: Vec::new(), ..early };
        assert_eq!(Alert::merge(&[old, alert("a.py", "x.py", 1)]), None);
    }
}
