//! The check of a document: everything in it that is wrong, compared with the files as they are.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use jiff::civil::Date;
use jiff::{Span, ToSpan as _};
use lockstep_refs::world::base;
use serde::Serialize;

use crate::document::{DocumentEntry, MapDocument, ParseError};
use crate::hotspot::Hotspot;
use crate::report::StalenessReport;
use crate::scope::ScopePattern;
use crate::short_names::ShortNameIndex;
use crate::view::{MapView, SizeLimit};

/// An entry may be older than its file by this number of days.
const STALE_AFTER_DAYS: i64 = 7;

/// The current state that a document is compared with.
pub struct ExpectedMap<'a> {
    pub view: &'a MapView<'a>,
    pub scope: &'a ScopePattern,
    pub limit: Option<SizeLimit>,
    pub today: Date,
    /// Returns true if there is a file at a path of the project, in scope or not.
    pub exists: &'a dyn Fn(&str) -> bool,
    /// Returns true if a file changed after a day.
    pub changed_since: &'a dyn Fn(&str, Date) -> bool,
    /// Returns true if a file changed in each of the last runs; `None` if the runs are unknown.
    pub is_hot: &'a dyn Fn(&str) -> Option<bool>,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct MapFinding {
    pub kind: Defect,
    /// The path of the entry, or of the file without an entry.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    pub what: String,
}

/// The kinds of errors in a map.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Defect {
    /// The text is not a map, or is missing.
    Unparseable,
    /// The header has another number of entries, or of omitted entries.
    Count,
    /// The header has another scope.
    Scope,
    /// The document exceeds its limit.
    Size,
    /// Entries are not sorted by path, or there are two of one path.
    Order,
    /// An entry of a deleted file.
    Orphaned,
    /// A file without an entry.
    Missing,
    /// An entry of a file that must have none.
    Excluded,
    /// A reference that the other side does not have.
    OneSided,
    /// A reference to a file without an entry.
    Unknown,
    /// References that are not those of the file.
    References,
    /// The hotspot differs from that of the references.
    Hotspot,
    Future,
    /// An entry older than seven days whose file changed since.
    Stale,
}

impl fmt::Display for Defect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unparseable => "unparseable",
            Self::Count => "count",
            Self::Scope => "scope",
            Self::Size => "size",
            Self::Order => "order",
            Self::Orphaned => "orphaned",
            Self::Missing => "missing",
            Self::Excluded => "excluded",
            Self::OneSided => "one-sided",
            Self::Unknown => "unknown",
            Self::References => "references",
            Self::Hotspot => "hotspot",
            Self::Future => "future",
            Self::Stale => "stale",
        })
    }
}

/// The action that fixes the findings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Recommendation {
    None,
    /// `lockstep map update`.
    Incremental,
    /// `lockstep map build`.
    FullRegeneration,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MapCheckReport {
    /// Everything, sorted by kind and path.
    pub findings: Vec<MapFinding>,
    /// The result in numbers, with a recommendation.
    pub report: StalenessReport,
}

pub fn check(text: &str, truth: &ExpectedMap<'_>) -> MapCheckReport {
    match MapDocument::parse(text) {
        Ok(document) => MapChecker { document: &document, truth, findings: Vec::new() }.run(text),
        Err(error) => unparseable(&error),
    }
}

pub fn missing_document() -> MapCheckReport {
    let finding = MapFinding { kind: Defect::Unparseable, path: None, what: "there is no map".to_owned() };
    let recommendation = Recommendation::FullRegeneration;
    MapCheckReport {
        findings: vec![finding],
        report: StalenessReport { total_entries: 0, stale_count: 0, missing_count: 0, recommendation },
    }
}

fn unparseable(error: &ParseError) -> MapCheckReport {
    let finding = MapFinding { kind: Defect::Unparseable, path: None, what: error.to_string() };
    let recommendation = Recommendation::FullRegeneration;
    MapCheckReport {
        findings: vec![finding],
        report: StalenessReport { total_entries: 0, stale_count: 0, missing_count: 0, recommendation },
    }
}

struct MapChecker<'a> {
    document: &'a MapDocument,
    truth: &'a ExpectedMap<'a>,
    findings: Vec<MapFinding>,
}

