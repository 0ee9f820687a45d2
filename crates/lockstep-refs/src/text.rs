//! References in text of any kind: paths to a file, names of entities, mentions of both and of symbols. A
//! language's own imports and symbols are resolved by its rules; here every file takes part, including code.
//!
//! Read [`Subject`] first: the target of a query. [`referrers`] finds references to it, [`outgoing`] the
//! references of a file.

mod context;
mod directory;
mod dotted;
mod heading_links;
mod names;
mod path_place;
mod paths;
mod spelling;
mod symbol_mentions;
mod wiki;

use std::sync::Arc;

use crate::entity::{
    Entity, EntityKind, Names, directory_rank, is_common_file_name, is_historical_record, is_unlikely_word,
};
use crate::facts::{Definition, Role};
use crate::language::Language;
use crate::reference::{Certainty, FileReferences, Kind, Place, Reference};
use crate::world::{FileId, World, base, join, parent};

use context::{Document, Spot};
pub(crate) use heading_links::is_same_anchor;
use names::{NameUse, use_of_name, use_of_word};
use path_place::holds_paths;
use paths::{Enclosure, Paths, Token, ends_with, is_path_char};
pub(crate) use spelling::decode;
use spelling::{enclosed, spellings};

/// A file as others name it in text. It need not be in the world: it may be deleted, or have had this path
/// before.
#[derive(Debug, Clone, Copy)]
pub struct Subject<'a> {
    /// The path; for a renamed file, the former one.
    pub path: &'a str,
    /// The queried names: see [`entities`](crate::entity::entities).
    pub entities: &'a [Entity],
    pub symbols: &'a [Definition],
    /// Set if files that record the past are searched too. They yield mentions at most.
    pub history: bool,
}

/// Returns the references to the subject in text: kinds path, name and mention. Sorted by path and line, each
/// line once for the same entity or symbol.
pub fn referrers(world: &dyn World, subject: &Subject<'_>) -> Vec<Reference> {
    let mut found = Vec::new();
    for entity in subject.entities {
        match entity.kind {
            EntityKind::Path => path_referrers(world, subject, &entity.name, &mut found),
            EntityKind::Directory => directory::referrers(world, subject, &entity.name, &mut found),
            _ => name_referrers(world, subject, entity, &mut found),
        }
    }
    symbol_mentions::referrers(world, subject, &mut found);
    heading_links::referrers(world, subject, &mut found);
    wiki::referrers(world, subject, &mut found);
    dotted::referrers(world, subject, &mut found);
    only_links_of_history(world, subject, &mut found);
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

/// Restricts references in files that record the past to links. Everything else becomes a mention, if those
/// are requested.
fn only_links_of_history(world: &dyn World, subject: &Subject<'_>, found: &mut Vec<Reference>) {
    let is_told = |r: &Reference| r.kind != Kind::Path && is_historical_record(world.path(r.file));
    match subject.history {
        true => found.iter_mut().filter(|r| is_told(r)).for_each(|r| r.kind = Kind::Mention),
        false => found.retain(|r| !is_told(r)),
    }
}

/// Returns the references in a file's text to files of the world.
pub fn outgoing(world: &dyn World, names: &Names, file: FileId) -> FileReferences {
    let mut outgoing = FileReferences::default();
    let from = world.path(file);
    let Some(text) = world.text(file) else { return outgoing };
    let history = is_historical_record(from);
    let document = Document::new(from, &text);
    let mut seen = std::collections::BTreeSet::new();
    let mut add = |(target, place): (FileId, Place)| {
        if target != file && seen.insert((target, place.line)) {
            outgoing.references.push((target, place));
        }
    };
    let paths = Paths { world, also: None };
    let may_end = |written: &str| names.may_end(world, written);
    for run in tokens(&text) {
        if may_end(run.text.trim_end_matches('/')) || may_end(run.path()) {
            named_by_path(&paths, &document, &run, history).into_iter().for_each(&mut add);
        }
        if !history {
            named_by_name(world, names, &document, &run).into_iter().for_each(&mut add);
        }
    }
    let mut start = 0;
    for line in text.split('\n') {
        for token in enclosed(line, start).into_iter().filter(|token| may_end(&token.path)) {
            let target = paths.resolve_path(from, &token).and_then(|lead| world.find(&lead.path));
            let meaning = path_meaning(&document, &token, history);
            if let Some((target, kind)) = target.zip(meaning) {
                let line = document.spot(token.start, token.end).number;
                add((target, Place { line, kind, pattern: token.written.into() }));
            }
        }
        start += line.len() + 1;
    }
    outgoing
}

/// A run of path characters in a text.
struct Run<'a> {
    text: &'a str,
    start: usize,
}

