//! The map as it is written: every entry with its names, or as many as a limit allows.

use jiff::civil::Date;

use crate::document::{DocumentHeader, ENTRY_LINES, PrunedEntries, escaped, write_entry};
use crate::hotspot::Hotspot;
use crate::record::{MapMetadata, MapRecord, MapRecordEntry};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SizeLimit {
    pub lines: usize,
    /// In bytes, for a map that a model reads in full.
    pub bytes: Option<usize>,
}

impl SizeLimit {
    /// The lines of a framework's map, unless something else is set.
    pub const LINES: usize = 300;
    /// The bytes that go with them.
    const BYTES: usize = 15 * 1024;

    /// Returns the limit of a map: `lines` if set, zero for none. A framework's map has a default, and a
    /// limit of bytes in proportion.
    pub fn of(lines: Option<usize>, is_claude: bool) -> Option<Self> {
        let lines = lines.or(is_claude.then_some(Self::LINES)).filter(|lines| *lines > 0)?;
        Some(Self { lines, bytes: is_claude.then_some(lines.saturating_mul(Self::BYTES) / Self::LINES) })
    }

    /// Returns true if a document of this size is within the limit.
    pub fn allows(&self, lines: usize, bytes: usize) -> bool {
        lines <= self.lines && self.bytes.is_none_or(|most| bytes <= most)
    }
}

/// The graph of a record, with everything that follows from it.
#[derive(Debug)]
pub struct MapView<'r> {
    pub record: &'r MapRecord,
    /// The dependents of each entry.
    pub referring: Vec<Vec<u32>>,
    pub hotspots: Vec<Hotspot>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RenderedMap {
    pub text: String,
    pub listed: usize,
    pub pruned: PrunedEntries,
    /// The length of each entry; empty if some were omitted.
    pub blocks: Vec<u32>,
}

impl<'r> MapView<'r> {
    /// Of a record; `hot` are the paths that changed in each of the last runs.
    pub fn new(record: &'r MapRecord, hot: &dyn Fn(&str) -> bool) -> Self {
        let referring = record.incoming_references();
        let heat =
            |(entry, by): (&MapRecordEntry, &Vec<u32>)| Hotspot::from_counts(by.len(), hot(&entry.path));
        let hotspots = record.entries.iter().zip(&referring).map(heat).collect();
        Self { record, referring, hotspots }
    }

    pub(crate) fn name(&self, place: u32) -> &'r str {
        self.record.entries[place as usize].name()
    }

    /// The names of some entries, sorted.
    pub fn names_of(&self, places: &[u32]) -> Vec<&'r str> {
        let mut names: Vec<&str> = places.iter().map(|place| self.name(*place)).collect();
        names.sort_unstable();
        names
    }

    /// The document, within a limit.
    pub fn document(&self, limit: Option<SizeLimit>) -> RenderedMap {
        match limit {
            None => self.whole(),
            Some(limit) => self.render_pruned(limit),
        }
    }

    fn whole(&self) -> RenderedMap {
        let count = self.record.entries.len();
        let mut text = String::with_capacity(count * 200 + 400);
        header(&self.record.about, count, PrunedEntries::default()).write(&mut text);
        let mut pen = self.pen();
        let mut blocks = Vec::with_capacity(count);
        for at in 0..count {
            let before = text.len();
            pen.write(&mut text, at, &self.referring[at], self.hotspots[at]);
            blocks.push(bytes(text.len() - before));
        }
        RenderedMap { text, listed: count, pruned: PrunedEntries::default(), blocks }
    }

    /// Leaves out entries until the rest is within the limit: those of `low` before `medium` before `high`, and of each
    /// those first that were scanned longest ago.
    fn render_pruned(&self, limit: SizeLimit) -> RenderedMap {
        let count = self.record.entries.len();
        let mut pen = self.pen();
        let entry = |at: usize| {
            let mut text = String::new();
            pen.write(&mut text, at, &self.referring[at], self.hotspots[at]);
            text
        };
        let texts: Vec<String> = (0..count).map(entry).collect();
        let mut bytes: usize = texts.iter().map(String::len).sum();
        let key = |at: &usize| -> (Hotspot, Date, usize, &str) {
            let entry = &self.record.entries[*at];
            (self.hotspots[*at], entry.updated, self.referring[*at].len(), &entry.path)
        };
        let mut candidates: Vec<usize> = (0..count).collect();
        candidates.sort_by(|a, b| key(a).cmp(&key(b)));
        let mut is_listed = vec![true; count];
        let mut pruned = PrunedEntries::default();
        let fits = |pruned: PrunedEntries, bytes: usize| {
            let listed = count - pruned.total();
            let (lines, header) = header(&self.record.about, listed, pruned).size();
            limit.allows(lines + listed * ENTRY_LINES, header + bytes)
        };
        for at in candidates {
            if fits(pruned, bytes) {
                break;
            }
            is_listed[at] = false;
            pruned.add(self.hotspots[at]);
            bytes -= texts[at].len();
        }
        let listed = count - pruned.total();
        let mut text = String::with_capacity(bytes + 400);
        header(&self.record.about, listed, pruned).write(&mut text);
        texts
            .iter()
            .zip(&is_listed)
            .filter(|(_, listed)| **listed)
            .for_each(|(entry, _)| text.push_str(entry));
        RenderedMap { text, listed, pruned, blocks: Vec::new() }
    }

    fn pen(&self) -> EntryWriter<'r> {
        // Checked once for all paths instead of at every use.
        let is_plain = self.record.entries.iter().all(|entry| is_plain(&entry.path));
        EntryWriter { is_plain, ..EntryWriter::new(self.record) }
    }
}

