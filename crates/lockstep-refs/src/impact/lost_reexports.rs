//! Names that a file no longer re-exports: their definitions still exist, but not for files that imported
//! them from here.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::dependents::{DependentSet, Place};
use super::edit::Edit;
use super::still_resolves::ref_key;
use crate::facts::{Definition, DefinitionKind, Facts, Import, Reach};
use crate::language::{self, Language};
use crate::overlay::Overlay;
use crate::reference::{Certainty, Kind, Reference, Target};
use crate::world::{FileId, World};

/// Returns the names that a file re-exports.
pub(super) fn names(facts: &Facts) -> BTreeSet<&str> {
    reexports(facts).flat_map(names_of).collect()
}

/// Returns true if a file re-exports less than before.
pub(super) fn loses_names(was: &Facts, is: &Facts) -> bool {
    !lost_reexports(was, is).is_empty()
}

/// Something that a file no longer re-exports.
struct LostReexport<'a> {
    /// The name in its source; `None` if everything was re-exported.
    name: Option<&'a str>,
    /// The name under which it was re-exported, if it had one.
    local: Option<&'a str>,
    /// Set if it is the file's own definition.
    own: bool,
    line: u32,
}

/// Collects the users that imported something through a file and no longer can. `world` is the present state,
/// `before` has the file's former content.
pub(super) fn collect(
    world: &dyn World,
    before: &Overlay<'_>,
    edit: &Edit,
    facts: (&Facts, Option<&Arc<Facts>>),
    collector: &mut DependentSet<'_>,
) {
    let (was, Some(is)) = facts else { return };
    let lost = lost_reexports(was, is);
    if lost.is_empty() || edit.is_moved() {
        return;
    }
    let Some(file) = before.find(edit.former_path()) else { return };
    let text = edit.present_text(before);
    collect_foreign(before, file, was, &lost, collector);
    // Only this edit is considered here; the others are evaluated separately.
    let after = Overlay::new(world, &edit.path, Arc::clone(is), text);
    let rules = language::rules(was.language);
    for (from, mut symbols) in targets(before, file, was, &lost) {
        if from == file {
            // A definition that no longer exists is reported with its change.
            let remains = |definition: &Definition| {
                is.definitions.iter().any(|now| now.name == definition.name && now.kind == definition.kind)
            };
            symbols.retain(remains);
        }
        let target = Target { file: from, symbols: &symbols, module: false, now: None, own_file: false };
        let now: BTreeSet<_> = rules.referrers(&after, &target).iter().map(ref_key).collect();
        let mut missed = rules.referrers(before, &target);
        missed.retain(|reference| {
            reference.file != file && reference.file != from && !now.contains(&ref_key(reference))
        });
        let handing: BTreeSet<FileId> = missed
            .iter()
            .filter(|reference| reference.kind == Kind::Import)
            .map(|reference| reference.file)
            .collect();
        for reference in missed {
            let through = intermediate_file(before, reference.file, file, &handing);
            let breaks = reference.certainty <= Certainty::Possible;
            collector.add(Place { breaks, reference: Reference { through, symbol: None, ..reference } });
        }
    }
}

/// Collects the users of names that a file re-exported and that no file defines: they come from outside the
/// project, or the same change renamed their definitions. The users are found as if the file had defined the
/// names itself.
fn collect_foreign(
    before: &Overlay<'_>,
    file: FileId,
    was: &Facts,
    lost: &[LostReexport<'_>],
    collector: &mut DependentSet<'_>,
) {
    let rules = language::rules(was.language);
    let outgoing = rules.outgoing(before, file).references;
    let is_found = |reexport: &&LostReexport<'_>| {
        let mut sources = outgoing.iter().filter(|(_, place)| place.line == reexport.line);
        sources.any(|(from, _)| reexport.name.is_none_or(|name| offers(before, *from, name)))
    };
    let foreign = lost.iter().filter(|reexport| !reexport.own && !is_found(reexport));
    let stand_in = |reexport: &LostReexport<'_>| {
        Some(Definition::new(reexport.local?, DefinitionKind::Value, reexport.line, reexport.line))
    };
    let symbols: Vec<Definition> = foreign.filter_map(stand_in).collect();
    if symbols.is_empty() {
        return;
    }
    let mut facts = was.clone();
    for import in &mut facts.imports {
        import.names.retain(|name| !symbols.iter().any(|definition| definition.name == name.local));
    }
    facts.definitions.extend(symbols.iter().cloned());
    let path = before.path(file).to_owned();
    let owning = Overlay::new(before, &path, Arc::new(facts), before.text(file));
    let Some(file) = owning.find(&path) else { return };
    let missed = rules
        .referrers(&owning, &Target { file, symbols: &symbols, module: false, now: None, own_file: false });
    for reference in missed.into_iter().filter(|reference| reference.file != file) {
        let breaks = reference.certainty <= Certainty::Possible;
        collector.add(Place { breaks, reference: Reference { symbol: None, ..reference } });
    }
}