impl MapChecker<'_> {
    fn run(mut self, text: &str) -> MapCheckReport {
        self.size(text);
        self.order();
        self.presence();
        self.check_symmetry();
        for entry in &self.document.entries {
            self.entry(entry);
        }
        self.findings.sort();
        self.findings.dedup();
        let count =
            |kinds: &[Defect]| self.findings.iter().filter(|finding| kinds.contains(&finding.kind)).count();
        let total = self.document.entries.len();
        let stale = count(&[Defect::Stale]);
        let recommendation = match self.findings.is_empty() {
            true => Recommendation::None,
            false if stale * 10 > total * 3 => Recommendation::FullRegeneration,
            false => Recommendation::Incremental,
        };
        let report = StalenessReport {
            total_entries: total,
            stale_count: stale,
            missing_count: count(&[Defect::Orphaned, Defect::Missing]),
            recommendation,
        };
        MapCheckReport { findings: self.findings, report }
    }

    fn add(&mut self, kind: Defect, path: Option<&str>, what: impl Into<String>) {
        self.findings.push(MapFinding { kind, path: path.map(str::to_owned), what: what.into() });
    }

    fn size(&mut self, text: &str) {
        let ComparedHeader { count, scope, .. } = ComparedHeader::of(self.document);
        let entries = self.document.entries.len();
        if count != entries {
            self.add(Defect::Count, None, format!("the header counts {count} entries, there are {entries}"));
        }
        let wanted = self.truth.scope.text();
        if scope != wanted {
            self.add(Defect::Scope, None, format!("the header says the scope {scope:?}, it is {wanted:?}"));
        }
        let lines = text.lines().count();
        if let Some(limit) = self.truth.limit
            && entries > 0
            && !limit.allows(lines, text.len())
        {
            let bytes = limit.bytes.map(|bytes| format!(" and {bytes} bytes")).unwrap_or_default();
            let what =
                format!("{lines} lines and {} bytes, of at most {} lines{bytes}", text.len(), limit.lines);
            self.add(Defect::Size, None, what);
        }
        let header = &self.document.header;
        for (what, day) in [("last full scan", header.full), ("last incremental", header.incremental)] {
            if day > self.truth.today {
                self.add(Defect::Future, None, format!("the {what}, {day}, is yet to come"));
            }
        }
    }

    fn order(&mut self) {
        for pair in self.document.entries.windows(2) {
            let (before, after) = (&pair[0].path, &pair[1].path);
            if before == after {
                self.add(Defect::Order, Some(after), "has two entries");
            } else if before > after {
                self.add(Defect::Order, Some(after), format!("stands behind {before}"));
            }
        }
    }

    /// Entries without a file, and files without an entry.
    fn presence(&mut self) {
        let record = self.truth.view.record;
        let listed: BTreeSet<&str> = self.document.entries.iter().map(|entry| entry.path.as_str()).collect();
        for path in &listed {
            if record.find(path).is_some() {
                continue;
            }
            if (self.truth.exists)(path) {
                let why = if self.truth.scope.contains(path) {
                    "is ignored, or no text"
                } else {
                    "is not in the map's scope"
                };
                self.add(Defect::Excluded, Some(path), why);
            } else {
                self.add(Defect::Orphaned, Some(path), "its file is gone");
            }
        }
        let all = record.entries.iter().zip(&self.truth.view.hotspots);
        let mut unlisted: Vec<(Hotspot, &str)> = all
            .filter(|(entry, _)| !listed.contains(&*entry.path))
            .map(|(entry, hotspot)| (*hotspot, &*entry.path))
            .collect();
        let pruned = self.document.header.pruned;
        if pruned.total() > unlisted.len() {
            let (described, count) = (pruned.describe(), unlisted.len());
            let what = format!("the header says that {described} entries were left out, {count} are");
            self.add(Defect::Count, None, what);
        }
        // The document does not name the entries that it leaves out. The coldest go first; those beyond the number are missing.
        unlisted.sort_unstable();
        for (_, path) in unlisted.into_iter().skip(pruned.total()) {
            self.add(Defect::Missing, Some(path), "has no entry");
        }
    }

    /// References that only one side has, as far as both are listed.
    fn check_symmetry(&mut self) {
        let entries = &self.document.entries;
        let meanings = ShortNameIndex::new(entries.iter().map(|entry| entry.path.as_str()));
        let pairs = |of: fn(&DocumentEntry) -> &Vec<String>| -> BTreeSet<(usize, usize)> {
            let all = entries.iter().enumerate();
            all.flat_map(|(at, entry)| {
                of(entry).iter().filter_map(|name| meanings.find(name)).map(move |to| (at, to))
            })
            .collect()
        };
        let refs = pairs(|entry| &entry.refs);
        let refd_by = pairs(|entry| &entry.refd_by);
        for (from, to) in &refs {
            if !refd_by.contains(&(*to, *from)) {
                let (from, to) = (&entries[*from].path, &entries[*to].path);
                self.add(
                    Defect::OneSided,
                    Some(from),
                    format!("references {to}, whose refd_by does not say so"),
                );
            }
        }
        for (to, from) in &refd_by {
            if !refs.contains(&(*from, *to)) {
                let (from, to) = (&entries[*from].path, &entries[*to].path);
                self.add(
                    Defect::OneSided,
                    Some(to),
                    format!("is referenced by {from}, whose refs do not say so"),
                );
            }
        }
        self.unknown(&meanings);
    }

    /// Reports names that match no entry. If entries were omitted, their names match none.
    fn unknown(&mut self, listed: &ShortNameIndex<'_>) {
        let record = self.truth.view.record;
        let all = ShortNameIndex::new(record.entries.iter().map(|entry| &*entry.path));
        let mut found: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for entry in &self.document.entries {
            for name in entry.refs.iter().chain(&entry.refd_by) {
                let known = listed.find(name).is_some() || all.find(name).is_some();
                if !known {
                    found.entry(&entry.path).or_default().insert(name);
                }
            }
        }
        for (path, names) in found {
            let names: Vec<&str> = names.into_iter().collect();
            self.add(Defect::Unknown, Some(path), format!("names what has no entry: {}", names.join(", ")));
        }
    }

    /// Reports errors of one entry alone.
    fn entry(&mut self, entry: &DocumentEntry) {
        let path = Some(entry.path.as_str());
        let is_hot = (self.truth.is_hot)(&entry.path);
        let expected = Hotspot::from_counts(entry.refd_by.len(), is_hot.unwrap_or(false));
        let may_be_hot = is_hot.is_none() && entry.hotspot == Hotspot::High;
        if expected != entry.hotspot && !may_be_hot {
            self.add(Defect::Hotspot, path, format!("is {}, but should be {expected}", entry.hotspot));
        }
        if entry.updated > self.truth.today {
            self.add(Defect::Future, path, format!("{} is yet to come", entry.updated));
        }
        let Some(at) = self.truth.view.record.find(&entry.path) else { return };
        let age: Span = entry.updated.until(self.truth.today).unwrap_or_else(|_| 0.days());
        let since = (self.truth.changed_since)(&entry.path, entry.updated);
        if i64::from(age.get_days()) > STALE_AFTER_DAYS && since {
            let what = format!("was scanned on {}, and its file changed since", entry.updated);
            self.add(Defect::Stale, path, what);
        }
        let view = self.truth.view;
        let sides =
            [("refs", &entry.refs, view.record.refs(at)), ("refd_by", &entry.refd_by, &*view.referring[at])];
        for (key, listed, places) in sides {
            let wanted = view.names_of(places);
            if !is_same(listed, &wanted) {
                self.add(Defect::References, path, difference(key, listed, &wanted));
            }
        }
    }
}

