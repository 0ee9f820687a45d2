//! References in text of any kind: paths that lead to a file, names of entities, mentions of both and of symbols. What a
//! language's own imports and symbols reference is found by its rules; here every file takes part, code included.
//!
//! Read [`Subject`] first: what is asked about. [`referrers`] finds who names it, [`outgoing`] what a file names.

mod anchor;
mod path;
mod place;
mod symbol;

use crate::entity::{Entity, EntityKind, Names, is_distinctive, is_generic, is_history};
use crate::facts::{Definition, Role};
use crate::language::Language;
use crate::reference::{Certainty, Kind, Outgoing, Place, Reference};
use crate::world::{FileId, World, base, parent};

use path::{Paths, Token, ends_with, is_path_char};
use place::{Document, Spot, Standing};

/// A file as others name it in text. It need not be in the world: it may be gone, or have had this path before.
#[derive(Debug, Clone, Copy)]
pub struct Subject<'a> {
    /// Its path, the former one where it was renamed.
    pub path: &'a str,
    /// What it is known by, as far as that is asked about: see [`entities`](crate::entity::entities).
    pub entities: &'a [Entity],
    /// Symbols it defines, as far as they are asked about.
    pub symbols: &'a [Definition],
    /// Whether files that only tell what was are asked too. They give mentions at most.
    pub history: bool,
}

/// The places in text that reference the subject: kinds path, name and mention. Sorted by path and line, each line once for
/// the same entity or symbol.
pub fn referrers(world: &dyn World, subject: &Subject<'_>) -> Vec<Reference> {
    let mut found = Vec::new();
    for entity in subject.entities {
        match entity.kind {
            EntityKind::Path => path_referrers(world, subject, &entity.name, &mut found),
            _ => name_referrers(world, subject, entity, &mut found),
        }
    }
    symbol::referrers(world, subject, &mut found);
    anchor::referrers(world, subject, &mut found);
    if subject.history {
        found.iter_mut().filter(|r| is_history(world.path(r.file))).for_each(|r| r.kind = Kind::Mention);
    } else {
        found.retain(|r| !is_history(world.path(r.file)));
    }
    found.retain(|r| world.path(r.file) != subject.path);
    found.sort_by(|a, b| {
        let key = |r: &Reference| (r.line, r.symbol, r.kind, r.certainty);
        world.path(a.file).cmp(world.path(b.file)).then_with(|| key(a).cmp(&key(b)))
    });
    found.dedup_by(|later, first| {
        (later.file, later.line, later.symbol) == (first.file, first.line, first.symbol)
    });
    found
}

/// What a file names in its text, as far as it leads to files of the world.
pub fn outgoing(world: &dyn World, names: &Names, file: FileId) -> Outgoing {
    let mut outgoing = Outgoing::default();
    let from = world.path(file);
    let Some(text) = world.text(file).filter(|_| !is_history(from)) else { return outgoing };
    let document = Document::new(from, &text);
    let mut seen = std::collections::BTreeSet::new();
    for word in tokens(&text) {
        for (target, place) in named_by(world, names, &document, from, &word) {
            if target != file && seen.insert((target, place.line)) {
                outgoing.references.push((target, place));
            }
        }
    }
    outgoing
}

/// A run of path characters in a text.
struct Run<'a> {
    text: &'a str,
    start: usize,
}

fn tokens(text: &str) -> impl Iterator<Item = Run<'_>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = at + text.get(at..)?.find(is_path_char)?;
        let rest = text.get(start..)?;
        at = start + rest.find(|c| !is_path_char(c)).unwrap_or(rest.len());
        Some(Run { text: text.get(start..at)?, start })
    })
}

/// The files that a run of characters names: by path, or by the names in it.
fn named_by(
    world: &dyn World,
    names: &Names,
    document: &Document<'_>,
    from: &str,
    run: &Run<'_>,
) -> Vec<(FileId, Place)> {
    let whole = run.text.trim_end_matches(['.', '/']);
    let end = run.start + whole.len();
    let mut found = Vec::new();
    if whole.contains('.')
        && let Some(token) = path::token(document.text, run.start, end)
        && let Some(lead) = (Paths { world, also: None }).lead(from, &token)
        && let Some(target) = world.find(&lead.path)
    {
        let spot = document.spot(run.start, end);
        found.push((
            target,
            Place { line: spot.number, kind: path_kind(document, &spot, &token), pattern: whole.into() },
        ));
    }
    let mut start = run.start;
    for part in run.text.split(['/', '@']) {
        let name = part.trim_end_matches('.');
        let held = names.get(name);
        if !held.is_empty() {
            let spot = document.spot(start, start + name.len());
            for (target, entity) in held {
                let entity = Entity { kind: *entity, name: name.into() };
                if let Some((kind, _)) =
                    name_kind(document, &spot, &entity, world.path(*target), names.is_family(name))
                {
                    found.push((*target, Place { line: spot.number, kind, pattern: name.into() }));
                }
            }
        }
        start += part.len() + 1;
    }
    found
}