impl<'a> Run<'a> {
    /// The path that it is, without the full stop of a sentence.
    fn path(&self) -> &'a str {
        self.text.trim_end_matches(['.', '/'])
    }
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

/// Returns the file that a run of characters resolves to as a path, or the one that represents the directory.
fn named_by_path(
    paths: &Paths<'_>,
    document: &Document<'_>,
    run: &Run<'_>,
    history: bool,
) -> Option<(FileId, Place)> {
    let world = paths.world;
    let whole = run.path();
    let name = base(whole);
    let end = run.start + whole.len();
    let token = paths::token(document.text, end - name.len(), end).filter(|_| !name.is_empty());
    if let Some(token) = token
        && let Some(kind) = path_meaning(document, &token, history)
        && let Some(lead) = paths.resolve_path(document.path, &token)
        && let Some(target) = world.find(&lead.path)
    {
        let line = document.spot(token.start, end).number;
        return Some((target, Place { line, kind, pattern: token.written.into() }));
    }
    let range = run.start..run.start + run.text.len();
    let (target, line, kind) = directory::directory_at(world, document, document.path, range)?;
    Some((target, Place { line, kind, pattern: whole.into() }))
}

/// Returns the files whose names occur in a run of characters.
fn named_by_name(
    world: &dyn World,
    names: &Names,
    document: &Document<'_>,
    run: &Run<'_>,
) -> Vec<(FileId, Place)> {
    let mut found = Vec::new();
    let mut start = run.start;
    for part in run.text.split(['/', '@']) {
        let name = part.trim_end_matches('.');
        let files = names.get(name);
        if !files.is_empty() {
            let spot = document.spot(start, start + name.len());
            for (target, entity) in files {
                let entity = Entity { kind: *entity, name: name.into() };
                let path = world.path(*target);
                if let Some((kind, _)) =
                    name_kind(world, document, &spot, &entity, (path, names.is_name_prefix(name)))
                {
                    found.push((*target, Place { line: spot.number, kind, pattern: name.into() }));
                }
            }
        }
        start += part.len() + 1;
    }
    found
}

/// A path that is written in a text.
pub(crate) struct WrittenPath {
    /// Line number, starting at 1.
    pub(crate) line: u32,
    pub(crate) written: Box<str>,
    /// The position in the text.
    pub(crate) range: std::ops::Range<usize>,
    /// The paths from the root that it may mean, the most likely first; the last one may be only the end of a path.
    pub(crate) meanings: Vec<String>,
}

/// Returns the complete paths in a text whose last part is `is_wanted`. Words alone are no paths unless they
/// are link targets.
pub(crate) fn written_paths(path: &str, text: &str, is_wanted: &dyn Fn(&str) -> bool) -> Vec<WrittenPath> {
    let document = Document::new(path, text);
    let mut found = Vec::new();
    let mut add = |token: Token<'_>| {
        let is_path = token.path.contains('/') || is_link(&document, &token);
        if !is_path || !is_wanted(base(&token.path)) {
            return;
        }
        if path_meaning(&document, &token, false).is_some_and(|kind| kind == Kind::Path) {
            let line = document.spot(token.start, token.end).number;
            let (written, range) = (token.written.into(), token.start..token.end);
            found.push(WrittenPath { line, written, range, meanings: token.meanings(path) });
        }
    };
    for run in tokens(text) {
        let name = base(run.path());
        let end = run.start + run.path().len();
        if !name.is_empty() && is_wanted(name) {
            paths::token(text, end - name.len(), end).into_iter().for_each(&mut add);
        }
    }
    let mut start = 0;
    for line in text.split('\n') {
        enclosed(line, start).into_iter().for_each(&mut add);
        start += line.len() + 1;
    }
    found
}

/// The places that write a path to the subject.
fn path_referrers(world: &dyn World, subject: &Subject<'_>, path: &str, found: &mut Vec<Reference>) {
    let paths = Paths { world, also: Some(path) };
    let spellings = spellings(base(path));
    for file in path_files(world, path) {
        let from = world.path(file);
        let Some(text) = world.text(file).filter(|_| from != subject.path) else { continue };
        let text = with_slashes(from, text);
        let history = is_historical_record(from);
        let document = Document::new(from, &text);
        for (at, written) in spellings.iter().flat_map(|spelling| text.match_indices(&**spelling)) {
            let plain = paths::token(&text, at, at + written.len());
            let line = document.spot(at, at + written.len());
            let special = enclosed(line.line(), line.start());
            let special =
                special.into_iter().filter(|token| token.start <= at && at + written.len() <= token.end);
            for token in plain.into_iter().chain(special) {
                let Some(kind) = path_meaning(&document, &token, history && !subject.history) else {
                    continue;
                };
                let kind = if history && !is_link(&document, &token) { Kind::Mention } else { kind };
                let Some(lead) = paths.resolve_path(from, &token).filter(|lead| lead.path == path) else {
                    continue;
                };
                found.push(reference(file, line.number, kind, lead.certainty, token.written));
            }
        }
    }
}