struct ComparedHeader<'a> {
    count: usize,
    scope: &'a str,
}

impl<'a> ComparedHeader<'a> {
    fn of(document: &'a MapDocument) -> Self {
        Self { count: document.header.count, scope: &document.header.scope }
    }
}

fn is_same(listed: &[String], wanted: &[&str]) -> bool {
    listed.len() == wanted.len() && listed.iter().zip(wanted).all(|(listed, wanted)| listed == wanted)
}

/// Describes superfluous and missing names of a list. If there are neither, it is unsorted or has names that
/// are too long.
fn difference(key: &str, listed: &[String], wanted: &[&str]) -> String {
    let ends = |name: &str, end: &str| {
        name == end || name.strip_suffix(end).is_some_and(|before| before.ends_with('/'))
    };
    let same = |a: &str, b: &str| base(a) == base(b) && (ends(a, b) || ends(b, a));
    let many: Vec<&str> = listed
        .iter()
        .map(String::as_str)
        .filter(|name| !wanted.iter().any(|candidate| same(name, candidate)))
        .collect();
    let few: Vec<&str> =
        wanted.iter().copied().filter(|name| !listed.iter().any(|candidate| same(candidate, name))).collect();
    let mut parts = Vec::new();
    if !few.is_empty() {
        parts.push(format!("lacks {}", few.join(", ")));
    }
    if !many.is_empty() {
        parts.push(format!("has {}, which it should not", many.join(", ")));
    }
    if parts.is_empty() {
        parts.push("is not sorted, or not in the shortest names".to_owned());
    }
    format!("{key} {}", parts.join("; "))
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;
    use proptest::prelude::*;

    use super::*;
    use crate::record::MapRecord;

    fn record(refs: &[Vec<u32>]) -> MapRecord {
        let mut record = MapRecord::empty(date(2026, 2, 14));
        record.about.scope = ".claude/".to_owned();
        let count = u32::try_from(refs.len()).unwrap();
        for (at, refs) in refs.iter().enumerate() {
            let mut refs: Vec<u32> = refs.iter().map(|to| to % count).collect();
            refs.sort_unstable();
            refs.dedup();
            record.push_minimal(&format!(".claude/skills/s{at:03}/SKILL.md"), &refs);
        }
        record
    }

    proptest! {
        #[test]
        fn written_document_is_within_its_limit_and_passes_the_check(
            refs in proptest::collection::vec(proptest::collection::vec(0_u32..40, 0..30), 0..40),
            lines in 1_usize..300,
        ) {
            let record = record(&refs);
            let view = MapView::new(&record, &|_| false);
            let limit = SizeLimit::of(Some(lines), true).unwrap();
            let made = view.document(Some(limit));
            prop_assert!(made.listed == 0 || limit.allows(made.text.lines().count(), made.text.len()));
            prop_assert_eq!(made.listed + made.pruned.total(), record.entries.len());
            let scope = ScopePattern::new(".claude/", None);
            let truth = ExpectedMap {
                view: &view,
                scope: &scope,
                limit: Some(limit),
                today: date(2026, 2, 14),
                exists: &|_| true,
                changed_since: &|_, _| false,
                is_hot: &|_| Some(false),
            };
            prop_assert_eq!(check(&made.text, &truth).findings, []);
        }
    }
}
