//! The new document as pieces of the old one and new pieces: most of it is neither read nor rendered.

use std::collections::HashSet;
use std::ops::Range;

use crate::document::PrunedEntries;
use crate::hotspot::Hotspot;
use crate::record::{MapRecord, MapRecordEntry};
use crate::view::{EntryWriter, bytes, header};

/// A document, as pieces of the former one and new ones.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocumentPatch {
    /// The concatenated pieces are the document. Pieces of the former document are in its order.
    pub pieces: Vec<DocumentChunk>,
    /// The length of each entry.
    pub blocks: Vec<u32>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DocumentChunk {
    /// These bytes of the former document.
    Reused(Range<u64>),
    New(String),
}

impl DocumentPatch {
    /// Returns true if it equals the old document of `bytes` bytes.
    pub fn is_identity(&self, bytes: u64) -> bool {
        matches!(&*self.pieces, [DocumentChunk::Reused(range)] if *range == (0..bytes))
    }

    fn keep(&mut self, range: Range<u64>) {
        match self.pieces.last_mut() {
            Some(DocumentChunk::Reused(last)) if last.end == range.start => last.end = range.end,
            _ => self.pieces.push(DocumentChunk::Reused(range)),
        }
    }

    fn add(&mut self, text: &str) {
        match self.pieces.last_mut() {
            Some(DocumentChunk::New(last)) => last.push_str(text),
            _ => self.pieces.push(DocumentChunk::New(text.to_owned())),
        }
    }
}

/// No header has more bytes, unless its scope is as long as a page.
const HEADER: u64 = 4_096;

/// Assembles the document of a record. `former` reads from the last written document, and only entries in
/// `changed_entries` differ.
///
/// Returns `None` if too few positions are known, or the old document differs from the record.
pub fn render_incremental(
    record: &MapRecord,
    hot: &dyn Fn(&str) -> bool,
    changed_entries: &HashSet<u32>,
    former: &dyn Fn(Range<u64>) -> Option<Vec<u8>>,
) -> Option<DocumentPatch> {
    let count = record.entries.len();
    let is_new =
        |(at, entry): &(u32, &MapRecordEntry)| entry.block.bytes == 0 || changed_entries.contains(at);
    let anew: Vec<u32> = (0_u32..).zip(&record.entries).filter(is_new).map(|(at, _)| at).collect();
    if anew.len() > count / 4 {
        return None;
    }
    let size = record.about.written.size;
    let head = former(0..size.min(HEADER))?;
    let first = head.windows(5).position(|bytes| bytes == b"\n\n## ")? + 1;
    let referring = referring(record, &anew);
    let mut drawing = DocumentPatch { pieces: Vec::new(), blocks: Vec::with_capacity(count) };
    let mut text = String::new();
    header(&record.about, count, PrunedEntries::default()).write(&mut text);
    if text.as_bytes() == &head[..first] {
        drawing.keep(0..first as u64)
    } else {
        drawing.add(&text)
    }
    let mut pen = EntryWriter::new(record);
    let mut anew = anew.iter().zip(&referring).peekable();
    for (at, entry) in (0_u32..).zip(&record.entries) {
        let start = first as u64 + u64::from(entry.block.start);
        let known = start..start + u64::from(entry.block.bytes);
        let Some((_, referring)) = anew.next_if(|(anew, _)| **anew == at) else {
            drawing.keep(known);
            drawing.blocks.push(entry.block.bytes);
            continue;
        };
        text.clear();
        pen.write(&mut text, at as usize, referring, Hotspot::from_counts(referring.len(), hot(&entry.path)));
        drawing.blocks.push(bytes(text.len()));
        // A rescanned entry often has the same text.
        let is_same = entry.block.bytes as usize == text.len()
            && former(known.clone()).is_some_and(|before| before == text.as_bytes());
        if is_same { drawing.keep(known) } else { drawing.add(&text) }
    }
    Some(drawing)
}

