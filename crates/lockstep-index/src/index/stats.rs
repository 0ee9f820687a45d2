//! What an index holds, counted: for people who wonder, not for questions that must be quick.

use std::collections::BTreeMap;

use lockstep_refs::entity::{Aliases, Names, entities};
use lockstep_refs::language::{Language, rules};
use lockstep_refs::reference::Kind;
use lockstep_refs::text;
use lockstep_refs::world::{FileId, World as _};
use rayon::prelude::*;
use serde::Serialize;

use super::content::Unseen;
use super::{Index, Table};

/// What an index holds.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Stats {
    /// Files in scope.
    pub files: usize,
    /// Files that were looked into, by language.
    pub languages: BTreeMap<String, usize>,
    /// Files that were not.
    pub unseen: Unseen,
    /// What files are known by: paths, names, and the symbols they define.
    pub entities: usize,
    /// Places in one file that lead to another, by kind.
    pub references: BTreeMap<&'static str, usize>,
    /// Imports that lead to nothing in the project although they should.
    pub unresolved: usize,
    /// Imports that lead out of the project.
    pub external: usize,
    /// Places that a parser could not make sense of.
    pub problems: usize,
    /// Files whose facts are kept.
    pub facts_kept: usize,
    /// What it takes on disk.
    pub bytes: Bytes,
    /// How long the last whole build took, in milliseconds.
    pub build_ms: BuildMs,
}

/// Sizes of the parts of an index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Bytes {
    /// The file table.
    pub files: u64,
    /// Tables of words.
    pub words: u64,
    /// Tables of facts.
    pub facts: u64,
}

/// How long the parts of a build took.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct BuildMs {
    /// Finding and reading all files.
    pub words: u64,
    /// Parsing all files; zero where that was not done at once.
    pub facts: u64,
}

/// What one file adds.
#[derive(Debug, Default)]
struct Share {
    language: Option<Language>,
    entities: usize,
    references: BTreeMap<Kind, usize>,
    unresolved: usize,
    external: usize,
    problems: usize,
    is_kept: bool,
}

impl Index {
    /// Counts what it holds, by parsing and resolving every file.
    pub fn stats(&self) -> Stats {
        let aliases = Aliases::default();
        let names = Names::of(self, &aliases);
        let shares: Vec<Share> =
            self.files().into_par_iter().map(|file| self.share(file, &names, &aliases)).collect();
        let size = |tables: &[Table]| tables.iter().map(Table::len).sum();
        let mut stats = Stats {
            files: self.files.len(),
            unseen: self.files.unseen(),
            bytes: Bytes {
                files: self.files.encode().len() as u64,
                words: size(&self.words),
                facts: size(&self.facts),
            },
            build_ms: BuildMs {
                words: self.manifest.build_micros[0] / 1000,
                facts: self.manifest.build_micros[1] / 1000,
            },
            ..Stats::default()
        };
        for share in shares {
            if let Some(language) = share.language {
                *stats.languages.entry(format!("{language:?}")).or_default() += 1;
            }
            for (kind, count) in share.references {
                *stats.references.entry(kind.word()).or_default() += count;
            }
            stats.entities += share.entities;
            stats.unresolved += share.unresolved;
            stats.external += share.external;
            stats.problems += share.problems;
            stats.facts_kept += usize::from(share.is_kept);
        }
        stats
    }

    fn share(&self, file: FileId, names: &Names, aliases: &Aliases) -> Share {
        let path = self.path(file);
        let document = self.files.records[file.0 as usize].document;
        let is_kept = self.facts_bytes(document).is_some();
        let Some((facts, content)) = self.facts(file).zip(self.text(file)) else {
            return Share { entities: entities(path, None, aliases).len(), ..Share::default() };
        };
        let own = rules(facts.language).outgoing(self, file);
        let in_text = text::outgoing(self, names, file);
        let mut references = BTreeMap::new();
        for (_, place) in own.references.iter().chain(&in_text.references) {
            *references.entry(place.kind).or_default() += 1;
        }
        Share {
            language: Some(facts.language),
            entities: entities(path, Some(&content), aliases).len() + facts.definitions.len(),
            references,
            unresolved: own.unresolved.len() + in_text.unresolved.len(),
            external: own.external as usize,
            problems: facts.problems as usize,
            is_kept,
        }
    }
}