pub(crate) fn header(about: &MapMetadata, count: usize, pruned: PrunedEntries) -> DocumentHeader {
    DocumentHeader {
        full: about.full,
        incremental: about.incremental,
        count,
        scope: about.scope.clone(),
        pruned,
    }
}

/// Writes entries of a record, one after the other.
pub(crate) struct EntryWriter<'r> {
    record: &'r MapRecord,
    /// True if no path needs escaping.
    is_plain: bool,
    names: [Vec<&'r str>; 2],
}

impl<'r> EntryWriter<'r> {
    /// For a few entries.
    pub(crate) fn new(record: &'r MapRecord) -> Self {
        Self { record, is_plain: false, names: Default::default() }
    }

    /// Writes the entry at `at`, which those in `referring` reference.
    pub(crate) fn write(&mut self, out: &mut String, at: usize, referring: &[u32], hotspot: Hotspot) {
        let record = self.record;
        let entry = &record.entries[at];
        for (names, places) in self.names.iter_mut().zip([record.refs(at), referring]) {
            names.clear();
            names.extend(places.iter().map(|place| record.entries[*place as usize].name()));
            names.sort_unstable();
        }
        let [refs, refd_by] = &self.names;
        if self.is_plain {
            return write_entry(out, &entry.path, refs, refd_by, hotspot, entry.updated);
        }
        let escape = |names: &[&'r str]| names.iter().map(|name| escaped(name)).collect::<Vec<_>>();
        write_entry(out, &escaped(&entry.path), &escape(refs), &escape(refd_by), hotspot, entry.updated);
    }
}

pub(crate) fn bytes(count: usize) -> u32 {
    u32::try_from(count).expect("no entry has 4 GB")
}

/// Returns true if a path certainly needs no escaping. May return false for some that do not either.
fn is_plain(path: &str) -> bool {
    path.bytes().all(|byte| byte >= 0x20 && !matches!(byte, b',' | b'%' | 0x7f | 0xc2))
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;

    use super::*;
    use crate::document::MapDocument;

    /// Twelve entries that all reference the first; each is older than the one before.
    fn record() -> MapRecord {
        let mut record = MapRecord::empty(date(2026, 2, 14));
        record.about.scope = ".claude/".to_owned();
        for at in 0..12 {
            record.push_minimal(&format!("f{at:02}, odd.md"), if at > 0 { &[0] } else { &[] });
            record.entries[usize::try_from(at).unwrap()].updated = date(2026, 2, 28 - at);
        }
        record
    }

    #[test]
    fn oversized_document_omits_oldest_cold_entries_with_a_note() {
        let record = record();
        let view = MapView::new(&record, &|_| false);
        let whole = view.document(None);
        assert_eq!((whole.listed, whole.pruned), (12, PrunedEntries::default()));
        assert_eq!(MapDocument::parse(&whole.text).unwrap().write(), whole.text);
        let limit = SizeLimit { lines: 40, bytes: None };
        let rendered = view.document(Some(limit));
        assert!(rendered.text.lines().count() <= 40);
        assert!(
            rendered.text.contains("<!-- Pruned: 7 low entries; lockstep map show lists all -->"),
            "{}",
            rendered.text
        );
        let document = MapDocument::parse(&rendered.text).unwrap();
        let paths: Vec<&str> = document.entries.iter().map(|entry| entry.path.as_str()).collect();
        assert_eq!(paths, ["f00, odd.md", "f01, odd.md", "f02, odd.md", "f03, odd.md", "f04, odd.md"]);
        assert_eq!(document.header.count, 5);
        assert_eq!(document.entries[0].refd_by.len(), 11, "what was left out is still referred to");
        let tight = view.document(Some(SizeLimit { lines: 1_000, bytes: Some(700) }));
        assert!(tight.text.len() <= 700 && tight.pruned.total() > 0);
        let hopeless = view.document(Some(SizeLimit { lines: 5, bytes: None }));
        assert_eq!(hopeless.listed, 0);
        assert!(hopeless.text.contains("<!-- Pruned: 11 low, 1 high entries; "), "{}", hopeless.text);
        assert_eq!(MapDocument::parse(&hopeless.text).unwrap().write(), hopeless.text);
        let hot = view.document(Some(SizeLimit { lines: 13, bytes: None }));
        assert_eq!((hot.listed, hot.pruned), (1, PrunedEntries { low: 11, medium: 0, high: 0 }));
    }

    #[test]
    fn the_claude_scope_has_a_default_limit_and_zero_disables_it() {
        assert_eq!(SizeLimit::of(None, true), Some(SizeLimit { lines: 300, bytes: Some(15_360) }));
        assert_eq!(SizeLimit::of(None, false), None);
        assert_eq!(SizeLimit::of(Some(0), true), None);
        assert_eq!(SizeLimit::of(Some(600), true), Some(SizeLimit { lines: 600, bytes: Some(30_720) }));
        assert_eq!(SizeLimit::of(Some(600), false), Some(SizeLimit { lines: 600, bytes: None }));
    }
}
