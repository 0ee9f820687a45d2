//! Rust: places in the crate of a definition that only other crates no longer see.

use crate::definition_diff::{DefinitionChangeKind, SymbolChange};
use crate::facts::{Definition, Facts};
use crate::language::Language;
use crate::syntax::TOKEN_END;
use crate::world::{FileId, World, join, parent};

/// Returns true if a definition became `pub(crate)`, and the place is in its crate.
pub(super) fn is_visible(
    world: &dyn World,
    change: &SymbolChange,
    after: Option<&Facts>,
    (definition, place): (FileId, FileId),
) -> bool {
    let (DefinitionChangeKind::VisibilityReduced, Some(after)) = (&change.what, after) else { return false };
    let was = &change.was;
    let same = |candidate: &&Definition| {
        candidate.name == was.name && candidate.kind == was.kind && candidate.container == was.container
    };
    let mut present = after.definitions.iter().filter(same);
    let is_for_crate =
        |candidate: &Definition| candidate.header.split(TOKEN_END).take(4).eq(["pub", "(", "crate", ")"]);
    after.language == Language::Rust
        && present.next().is_some_and(is_for_crate)
        && crate_of(world, definition) == crate_of(world, place)
}

/// The directory of a file's package, and the root file of its crate if it is not the library's.
fn crate_of(world: &dyn World, file: FileId) -> Option<(String, Option<String>)> {
    let path = world.path(file);
    let mut directory = parent(path);
    while world.find(&join(directory, "Cargo.toml")?).is_none() {
        if directory.is_empty() {
            return None;
        }
        directory = parent(directory);
    }
    let inside = path.strip_prefix(directory).unwrap_or(path).trim_start_matches('/');
    let has_library = world.find(&join(directory, "src/lib.rs")?).is_some();
    let is_apart = !inside.starts_with("src/")
        || inside.starts_with("src/bin/")
        || inside == "src/main.rs" && has_library;
    Some((directory.to_owned(), is_apart.then(|| inside.to_owned())))
}