/// Returns true if a file defines a name, re-exports it, or is the module of that name.
fn offers(world: &dyn World, file: FileId, name: &str) -> bool {
    let Some(facts) = world.facts(file) else { return true };
    let path = world.path(file);
    let stem = |part: &str| part.split('.').next() == Some(name);
    let is_module = path.rsplit('/').take(2).any(stem);
    let defines = |definition: &Definition| {
        definition.container.is_none() && *definition.name == *name && definition.reach > Reach::File
    };
    name == "default"
        || is_module
        || facts.definitions.iter().any(defines)
        || reexports(&facts).any(|import| is_open(import) || names_of(import).any(|other| other == name))
}

/// Returns the file from which a lost name is imported, if that is not the file that lost it: that one
/// breaks, and its users only follow.
fn intermediate_file(
    world: &dyn World,
    from: FileId,
    lost: FileId,
    handing: &BTreeSet<FileId>,
) -> Option<FileId> {
    let facts = world.facts(from)?;
    let outgoing = language::rules(facts.language).outgoing(world, from);
    let is_script = language::family(facts.language) == Language::TypeScript;
    let is_module =
        |pattern: &str| !is_script || facts.imports.iter().any(|import| *import.module == *pattern);
    let leads = |to: FileId| {
        outgoing.references.iter().any(|(other, place)| *other == to && is_module(&place.pattern))
    };
    if leads(lost) {
        return None;
    }
    handing.iter().copied().find(|other| *other != from && leads(*other))
}

/// Returns the names that are no longer re-exported.
fn lost_reexports<'a>(was: &'a Facts, is: &Facts) -> Vec<LostReexport<'a>> {
    let offered = names(is);
    let defined = |name: &str| {
        is.definitions.iter().any(|definition| {
            definition.container.is_none() && *definition.name == *name && definition.reach > Reach::File
        })
    };
    let still = |name: &str| offered.contains(name) || defined(name);
    let opened: BTreeSet<&str> =
        reexports(is).filter(|import| is_open(import)).map(|import| &*import.module).collect();
    let mut lost = Vec::new();
    for import in reexports(was) {
        let own = import.module.is_empty();
        let removed = import.names.iter().filter(|name| !still(&name.local));
        lost.extend(removed.map(|imported| LostReexport {
            name: Some(&*imported.name),
            local: Some(&*imported.local),
            own,
            line: imported.line,
        }));
        let alias = import.alias.as_deref().filter(|alias| !still(alias));
        if alias.is_some() || (is_open(import) && !opened.contains(&*import.module)) {
            lost.push(LostReexport { name: None, local: alias, own, line: import.line });
        }
    }
    lost
}

/// Returns the imports that re-export what they import.
pub(super) fn reexports(facts: &Facts) -> impl Iterator<Item = &Import> {
    facts.imports.iter().filter(|import| import.reexport && import.container.is_none())
}

fn names_of(import: &Import) -> impl Iterator<Item = &str> {
    import.names.iter().map(|name| &*name.local).chain(import.alias.as_deref())
}

/// Returns true if everything is re-exported under its own name.
pub(super) fn is_open(import: &Import) -> bool {
    import.glob && import.alias.is_none()
}

