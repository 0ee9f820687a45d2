//! Packs: many objects in one file, found by the index beside it, some stored as the difference from another.

use std::fs::File;
use std::path::PathBuf;

use lockstep_fs::PositionedIo as _;
use miniz_oxide::inflate::decompress_to_vec_zlib_with_limit;

use super::objects::{MAX_BYTES, Object, Objects, Oid, Type};

/// First bytes of an index of version 2, which git has written since 2007.
const MAGIC: [u8; 8] = [0xff, b't', b'O', b'c', 0, 0, 0, 2];

/// The offset behind the fan-out table of an index.
const FAN_OUT_END: u64 = 8 + 256 * 4;

/// Longer chains of deltas are not followed. Git's own limit is 50, or 250 in an aggressive repack.
const MAX_DEPTH: usize = 500;

/// An object's header: its type and size take at most this many bytes, a base's id 32 more.
const MAX_HEADER: usize = 64;

pub(super) struct Pack {
    pub(super) index: PathBuf,
}

/// The storage form of an object.
enum Stored {
    Whole(Type),
    /// As a delta of the object at this offset.
    AfterOffset(u64),
    AfterObject(Oid),
}

impl Pack {
    /// Returns the object; `None` if it is not in the pack or cannot be read.
    pub(super) fn object(&self, objects: &Objects, id: &Oid, depth: usize) -> Option<Object> {
        let offset = self.offset(id)?;
        let pack = lockstep_fs::open(self.index.with_extension("pack")).ok()?;
        read_object(objects, &pack, offset, id.0.len(), depth)
    }

    /// Finds the object by the fan-out table and a binary search.
    fn offset(&self, id: &Oid) -> Option<u64> {
        let index = lockstep_fs::open(&self.index).ok()?;
        if read::<8>(&index, 0)? != MAGIC {
            return None;
        }
        let fan_out = |at: u64| Some(u64::from(u32::from_be_bytes(read(&index, 8 + at * 4)?)));
        let first = u64::from(id.0[0]);
        let (mut low, mut high) = (if first == 0 { 0 } else { fan_out(first - 1)? }, fan_out(first)?);
        let (count, length) = (fan_out(255)?, id.0.len() as u64);
        while low < high {
            let middle = low.midpoint(high);
            let mut found = vec![0; id.0.len()];
            index.read_exact_at(&mut found, FAN_OUT_END + middle * length).ok()?;
            match found.cmp(&id.0) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
                std::cmp::Ordering::Equal => {
                    // Behind the ids are their checksums, then the offsets; large ones are in a table of their own.
                    let offsets = FAN_OUT_END + count * (length + 4);
                    let offset = u32::from_be_bytes(read(&index, offsets + middle * 4)?);
                    if offset < 1 << 31 {
                        return Some(u64::from(offset));
                    }
                    let large = u64::from(offset & !(1 << 31));
                    return Some(u64::from_be_bytes(read(&index, offsets + count * 4 + large * 8)?));
                }
            }
        }
        None
    }
}

fn read<const N: usize>(file: &File, at: u64) -> Option<[u8; N]> {
    let mut bytes = [0; N];
    file.read_exact_at(&mut bytes, at).ok()?;
    Some(bytes)
}

/// Reads up to `length` bytes; fewer at the end of the file.
fn read_up_to(file: &File, at: u64, length: usize) -> Option<Vec<u8>> {
    let mut bytes = vec![0; length];
    let mut filled = 0;
    while filled < length {
        match file.read_at(&mut bytes[filled..], at + filled as u64).ok()? {
            0 => break,
            count => filled += count,
        }
    }
    bytes.truncate(filled);
    Some(bytes)
}