/// Whoever writes a path that leads to the subject.
fn path_referrers(world: &dyn World, subject: &Subject<'_>, path: &str, found: &mut Vec<Reference>) {
    let paths = Paths { world, also: Some(path) };
    let name = base(path);
    for file in path_candidates(world, path) {
        let from = world.path(file);
        let Some(text) = world.text(file).filter(|_| from != subject.path) else { continue };
        let document = Document::new(from, &text);
        for (at, _) in text.match_indices(name) {
            let Some(token) = path::token(&text, at, at + name.len()) else { continue };
            let Some(lead) = paths.lead(from, &token).filter(|lead| lead.path == path) else { continue };
            let spot = document.spot(at, at + name.len());
            let kind = path_kind(&document, &spot, &token);
            found.push(reference(file, spot.number, kind, lead.certainty, token.written));
        }
    }
}

/// The files that may hold a path to this one: those with its name, and where that is generic, only if they also have the name
/// of its directory or are near.
pub fn path_candidates(world: &dyn World, path: &str) -> Vec<FileId> {
    let name = base(path);
    if !is_generic(name) {
        return world.containing(name);
    }
    let folder = parent(path);
    let mut files = world.containing(&format!("{}/{name}", base(folder)));
    let near = |file: &FileId| folder.is_empty() || world.path(*file).starts_with(parent(folder));
    files.extend(world.containing(name).into_iter().filter(near));
    files.sort_unstable();
    files.dedup();
    files
}

/// A path in a comment is a mention; elsewhere it is meant.
fn path_kind(document: &Document<'_>, spot: &Spot<'_>, token: &Token<'_>) -> Kind {
    match document.language {
        Language::Markdown | Language::Text | Language::Html | Language::Json => Kind::Path,
        Language::Yaml | Language::Toml | Language::Bash if !spot.is_comment() => Kind::Path,
        _ if token.delimited => Kind::Path,
        _ => Kind::Mention,
    }
}

/// Whoever uses the subject's name in a framework.
fn name_referrers(world: &dyn World, subject: &Subject<'_>, entity: &Entity, found: &mut Vec<Reference>) {
    let family = is_family(world, &entity.name);
    for file in world.containing(&entity.name) {
        let from = world.path(file);
        let Some(text) = world.text(file).filter(|_| from != subject.path) else { continue };
        let document = Document::new(from, &text);
        for spot in document.occurrences(&entity.name) {
            if let Some((kind, certainty)) = name_kind(&document, &spot, entity, subject.path, family) {
                found.push(reference(file, spot.number, kind, certainty, &entity.name));
            }
        }
    }
}

/// How a name at a spot references the file at `path`; `None` where it does not.
fn name_kind(
    document: &Document<'_>,
    spot: &Spot<'_>,
    entity: &Entity,
    path: &str,
    family: bool,
) -> Option<(Kind, Certainty)> {
    let possible = if family || spot.is_domain() { Certainty::Possible } else { Certainty::Resolved };
    if let Some((lead, rest)) = spot.in_path(&entity.name) {
        return part_of_path(&lead, rest, entity, path).map(|kind| (kind, possible));
    }
    if spot.is_stem() {
        return None;
    }
    let distinctive = is_distinctive(&entity.name);
    match document.standing(spot) {
        Standing::Named if distinctive => Some((Kind::Name, possible)),
        // An ordinary word where names are used may still be just that word.
        Standing::Named | Standing::Told => Some((Kind::Name, Certainty::Possible)),
        Standing::Prose if distinctive && document.instructs => Some((Kind::Name, Certainty::Possible)),
        Standing::Prose => distinctive.then_some((Kind::Mention, possible)),
    }
}

/// A name inside a path: the directory of a skill, or alternatives written with a `/`.
fn part_of_path(lead: &str, rest: &str, entity: &Entity, path: &str) -> Option<Kind> {
    let (lead, _) = path::origin(lead);
    let lead = lead.trim_start_matches(['.', '/', '@']);
    let is_file = rest.contains('.');
    if entity.kind == EntityKind::Skill
        && ends_with(parent(path), lead)
        && (lead.contains('/') || is_file || rest == "/")
    {
        return Some(Kind::Path);
    }
    let alternatives = !is_file && !lead.contains('.') && is_distinctive(&entity.name);
    (alternatives
        && lead.split('/').chain(rest.split('/')).filter(|part| !part.is_empty()).all(is_distinctive))
    .then_some(Kind::Name)
}

/// Whether a name begins other skills' names: then it may mean their domain.
fn is_family(world: &dyn World, name: &str) -> bool {
    let start = format!("{name}-");
    world.named("SKILL.md").iter().any(|file| base(parent(world.path(*file))).starts_with(&start))
}

fn reference(file: FileId, line: u32, kind: Kind, certainty: Certainty, pattern: &str) -> Reference {
    Reference {
        file,
        line,
        kind,
        role: Role::Value,
        certainty,
        pattern: pattern.into(),
        symbol: None,
        arguments: None,
        through: None,
        within: None,
    }
}