/// Returns the definitions that were re-exported, by file.
fn targets(
    world: &dyn World,
    file: FileId,
    was: &Facts,
    lost: &[LostReexport<'_>],
) -> Vec<(FileId, Vec<Definition>)> {
    let outgoing = language::rules(was.language).outgoing(world, file);
    let lines: BTreeSet<u32> =
        lost.iter().filter(|reexport| !reexport.own).map(|reexport| reexport.line).collect();
    let led = outgoing.references.iter().filter(|(_, place)| lines.contains(&place.line));
    let mut files: BTreeSet<FileId> = led.map(|(to, _)| *to).collect();
    if lost.iter().any(|reexport| reexport.own) {
        files.insert(file);
    }
    let names: BTreeSet<&str> = lost.iter().filter_map(|reexport| reexport.name).collect();
    let everything = lost.iter().any(|reexport| reexport.name.is_none());
    let mut targets = Vec::new();
    for from in files {
        let Some(facts) = world.facts(from) else { continue };
        let reachable =
            |definition: &&Definition| definition.reach > Reach::File && definition.container.is_none();
        let named = |definition: &&Definition| everything || names.contains(&*definition.name);
        let mut symbols: Vec<Definition> =
            facts.definitions.iter().filter(reachable).filter(named).cloned().collect();
        // A name that is renamed there may be any of them.
        if symbols.is_empty() {
            symbols = facts.definitions.iter().filter(reachable).cloned().collect();
        }
        targets.push((from, symbols));
    }
    targets
}

#[cfg(test)]
mod tests {
    use crate::entity::Aliases;
    use crate::fixture::{breaking, world};
    use crate::impact::{After, Before, Edit, Question, impact};
    use crate::world::World as _;

    #[test]
    fn removed_external_reexport_breaks_its_importers() {
        let files = "\
=== ui.ts
export { make as default, Theme, dark as night } from 'somewhere';
=== made.ts
import make from './ui';
make(1);
=== theme.ts
import { Theme } from './ui';
export const f = (theme: Theme) => theme;
=== night.ts
import * as ui from './ui';
ui.night();
";
        assert_eq!(breaking(files, "ui.ts", "make as default, ", ""), ["made.ts"]);
        assert_eq!(breaking(files, "ui.ts", "as default", "as made"), ["made.ts"]);
        assert_eq!(breaking(files, "ui.ts", "Theme, ", "Theme as Look, "), ["theme.ts"]);
        assert_eq!(breaking(files, "ui.ts", "dark as night", "dark"), ["night.ts"]);
        assert_eq!(breaking(files, "ui.ts", "make as default", "made as default"), [""; 0]);
    }

    /// The definition and the file that re-exports it were renamed by one change; the user still has the old name.
    #[test]
    fn users_behind_a_reexport_that_follows_a_rename_break() {
        let broken = |files: &str, changes: &[(&str, &str, &str)]| -> Vec<String> {
            let old = world(files);
            let edits: Vec<Edit> = changes
                .iter()
                .map(|(path, from, to)| {
                    let text = old.text(old.find(path).unwrap()).unwrap();
                    assert!(text.contains(from), "{from} is not in {path}");
                    let after = After::Text(text.replace(from, to).into());
                    Edit { path: (*path).to_owned(), former: None, before: Before::Text(text), after }
                })
                .collect();
            let now = changes.iter().fold(files.to_owned(), |text, (path, from, to)| {
                let (head, rest) = text.split_once(&format!("=== {path}\n")).unwrap();
                let end = rest.find("=== ").unwrap_or(rest.len());
                format!("{head}=== {path}\n{}{}", rest[..end].replace(from, to), &rest[end..])
            });
            let question = Question { edits: &edits, aliases: &Aliases::default(), is_over: &|| false };
            let impact = impact(&world(&now), &question);
            let mut paths: Vec<String> = impact
                .dependents()
                .filter(|(_, dependent)| dependent.breaks)
                .map(|(_, dependent)| dependent.path.clone())
                .collect();
            paths.sort();
            paths
        };
        let files = "\
=== text.ts
export function parse() {}
export function reparse() {}
=== index.ts
export { parse, reparse } from './text'
=== app.ts
import { parse, reparse } from './index'
parse(); reparse()
=== other.ts
import { reparse } from './index'
reparse()
";
        let changes = [("text.ts", "function parse", "function read"), ("index.ts", "{ parse", "{ read")];
        assert_eq!(broken(files, &changes), ["app.ts"]);
        let files = "\
=== Cargo.toml
[package]
name = \"p\"
=== src/lib.rs
mod text;
pub use text::{parse, reparse};
=== src/text.rs
pub fn parse() {}
pub fn reparse() {}
=== tests/it.rs
use p::{parse, reparse};
fn f() { parse(); reparse(); }
=== examples/e.rs
fn main() { p::parse(); }
=== examples/other.rs
fn main() { p::reparse(); }
";
        let changes = [("src/text.rs", "fn parse", "fn read"), ("src/lib.rs", "{parse", "{read")];
        assert_eq!(broken(files, &changes), ["examples/e.rs", "tests/it.rs"]);
        let files = "\
=== pkg/__init__.py
from .text import parse, reparse
=== pkg/text.py
def parse(): pass
def reparse(): pass
=== app.py
import pkg
from pkg import reparse
pkg.parse()
=== other.py
from pkg import reparse
";
        let changes =
            [("pkg/text.py", "def parse", "def read"), ("pkg/__init__.py", "import parse", "import read")];
        assert_eq!(broken(files, &changes), ["app.py"]);
    }

    #[test]
    fn so_it_is_in_a_package_and_in_a_crate() {
        let files = "\
=== pkg/__init__.py
from somewhere import load, save
=== a.py
from pkg import load

load()
=== b.py
import pkg

pkg.save()
";
        assert_eq!(breaking(files, "pkg/__init__.py", "load, save", "save"), ["a.py"]);
        assert_eq!(breaking(files, "pkg/__init__.py", "load, save", "load"), ["b.py"]);
        let files = "\
=== Cargo.toml
[package]
name = \"x\"
=== src/lib.rs
pub mod a;
mod b;
mod c;
=== src/a.rs
pub use somewhere::{Load, Save};
=== src/b.rs
use crate::a::Load;
pub fn f(load: Load) {}
=== src/c.rs
pub fn f(save: crate::a::Save) {}
";
        assert_eq!(breaking(files, "src/a.rs", "{Load, Save}", "Save"), ["src/b.rs"]);
        assert_eq!(breaking(files, "src/a.rs", "{Load, Save}", "Load"), ["src/c.rs"]);
    }
}