fn read_object(objects: &Objects, pack: &File, offset: u64, oid: usize, depth: usize) -> Option<Object> {
    if depth > MAX_DEPTH {
        return None;
    }
    let header = read_up_to(pack, offset, MAX_HEADER)?;
    let (stored, size, length) = parse_header(&header, offset, oid)?;
    if size > MAX_BYTES {
        return None;
    }
    // Deflate never needs more than five bytes for every 16 KiB it cannot compress.
    let compressed = read_up_to(pack, offset + length as u64, size + size / 1_000 + 256)?;
    let data =
        decompress_to_vec_zlib_with_limit(&compressed, size.max(1)).ok().filter(|data| data.len() == size)?;
    let base = match stored {
        Stored::Whole(kind) => return Some(Object { kind, data }),
        Stored::AfterOffset(base) => read_object(objects, pack, base, oid, depth + 1)?,
        Stored::AfterObject(base) => objects.object(&base, depth + 1)?,
    };
    Some(Object { kind: base.kind, data: apply(&base.data, &data)? })
}

/// Reads an object's header: how it is stored, its size, and the length of the header.
fn parse_header(bytes: &[u8], offset: u64, oid: usize) -> Option<(Stored, usize, usize)> {
    let first = *bytes.first()?;
    let mut size = usize::from(first & 0x0f);
    let (mut shift, mut at, mut last) = (4, 1, first);
    while last & 0x80 != 0 {
        last = *bytes.get(at)?;
        size |= usize::from(last & 0x7f).checked_shl(shift)?;
        shift += 7;
        at += 1;
    }
    let stored = match first >> 4 & 7 {
        1 => Stored::Whole(Type::Commit),
        2 => Stored::Whole(Type::Tree),
        3 => Stored::Whole(Type::Blob),
        4 => Stored::Whole(Type::Tag),
        6 => {
            let mut byte = *bytes.get(at)?;
            at += 1;
            let mut distance = u64::from(byte & 0x7f);
            while byte & 0x80 != 0 {
                byte = *bytes.get(at)?;
                at += 1;
                distance = (distance.checked_add(1)? << 7) | u64::from(byte & 0x7f);
            }
            Stored::AfterOffset(offset.checked_sub(distance).filter(|base| *base < offset)?)
        }
        7 => {
            let base = bytes.get(at..at + oid)?.to_vec();
            at += oid;
            Stored::AfterObject(Oid(base))
        }
        _ => return None,
    };
    Some((stored, size, at))
}

/// Applies a difference: pieces of the base, and new bytes in between.
fn apply(base: &[u8], delta: &[u8]) -> Option<Vec<u8>> {
    let mut rest = delta;
    let base_size = take_size(&mut rest)?;
    let size = take_size(&mut rest).filter(|size| *size <= MAX_BYTES && base_size == base.len())?;
    let mut out = Vec::with_capacity(size);
    while let Some((&command, tail)) = rest.split_first() {
        rest = tail;
        if command & 0x80 != 0 {
            let mut number = |bits: std::ops::Range<u8>| {
                let mut number = 0_usize;
                for bit in bits.clone().filter(|bit| command >> bit & 1 != 0) {
                    let (&byte, tail) = rest.split_first()?;
                    number |= usize::from(byte) << (8 * (bit - bits.start));
                    rest = tail;
                }
                Some(number)
            };
            let (start, length) = (number(0..4)?, number(4..7)?);
            let length = if length == 0 { 0x1_0000 } else { length };
            out.extend_from_slice(base.get(start..start.checked_add(length)?)?);
        } else {
            let (new, tail) = rest.split_at_checked(usize::from(command)).filter(|_| command != 0)?;
            out.extend_from_slice(new);
            rest = tail;
        }
        if out.len() > size {
            return None;
        }
    }
    (out.len() == size).then_some(out)
}

fn take_size(bytes: &mut &[u8]) -> Option<usize> {
    let (mut size, mut shift) = (0_usize, 0);
    loop {
        let (&byte, tail) = bytes.split_first()?;
        *bytes = tail;
        size |= usize::from(byte & 0x7f).checked_shl(shift)?;
        shift += 7;
        if byte & 0x80 == 0 {
            return Some(size);
        }
    }
}