/// Returns a text with `/` in the paths that projects and scripts of Windows write with `\\`.
fn with_slashes(path: &str, text: Arc<str>) -> Arc<str> {
    const ENDINGS: &[&str] = &[
        "bat", "cmd", "csproj", "fsproj", "nuspec", "props", "ps1", "sln", "slnx", "targets", "vbproj",
        "vcxproj",
    ];
    let ending = base(path).rsplit_once('.').map_or("", |(_, ending)| ending);
    if ENDINGS.contains(&ending) && text.contains('\\') { text.replace('\\', "/").into() } else { text }
}

/// Returns the files that may contain a path to this one, or to the directory that it represents.
pub fn path_candidates(world: &dyn World, path: &str) -> Vec<FileId> {
    let mut files = path_files(world, path);
    if directory_rank(base(path)).is_some() && !parent(path).is_empty() {
        files.extend(directory::candidates(world, parent(path)));
        files.sort_unstable();
        files.dedup();
    }
    files
}

/// The files that may hold a path to this one: those with its name, and where that is generic, only if they also have the
/// name of its directory or are near.
fn path_files(world: &dyn World, path: &str) -> Vec<FileId> {
    let name = base(path);
    let folder = parent(path);
    let holding = |end: &str| spellings(end).into_iter().flat_map(|spelling| world.containing(&spelling));
    let mut files: Vec<FileId> = match is_common_file_name(name) {
        false => holding(name).collect(),
        true => {
            let near = |file: &FileId| folder.is_empty() || world.path(*file).starts_with(parent(folder));
            let far = holding(&format!("{}/{name}", base(folder)));
            far.chain(holding(name).filter(near)).collect()
        }
    };
    files.sort_unstable();
    files.dedup();
    files
}

/// Returns the kind of reference of a string that resolves to a file. `None` if it is not a path. In a change
/// log only links count.
fn path_meaning(document: &Document<'_>, token: &Token<'_>, history: bool) -> Option<Kind> {
    if history && !is_link(document, token) {
        return None;
    }
    let spot = document.spot(token.start, token.end);
    if token.enclosure == Enclosure::Link && document.is_fenced(&spot) {
        return None;
    }
    if token.is_word() && !is_link(document, token) && !holds_paths(document, &spot) {
        // `.env` in quotes is an extension as often as a file.
        let quoted = token.enclosure == Enclosure::Backticks && !token.path.starts_with('.');
        return quoted.then_some(Kind::Mention);
    }
    if is_system_include(document, &spot) {
        return None;
    }
    Some(path_kind(document, &spot, token))
}

/// Returns true if a path is the target of a link.
fn is_link(document: &Document<'_>, token: &Token<'_>) -> bool {
    let before = document.text.get(..token.start).unwrap_or_default();
    let before = before.trim_end_matches(['"', '\'']);
    token.enclosure == Enclosure::Link || before.ends_with("href=") || before.ends_with("src=")
}

/// Returns true for `#include <name.h>`: it is resolved by the language's rules, and is seldom another file
/// of this name.
fn is_system_include(document: &Document<'_>, spot: &Spot<'_>) -> bool {
    let line = spot.line().trim_start();
    matches!(document.language, Language::C | Language::Cpp)
        && line.starts_with('#')
        && spot.before.ends_with('<')
}

/// Returns the kind of a path reference. In a comment it is a mention.
fn path_kind(document: &Document<'_>, spot: &Spot<'_>, token: &Token<'_>) -> Kind {
    match document.language {
        Language::Markdown | Language::Text | Language::Html | Language::Json => Kind::Path,
        Language::Yaml | Language::Toml | Language::Bash if !spot.is_comment() => Kind::Path,
        _ if token.is_delimited() => Kind::Path,
        _ => Kind::Mention,
    }
}

