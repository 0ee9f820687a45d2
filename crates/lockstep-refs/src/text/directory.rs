//! Directories in text: `members = ["crates/a"]`, `uses: ./.github/actions/x`, `COPY web /srv`. A path to a
//! directory references the file that represents it, such as `package.json`.

use super::context::{Document, Spot};
use super::path_place::holds_paths;
use super::paths::{Enclosure, Paths, Token, directory_token};
use super::spelling::spellings;
use super::{Subject, path_kind, reference, with_slashes};
use crate::entity::directory_rank;
use crate::language::Language;
use crate::reference::{Certainty, Kind, Reference};
use crate::world::{FileId, World, base, parent};

/// The places that write a path to a directory.
pub(super) fn referrers(
    world: &dyn World,
    subject: &Subject<'_>,
    directory: &str,
    found: &mut Vec<Reference>,
) {
    let own = directory_rank(base(subject.path)).filter(|_| parent(subject.path) == directory);
    let other = representative(world, directory).filter(|file| world.path(*file) != subject.path);
    let other = other.and_then(|file| directory_rank(base(world.path(file))));
    // Another file still represents the directory.
    if own.is_some_and(|own| other.is_some_and(|other| other <= own)) {
        return;
    }
    let paths = Paths { world, also: Some(directory) };
    let name = base(directory);
    for file in candidates(world, directory) {
        let from = world.path(file);
        let Some(text) = world.text(file).filter(|_| from != subject.path) else { continue };
        let text = with_slashes(from, text);
        let document = Document::new(from, &text);
        for (at, _) in text.match_indices(name) {
            let end = at + name.len();
            let token = directory_token(&text, at, end).filter(|token| may_be_meant(&document, token));
            let Some(token) = token else { continue };
            let spot = document.spot(token.start, token.end);
            if is_meant(&document, &spot, &token)
                && paths.directory(from, &token).as_deref() == Some(directory)
            {
                let kind = path_kind(&document, &spot, &token);
                found.push(reference(file, spot.number, kind, Certainty::Resolved, token.written));
            }
        }
    }
}

fn representative(world: &dyn World, directory: &str) -> Option<FileId> {
    let ranked = |file: FileId| Some((directory_rank(base(world.path(file)))?, file));
    world.directory(directory).into_iter().filter_map(ranked).min().map(|(_, file)| file)
}

/// The files that may name a directory.
pub(super) fn candidates(world: &dyn World, directory: &str) -> Vec<FileId> {
    let mut files: Vec<FileId> =
        spellings(base(directory)).iter().flat_map(|spelling| world.containing(spelling)).collect();
    files.sort_unstable();
    files.dedup();
    files
}

/// Returns the file that represents the directory which a run of characters names.
pub(super) fn directory_at(
    world: &dyn World,
    document: &Document<'_>,
    from: &str,
    range: std::ops::Range<usize>,
) -> Option<(FileId, u32, Kind)> {
    let written = document.text.get(range.clone())?.trim_end_matches('/');
    let name = base(written);
    if name.is_empty() || name.contains(['$', '{', '}']) {
        return None;
    }
    let end = range.start + written.len();
    let token = directory_token(document.text, end - name.len(), end);
    let token = token.filter(|token| may_be_meant(document, token))?;
    let spot = document.spot(token.start, token.end);
    if !is_meant(document, &spot, &token) {
        return None;
    }
    let directory = Paths { world, also: None }.directory(from, &token)?;
    let file = representative(world, &directory)?;
    Some((file, spot.number, path_kind(document, &spot, &token)))
}

/// Returns false if no path to a directory is expected, whatever is written around it. It is a fast test before [`is_meant`].
fn may_be_meant(document: &Document<'_>, token: &Token<'_>) -> bool {
    (!document.is_code() || token.is_delimited())
        && (token.enclosure == Enclosure::Link || !document.is_historical_record())
}

/// Returns true if a path to a directory is expected: it has a slash and is not a list of alternatives, or paths are written there.
fn is_meant(document: &Document<'_>, spot: &Spot<'_>, token: &Token<'_>) -> bool {
    if is_imported(document, spot) {
        return false;
    }
    token.path.trim_start_matches(['.', '/']).contains('/')
        || token.path.starts_with("./")
        || token.path.starts_with("../")
        || spot.after.starts_with('/')
        || token.enclosure == Enclosure::Link
        || holds_paths(document, spot)
}

/// Returns true if the line is an import, which the rules of its language resolve.
fn is_imported(document: &Document<'_>, spot: &Spot<'_>) -> bool {
    let line = spot.line();
    let words = ["import ", "from ", "require", "include", "export "];
    document.is_code() && document.language != Language::Bash && words.iter().any(|word| line.contains(word))
}
