//! Merges tables, so that many updates do not leave many small ones.

use std::collections::BTreeMap;

use lockstep_text::bytes::{ByteReader, put_varint};

use super::facts::document_of;
use super::sorted_table::{CorruptTable, SortedTable, TableCursor, TableWriter};

/// The number of tables above which some are merged.
const COMPACTION_THRESHOLD: usize = 8;

/// Chooses the tables to merge, by their sizes; none if there are few. The result has the smallest tables,
/// and larger ones as long as each is not much larger than the sum of those before. Large tables are
/// therefore seldom rewritten.
pub(crate) fn choose(sizes: &[u64]) -> Vec<usize> {
    if sizes.len() <= COMPACTION_THRESHOLD {
        return Vec::new();
    }
    let mut order: Vec<usize> = (0..sizes.len()).collect();
    order.sort_by_key(|at| sizes[*at]);
    let mut sum = 0;
    let mut chosen = Vec::new();
    for at in order {
        if chosen.len() >= 2 && sizes[at] > 4 * sum {
            break;
        }
        sum += sizes[at];
        chosen.push(at);
    }
    chosen.sort_unstable();
    chosen
}

/// Merges several tables of words. Documents for which `is_alive` returns false are left out.
pub(crate) fn words(
    tables: &[&SortedTable],
    is_alive: impl Fn(u32) -> bool,
) -> Result<Vec<u8>, CorruptTable> {
    merge(tables, |writer, key, payloads| put_merged(writer, key, payloads, &is_alive))
}

/// Writes the documents of several payloads.
fn put_merged(
    writer: &mut TableWriter<Vec<u8>>,
    key: u64,
    payloads: &[Vec<u8>],
    is_alive: impl Fn(u32) -> bool,
) -> Result<(), CorruptTable> {
    let mut all = Vec::new();
    for payload in payloads {
        all.extend(
            documents(payload).ok_or(CorruptTable)?.into_iter().filter(|document| is_alive(*document)),
        );
    }
    all.sort_unstable();
    all.dedup();
    let mut payload = Vec::new();
    put_documents(&mut payload, all.iter().copied());
    if all.is_empty() { Ok(()) } else { Ok(writer.put(key, &payload)?) }
}

/// Merges several tables of facts. Documents for which `is_alive` returns false are left out.
pub(crate) fn facts(
    tables: &[&SortedTable],
    is_alive: impl Fn(u32) -> bool,
) -> Result<Vec<u8>, CorruptTable> {
    merge(tables, |writer, key, payloads| match (document_of(key), payloads.last()) {
        (Some(document), Some(payload)) if is_alive(document) => Ok(writer.put(key, payload)?),
        (Some(_), _) => Ok(()),
        // The documents that contain a name, or all documents.
        (None, _) => put_merged(writer, key, payloads, &is_alive),
    })
}

/// Iterates over the tables in parallel. `visit` is called once per key, with the payloads of all tables in
/// their order.
fn merge(
    tables: &[&SortedTable],
    mut visit: impl FnMut(&mut TableWriter<Vec<u8>>, u64, &[Vec<u8>]) -> Result<(), CorruptTable>,
) -> Result<Vec<u8>, CorruptTable> {
    let mut cursors = tables.iter().map(|table| TableCursor::new(table)).collect::<Result<Vec<_>, _>>()?;
    let mut heads: BTreeMap<(u64, usize), Vec<u8>> = BTreeMap::new();
    for (at, cursor) in cursors.iter_mut().enumerate() {
        heads.extend(cursor.next()?.map(|(key, payload)| ((key, at), payload)));
    }
    let mut writer = TableWriter::new(Vec::new())?;
    let mut payloads = Vec::new();
    while let Some(((key, at), payload)) = heads.pop_first() {
        heads.extend(cursors[at].next()?.map(|(key, payload)| ((key, at), payload)));
        payloads.push(payload);
        if heads.first_key_value().is_none_or(|((next, _), _)| *next != key) {
            visit(&mut writer, key, &payloads)?;
            payloads.clear();
        }
    }
    Ok(writer.finish()?)
}

/// Encodes ascending document numbers as deltas.
pub(crate) fn put_documents(out: &mut Vec<u8>, documents: impl Iterator<Item = u32>) {
    let mut last = 0;
    for document in documents {
        put_varint(out, u64::from(document - last));
        last = document;
    }
}

/// Decodes the output of [`put_documents`]. `None` if it is damaged.
pub(crate) fn documents(payload: &[u8]) -> Option<Vec<u32>> {
    let mut bytes = ByteReader(payload);
    let mut last = 0_u32;
    let mut documents = Vec::with_capacity(payload.len());
    while !bytes.is_empty() {
        last = last.checked_add(u32::try_from(bytes.varint()?).ok()?)?;
        documents.push(last);
    }
    Some(documents)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::super::sorted_table::TableSource;
    use super::*;

    type Content = BTreeMap<u64, BTreeSet<u32>>;

    fn table(content: &Content) -> SortedTable {
        let mut writer = TableWriter::new(Vec::new()).unwrap();
        for (word, of_word) in content {
            let mut payload = Vec::new();
            put_documents(&mut payload, of_word.iter().copied());
            writer.put(*word, &payload).unwrap();
        }
        SortedTable::new(TableSource::Memory(writer.finish().unwrap()))
    }

    proptest! {
        #[test]
        fn a_merged_table_answers_as_its_parts_did(
            contents in proptest::collection::vec(
                proptest::collection::btree_map(0..60_u64, proptest::collection::btree_set(0..900_u32, 1..20), 0..60),
                1..5,
            ),
            dead in proptest::collection::btree_set(0..900_u32, 0..300),
        ) {
            let tables: Vec<SortedTable> = contents.iter().map(table).collect();
            let parts: Vec<&SortedTable> = tables.iter().collect();
            let merged = words(&parts, |document| !dead.contains(&document)).unwrap();
            let merged = SortedTable::new(TableSource::Memory(merged));
            for word in 0..60_u64 {
                let expected: BTreeSet<u32> = contents
                    .iter()
                    .flat_map(|content| content.get(&word).into_iter().flatten())
                    .filter(|document| !dead.contains(document))
                    .copied()
                    .collect();
                let found = merged.get(word).unwrap().map(|payload| documents(&payload).unwrap());
                let found: BTreeSet<u32> = found.unwrap_or_default().into_iter().collect();
                prop_assert_eq!(found, expected);
            }
        }
    }

    #[test]
    fn small_tables_are_merged_and_large_ones_left_alone() {
        assert!(choose(&[1; 8]).is_empty());
        assert_eq!(choose(&[1; 9]).len(), 9);
        assert_eq!(choose(&[9_000_000, 9, 9, 9, 9, 9, 9, 9, 9, 9]), (1..10).collect::<Vec<_>>());
        assert_eq!(choose(&[900, 1, 2000, 1, 10, 100, 1, 1, 1]), [1, 3, 4, 6, 7, 8]);
    }
}