/// The places that use the subject's name in a framework.
fn name_referrers(world: &dyn World, subject: &Subject<'_>, entity: &Entity, found: &mut Vec<Reference>) {
    let family = is_name_prefix(world, &entity.name);
    for file in world.containing(&entity.name) {
        let from = world.path(file);
        let Some(text) = world.text(file).filter(|_| from != subject.path) else { continue };
        let names = names_in(world, file, &text, entity, (subject.path, family));
        let history = is_historical_record(from);
        found.extend(names.into_iter().map(|reference| match history {
            true => Reference { kind: Kind::Mention, ..reference },
            false => reference,
        }));
    }
}

/// The uses of a name in the file itself that has it, after the file was moved or given another name.
pub(crate) fn own_uses(world: &dyn World, file: FileId, entity: &Entity) -> Vec<Reference> {
    let text = world.text(file).unwrap_or_default();
    let mut found = names_in(world, file, &text, entity, (world.path(file), false));
    found.retain(|reference| reference.kind == Kind::Name && reference.certainty == Certainty::Resolved);
    found
}

/// The uses of a name of the file at a path in one text.
fn names_in(
    world: &dyn World,
    file: FileId,
    text: &str,
    entity: &Entity,
    (path, family): (&str, bool),
) -> Vec<Reference> {
    let document = Document::new(world.path(file), text);
    let mut found = Vec::new();
    for spot in document.occurrences(&entity.name) {
        if let Some((kind, certainty)) = name_kind(world, &document, &spot, entity, (path, family)) {
            found.push(reference(file, spot.number, kind, certainty, &entity.name));
        }
    }
    found
}

/// Returns the kind of reference of a name at a spot to the file at `path`. `None` if it is none.
fn name_kind(
    world: &dyn World,
    document: &Document<'_>,
    spot: &Spot<'_>,
    entity: &Entity,
    (path, family): (&str, bool),
) -> Option<(Kind, Certainty)> {
    let possible = if family || spot.is_domain() { Certainty::Possible } else { Certainty::Resolved };
    if let Some((lead, rest)) = spot.in_path(&entity.name) {
        return part_of_path(world, document.path, (&lead, rest), entity, path).map(|kind| (kind, possible));
    }
    if spot.is_stem() {
        return None;
    }
    if !is_unlikely_word(&entity.name) {
        return use_of_word(document, spot, entity.kind, path).map(|used| match used {
            NameUse::Declared => (Kind::Name, possible),
            NameUse::Likely => (Kind::Name, Certainty::Possible),
            NameUse::Mentioned => (Kind::Mention, Certainty::Possible),
        });
    }
    match use_of_name(document, spot, entity.kind)? {
        NameUse::Declared => Some((Kind::Name, possible)),
        NameUse::Likely if document.is_code() => Some((Kind::Name, Certainty::Possible)),
        NameUse::Likely => Some((Kind::Name, possible)),
        NameUse::Mentioned if document.instructs => Some((Kind::Name, Certainty::Possible)),
        NameUse::Mentioned => Some((Kind::Mention, possible)),
    }
}

/// A name inside a path: the directory of a skill, or alternatives written with a `/`.
fn part_of_path(
    world: &dyn World,
    from: &str,
    (lead, rest): (&str, &str),
    entity: &Entity,
    path: &str,
) -> Option<Kind> {
    let is_file = rest.contains('.');
    if entity.kind == EntityKind::Skill && is_skill_path(world, from, (lead, rest), path) {
        return Some(Kind::Path);
    }
    let (lead, _) = paths::origin(lead);
    let lead = lead.trim_start_matches(['.', '/', '@']);
    let alternatives = !is_file && !lead.contains('.') && is_unlikely_word(&entity.name);
    (alternatives
        && lead.split('/').chain(rest.split('/')).filter(|part| !part.is_empty()).all(is_unlikely_word))
    .then_some(Kind::Name)
}

/// Returns true if a path through the directory of a skill resolves to that skill.
fn is_skill_path(world: &dyn World, from: &str, (lead, rest): (&str, &str), path: &str) -> bool {
    let directory = parent(path);
    let (lead, origin) = paths::origin(lead);
    if origin == paths::Origin::Here {
        return join(parent(from), lead).is_some_and(|lead| lead == directory);
    }
    let lead = lead.trim_start_matches(['.', '/', '@']);
    let below = rest.trim_matches('/').trim_end_matches('.');
    let exists = || base(path) == below || world.find(&format!("{directory}/{below}")).is_some();
    let named = lead.contains('/') || is_unlikely_word(lead);
    ends_with(directory, lead)
        && match below {
            "" => named && (lead.contains('/') || rest.starts_with('/')),
            _ => lead.contains('/') || exists() || named && below.contains('.'),
        }
}

/// Returns true if other skills' names begin with this name: then it may mean their domain.
fn is_name_prefix(world: &dyn World, name: &str) -> bool {
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