/// Returns the dependents of some entries.
fn referring(record: &MapRecord, wanted: &[u32]) -> Vec<Vec<u32>> {
    let mut is_wanted = vec![false; record.entries.len()];
    wanted.iter().for_each(|at| is_wanted[*at as usize] = true);
    let mut referring = vec![Vec::new(); wanted.len()];
    for (from, refs) in (0_u32..).zip(record.all_refs()) {
        for to in refs.iter().filter(|to| is_wanted[**to as usize]) {
            if let Ok(at) = wanted.binary_search(to) {
                referring[at].push(from);
            }
        }
    }
    referring
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;

    use super::*;
    use crate::record::{DocumentStamp, Renumbering};
    use crate::view::MapView;

    /// Twelve entries in a ring, as written.
    fn written() -> (MapRecord, String) {
        let mut record = MapRecord::empty(date(2026, 2, 14));
        record.about.scope = ".".to_owned();
        (0..12).for_each(|at| record.push_minimal(&format!("f{at:02}.md"), &[(at + 1) % 12]));
        let rendered = MapView::new(&record, &|_| false).document(None);
        record.set_entry_sizes(&rendered.blocks);
        record.about.written = DocumentStamp { size: rendered.text.len() as u64, ..DocumentStamp::default() };
        (record, rendered.text)
    }

    fn drawn(record: &MapRecord, changed_entries: &[u32], former: &str) -> Option<DocumentPatch> {
        let read = |range: Range<u64>| {
            let range = usize::try_from(range.start).ok()?..usize::try_from(range.end).ok()?;
            Some(former.as_bytes().get(range)?.to_vec())
        };
        render_incremental(record, &|_| false, &changed_entries.iter().copied().collect(), &read)
    }

    fn text(drawing: &DocumentPatch, former: &str) -> String {
        let piece = |piece: &DocumentChunk| match piece {
            DocumentChunk::Reused(range) => {
                former[range.start.try_into().unwrap()..range.end.try_into().unwrap()].to_owned()
            }
            DocumentChunk::New(text) => text.clone(),
        };
        drawing.pieces.iter().map(piece).collect()
    }

    #[test]
    fn unchanged_state_reuses_the_whole_document() {
        let (record, former) = written();
        for changed_entries in [&[][..], &[3], &[0, 11]] {
            let drawing = drawn(&record, changed_entries, &former).unwrap();
            assert!(drawing.is_identity(former.len() as u64), "{drawing:?}");
        }
        assert_eq!(drawn(&record, &[0, 1, 2, 3], &former), None, "too many");
        assert_eq!(drawn(&record, &[], &former.replace("\n\n## ", "\n")), None, "something else");
    }

    #[test]
    fn only_changed_entries_are_rendered() {
        let (mut record, former) = written();
        record.set_refs(2, &[3, 4]);
        let drawing = drawn(&record, &[2, 4], &former).unwrap();
        let whole = MapView::new(&record, &|_| false).document(None);
        assert_eq!(text(&drawing, &former), whole.text);
        assert_eq!(drawing.blocks, whole.blocks);
        assert_eq!(drawing.pieces.len(), 5);
        record.set_refs(2, &[3]);
        record.about.incremental = date(2026, 2, 15);
        let drawing = drawn(&record, &[], &former).unwrap();
        assert_eq!(text(&drawing, &former), MapView::new(&record, &|_| false).document(None).text);
        assert!(!drawing.is_identity(former.len() as u64));
    }

    #[test]
    fn an_entry_that_came_or_went_leaves_the_others_as_they_are() {
        let (mut record, former) = written();
        record.renumber(&Renumbering { removed: Vec::new(), added: vec![3] }).unwrap();
        record.entries[3].path = "f02a.md".into();
        record.entries[3].name_bytes = 7;
        let drawing = drawn(&record, &[], &former).unwrap();
        assert_eq!(text(&drawing, &former), MapView::new(&record, &|_| false).document(None).text);
        let (mut record, former) = written();
        let moves = Renumbering { removed: vec![11], added: Vec::new() };
        assert_eq!(record.renumber(&moves), Some(vec![10]));
        let drawing = drawn(&record, &[0, 10], &former).unwrap();
        assert_eq!(text(&drawing, &former), MapView::new(&record, &|_| false).document(None).text);
    }
}
