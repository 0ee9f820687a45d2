//! Words that belong to one machine and not into a repository.
//!
//! They are written in two halves here, so that this file passes its own rules.

use super::{Rule, Violation};
use crate::workspace::SourceFile;

pub(super) const NO_REGISTRIES: Rule = Rule {
    asks: "No file names the host of a package registry.",
    why: "which registry is used (a mirror, an offline cache) is set up on each machine. A host in a file overrules that \
          and breaks the build where only the mirror can be reached.",
    breaches: registries,
};

pub(super) const NO_MACHINES: Rule = Rule {
    asks: "No file names a folder of one particular machine.",
    why: "a fresh clone builds and passes anywhere. Paths are found at run time, or are examples such as /home/user.",
    breaches: machines,
};

const REGISTRIES: &[&str] = &[
    concat!("index.crates", ".io"),
    concat!("static.crates", ".io"),
    concat!("registry.np", "mjs.org"),
    concat!("registry.yar", "npkg.com"),
    concat!("files.python", "hosted.org"),
    concat!("pypi", ".org"),
];

const MACHINES: &[&str] = &[concat!("/wo", "rk/"), concat!("/ro", "ot/"), concat!("/Us", "ers/")];

/// The index that the lock file may name: cargo writes it for any mirror.
const DEFAULT_INDEX: &str = "registry+https://github.com/rust-lang/crates.io-index";

fn registries(file: &SourceFile) -> Vec<Violation> {
    let mut found = naming(file, REGISTRIES);
    if file.path.ends_with("Cargo.lock") {
        let foreign = |line: &str| line.starts_with("source = ") && !line.contains(DEFAULT_INDEX);
        let lines = file.text.lines().enumerate().filter(|(_, line)| foreign(line));
        found.extend(lines.map(|(index, line)| Violation::on_line(file, index, format!("has {line}"))));
    }
    found
}

fn machines(file: &SourceFile) -> Vec<Violation> {
    naming(file, MACHINES)
}

fn naming(file: &SourceFile, words: &[&str]) -> Vec<Violation> {
    let on_line = |(index, line): (usize, &str)| {
        let word = words.iter().find(|word| line.contains(*word))?;
        Some(Violation::on_line(file, index, format!("names {word}")))
    };
    file.text.lines().enumerate().filter_map(on_line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, text: String) -> SourceFile {
        SourceFile { path: path.to_owned(), text }
    }

    #[test]
    fn hosts_and_folders_are_reported_with_their_line() {
        let text = format!("fine\nnpm --registry https://{}\n", REGISTRIES[2]);
        assert_eq!(registries(&file(".ci/run", text))[0].at, ".ci/run:2");
        let text = format!("include_str!(\"{}x\")", MACHINES[0]);
        assert_eq!(machines(&file("a.rs", text)).len(), 1);
        assert!(machines(&file("a.rs", "/home/user/networking/rules".to_owned())).is_empty());
    }

    #[test]
    fn lock_file_has_one_source() {
        let ours = format!("source = \"{DEFAULT_INDEX}\"\n");
        assert!(registries(&file("Cargo.lock", ours)).is_empty());
        let theirs = "source = \"sparse+https://mirror.example/\"\n".to_owned();
        assert_eq!(registries(&file("Cargo.lock", theirs)).len(), 1);
    }
}
