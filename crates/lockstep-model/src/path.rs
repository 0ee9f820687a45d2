//! Paths as text: one line of a journal holds any legal path.
//!
//! Paths are bytes here, as the system has them; a name need not be UTF-8.

use std::path::{Component, Path, PathBuf};

/// Writes `path` with tab, newline, carriage return and backslash escaped (`\t \n \r \\`).
pub fn escape_into(out: &mut Vec<u8>, path: &Path) {
    for &byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'\t' => out.extend_from_slice(b"\\t"),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\\' => out.extend_from_slice(b"\\\\"),
            other => out.push(other),
        }
    }
}

/// Reverses [`escape_into`]. A backslash before any other byte is kept, so that lines of programs that do not
/// escape can be read.
pub fn unescape(bytes: &[u8]) -> PathBuf {
    let mut out = Vec::with_capacity(bytes.len());
    let mut rest = bytes.iter().copied().peekable();
    while let Some(byte) = rest.next() {
        let restored = match (byte, rest.peek()) {
            (b'\\', Some(b't')) => Some(b'\t'),
            (b'\\', Some(b'n')) => Some(b'\n'),
            (b'\\', Some(b'r')) => Some(b'\r'),
            (b'\\', Some(b'\\')) => Some(b'\\'),
            _ => None,
        };
        if restored.is_some() {
            rest.next();
        }
        out.push(restored.unwrap_or(byte));
    }
    lockstep_text::path_of_bytes(out)
}

/// Makes `path` absolute below `base`. `.` and `..` are resolved by name alone, because the file may no
/// longer exist.
pub fn absolute_lexical(base: &Path, path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for component in base.join(path).components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                out.pop();
            }
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn escaped(path: &Path) -> Vec<u8> {
        let mut out = Vec::new();
        escape_into(&mut out, path);
        out
    }

    #[test]
    fn separators_are_escaped() {
        assert_eq!(escaped(Path::new("/a\tb\nc\rd\\e f")), b"/a\\tb\\nc\\rd\\\\e f");
    }

    #[test]
    fn a_foreign_backslash_is_an_ordinary_character() {
        assert_eq!(unescape(b"/a\\b\\"), Path::new("/a\\b\\"));
    }

    #[test]
    fn absolute_resolves_by_name() {
        for (base, path, expected) in [
            ("/p", "a.py", "/p/a.py"),
            ("/p/q", "../a.py", "/p/a.py"),
            ("/p", "/x/./y/../z", "/x/z"),
            ("/p", "../../../etc", "/etc"),
        ] {
            assert_eq!(absolute_lexical(Path::new(base), Path::new(path)), Path::new(expected));
        }
    }

    proptest! {
        #[test]
        fn every_path_round_trips(bytes in proptest::collection::vec(1_u8.., 0..300)) {
            let path = lockstep_text::path_of_bytes(bytes);
            let text = escaped(&path);
            prop_assert!(!text.iter().any(|b| matches!(b, b'\t' | b'\n' | b'\r')));
            prop_assert_eq!(unescape(&text), path);
        }
    }
}
