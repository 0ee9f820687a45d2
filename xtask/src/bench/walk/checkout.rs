//! A checkout of a real repository: its files, and the edits made in it for a moment.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use lockstep_refs::language::Language;
use lockstep_refs::world::MemoryWorld;

use crate::{XtaskResult, workspace};

/// The repositories that the walk is made for, in the order of the table. Others in the directory are walked too.
const EXPECTED: &[&str] = &[
    "ripgrep",
    "httpx",
    "cobra",
    "jq",
    "gson",
    "trpc",
    "zustand",
    "superpowers",
    "agents",
    "sinatra",
    "guzzle",
    "okio",
    "Alamofire",
];

/// One step of an edit.
#[derive(Debug, Clone)]
pub(super) enum Change {
    Write { path: String, text: String },
    Move { from: String, to: String },
    Delete { path: String },
}

pub(super) struct Checkout {
    pub(super) name: String,
    pub(super) root: PathBuf,
    /// The language of most source files.
    pub(super) language: Language,
    /// Path and text of every tracked text file.
    pub(super) texts: BTreeMap<String, String>,
    pub(super) world: MemoryWorld,
}

impl Checkout {
    /// The checkouts in a directory. Names those that are expected and absent.
    pub(super) fn find(repos: &Path, only: Option<&str>) -> XtaskResult<Vec<Self>> {
        let mut names: Vec<String> = EXPECTED.iter().map(|name| (*name).to_owned()).collect();
        let mut others: Vec<String> = fs::read_dir(repos)
            .map_err(|error| format!("{}: {error}", repos.display()))?
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
            .filter(|name| !EXPECTED.contains(&name.as_str()))
            .collect();
        others.sort();
        names.extend(others);
        let mut found = Vec::new();
        for name in names.into_iter().filter(|name| only.is_none_or(|part| name.contains(part))) {
            let root = repos.join(&name);
            if root.join(".git").exists() {
                found.push(Self::open(name, root.canonicalize()?)?);
            } else {
                eprintln!("{name}: skipped, there is no checkout");
            }
        }
        Ok(found)
    }

    fn open(name: String, root: PathBuf) -> XtaskResult<Self> {
        let status = workspace::output(git(&root, &["status", "--porcelain"]))?;
        if !status.is_empty() {
            return Err(format!("{} has changes: a walk needs a checkout without", root.display()).into());
        }
        let listed = workspace::output(git(&root, &["ls-files", "-z"]))?;
        let paths = listed.split(|byte| *byte == 0).filter_map(|path| std::str::from_utf8(path).ok());
        let read = |path: &str| {
            let full = root.join(path);
            // A link would be the same text twice.
            (!full.is_symlink()).then(|| fs::read_to_string(full).ok()).flatten()
        };
        let texts: BTreeMap<String, String> = paths
            .filter(|path| !path.is_empty())
            .filter_map(|path| Some((path.to_owned(), read(path)?)))
            .collect();
        let world = MemoryWorld::new(texts.iter().map(|(path, text)| (path.as_str(), text.as_str())));
        Ok(Self { name, root, language: main_language(texts.keys()), texts, world })
    }

    pub(super) fn describe(&self) -> String {
        format!("{:?}, {} files", self.language, self.texts.len())
    }

    /// Returns true if a file has the language of the walk.
    pub(super) fn is_source(&self, path: &str) -> bool {
        family(Language::of(path)) == Some(self.language)
    }

    pub(super) fn apply(&self, changes: &[Change]) -> XtaskResult {
        for change in changes {
            match change {
                Change::Write { path, text } => fs::write(self.root.join(path), text)?,
                Change::Delete { path } => fs::remove_file(self.root.join(path))?,
                Change::Move { from, to } => {
                    let to = self.root.join(to);
                    fs::create_dir_all(to.parent().ok_or("a file lies in a directory")?)?;
                    fs::rename(self.root.join(from), to)?;
                }
            }
        }
        Ok(())
    }

    /// Makes the working tree what the last commit is.
    pub(super) fn reset(&self) -> XtaskResult {
        workspace::output(git(&self.root, &["checkout", "--quiet", "--force", "--", "."]))?;
        workspace::output(git(&self.root, &["clean", "--quiet", "-fd"]))?;
        Ok(())
    }

    /// Resets the checkout when the returned value is dropped.
    pub(super) fn restore_after(&self) -> Restore<'_> {
        Restore(self)
    }
}

pub(super) struct Restore<'c>(&'c Checkout);

impl Drop for Restore<'_> {
    fn drop(&mut self) {
        if let Err(error) = self.0.reset() {
            eprintln!("{}: {error}", self.0.root.display());
        }
    }
}

pub(super) fn git(root: &Path, arguments: &[&str]) -> Command {
    let mut git = Command::new("git");
    git.current_dir(root).args(arguments).stdin(Stdio::null());
    git
}

/// The language under which a file counts; `None` for documents and data.
fn family(language: Language) -> Option<Language> {
    use Language::{Bash, C, Cpp, Html, JavaScript, Json, Markdown, Text, Toml, Tsx, TypeScript, Yaml};
    match language {
        Tsx | TypeScript | JavaScript => Some(TypeScript),
        C | Cpp => Some(C),
        Bash | Html | Json | Text | Toml | Yaml => None,
        Markdown => None,
        other => Some(other),
    }
}

/// The language of most source files; Markdown where documents are more than three quarters of both.
fn main_language<'p>(paths: impl Iterator<Item = &'p String>) -> Language {
    let mut counts: BTreeMap<Language, usize> = BTreeMap::new();
    let mut documents = 0;
    for path in paths {
        match Language::of(path) {
            Language::Markdown => documents += 1,
            language => {
                family(language).into_iter().for_each(|candidate| *counts.entry(candidate).or_default() += 1)
            }
        }
    }
    let most = counts.into_iter().max_by_key(|(_, count)| *count);
    most.filter(|(_, count)| count * 3 > documents).map_or(Language::Markdown, |(language, _)| language)
}
