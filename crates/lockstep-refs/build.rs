//! Computes the version of the facts: a digest of the extractors' sources and the grammars' versions. Stored
//! facts with another digest are not used, so no version number has to be raised by hand.

#[path = "build/parser_library.rs"]
mod parser_library;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

fn main() -> io::Result<()> {
    let mut files = Vec::new();
    collect(Path::new("build"), &mut files)?;
    collect(Path::new("src"), &mut files)?;
    files.sort();
    let mut digest = Fnv::default();
    for file in &files {
        digest.add(file.to_string_lossy().as_bytes());
        digest.add(&fs::read(file)?);
    }
    let lock = Path::new("../../Cargo.lock");
    for block in fs::read_to_string(lock).unwrap_or_default().split("[[package]]") {
        if block.trim_start().starts_with("name = \"tree-sitter") {
            digest.add(block.as_bytes());
        }
    }
    println!("cargo::rerun-if-changed=build");
    println!("cargo::rerun-if-changed=src");
    println!("cargo::rerun-if-changed={}", lock.display());
    println!("cargo::rustc-env=LOCKSTEP_SEMANTICS={:016x}", digest.0);
    parser_library::compile()
}

fn collect(dir: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    Ok(())
}

/// FNV-1a, which is the same on every machine.
struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Fnv {
    fn add(&mut self, bytes: &[u8]) {
        for byte in bytes.iter().chain(&[0]) {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}
