//! Compiles tree-sitter's C library with a limit that it lacks.
//!
//! At the end of an unreadable text the library collects every path through its stack, each as a list of all
//! nodes. The number of paths grows with the text, so memory grows with its square, in one step that no progress
//! callback interrupts. The library limits the paths that it follows at a time, not those it has collected. Here
//! both count. The archive is linked whole, so that the linker does not use the one of the crate `tree-sitter`.

use std::path::PathBuf;
use std::{env, fs, io};

/// The condition in `stack.c`, and the same with the collected paths.
const PATHS: (&str, &str) = (
    "if (self->iterators.size >= MAX_ITERATOR_COUNT)",
    "if (self->iterators.size + self->slices.size >= MAX_ITERATOR_COUNT)",
);

pub(crate) fn compile() -> io::Result<()> {
    let path_in = |name| PathBuf::from(env::var_os(name).expect("cargo sets it"));
    let include = path_in("DEP_TREE_SITTER_INCLUDE");
    let sources = include.with_file_name("src");
    let out = path_in("OUT_DIR");

    let stack = fs::read_to_string(sources.join("stack.c"))?;
    assert_eq!(
        stack.matches(PATHS.0).count(),
        1,
        "tree-sitter has another stack.c: see build/parser_library.rs"
    );
    fs::write(out.join("stack.c"), stack.replace(PATHS.0, PATHS.1))?;
    // This file includes the others: the changed one is beside it, the rest is found in `sources`.
    fs::copy(sources.join("lib.c"), out.join("lib.c"))?;

    cc::Build::new()
        .std("c11")
        .flag_if_supported("-fvisibility=hidden")
        .include(&out)
        .include(&sources)
        .include(&include)
        .define("_POSIX_C_SOURCE", "200112L")
        .define("_DEFAULT_SOURCE", None)
        .define("_BSD_SOURCE", None)
        .define("_DARWIN_C_SOURCE", None)
        .warnings(false)
        .file(out.join("lib.c"))
        .link_lib_modifier("+whole-archive")
        .compile("bounded-tree-sitter");
    Ok(())
}
