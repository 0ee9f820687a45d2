//! The files beside the binary: man pages, completions and licences.

use std::fs;

use clap_complete::Shell;

use super::archive::Entry;
use crate::{XtaskResult, workspace};

/// The name of the program for completions.
const PROGRAM: &str = "lockstep";

/// Man pages and completions of the command line that this workspace has.
pub(super) struct Payload {
    /// File name and text of each page of section 1.
    pages: Vec<(String, Vec<u8>)>,
    bash: Vec<u8>,
    zsh: Vec<u8>,
    fish: Vec<u8>,
    licences: Vec<(&'static str, Vec<u8>)>,
    pub(super) readme: Vec<u8>,
    pub(super) changelog: Vec<u8>,
}

impl Payload {
    pub(super) fn new() -> XtaskResult<Self> {
        let read = |name: &str| fs::read(workspace::root().join(name));
        Ok(Self {
            pages: man_pages()?,
            bash: completion(Shell::Bash),
            zsh: completion(Shell::Zsh),
            fish: completion(Shell::Fish),
            licences: vec![
                ("LICENSE-APACHE", read("LICENSE-APACHE")?),
                ("LICENSE-MIT", read("LICENSE-MIT")?),
            ],
            readme: read("packaging/README.md")?,
            changelog: read("CHANGELOG.md")?,
        })
    }

    pub(super) fn pages(&self, directory: &str) -> Vec<Entry> {
        self.pages
            .iter()
            .map(|(name, text)| Entry::file(format!("{directory}/{name}"), text.clone()))
            .collect()
    }

    /// Completions below `share`, where the shells look for them; `zsh` is the directory for the Z shell, which differs.
    pub(super) fn completions(&self, share: &str, zsh: &str, fish: &str) -> Vec<Entry> {
        vec![
            Entry::file(format!("{share}/bash-completion/completions/{PROGRAM}"), self.bash.clone()),
            Entry::file(format!("{fish}/{PROGRAM}.fish"), self.fish.clone()),
            Entry::file(format!("{zsh}/_{PROGRAM}"), self.zsh.clone()),
        ]
    }

    /// Man pages and completions as they are installed below a prefix.
    pub(super) fn shared(&self, zsh: &str) -> Vec<Entry> {
        let mut entries = self.pages("share/man/man1");
        entries.extend(self.completions("share", zsh, "share/fish/vendor_completions.d"));
        entries
    }

    /// The licences, with `prefix` before their names.
    pub(super) fn licences(&self, prefix: &str) -> Vec<Entry> {
        self.licences
            .iter()
            .map(|(name, text)| Entry::file(format!("{prefix}{name}"), text.clone()))
            .collect()
    }
}

fn completion(shell: Shell) -> Vec<u8> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut lockstep_cli::cli::command(), PROGRAM, &mut script);
    script
}

/// Renders a page for the program and one for each command.
fn man_pages() -> XtaskResult<Vec<(String, Vec<u8>)>> {
    let folder = tempfile::tempdir()?;
    clap_mangen::generate_to(lockstep_cli::cli::command(), folder.path())?;
    let mut pages = Vec::new();
    for file in fs::read_dir(folder.path())? {
        let file = file?;
        let name = file.file_name().into_string().map_err(|name| format!("{}", name.display()))?;
        pages.push((name, fs::read(file.path())?));
    }
    pages.sort();
    Ok(pages)
}
