//! Test fixtures: several files in one string, and the references to a symbol of one of them.

use crate::entity::Aliases;
use crate::facts::Definition;
use crate::impact::{After, Before, Dependent, Edit, Question, impact};
use crate::language::rules;
use crate::reference::{Certainty, Target};
use crate::resolve::path_of;
use crate::world::{FileId, MemoryWorld, World};

/// Creates a world of files. Each begins with a line `=== path`. A crate without a manifest is called `a`.
pub(crate) fn world(files: &str) -> MemoryWorld {
    let parts = files.split("=== ").skip(1).map(|part| part.split_once('\n').unwrap_or((part, "")));
    let is_bare_crate = files.contains("=== src/lib.rs") && !files.contains("Cargo.toml");
    let manifest = is_bare_crate.then_some(("Cargo.toml", "[package]\nname = \"a\"\n"));
    MemoryWorld::new(parts.map(|(path, text)| (path.trim(), text)).chain(manifest))
}

/// Returns the references to `symbol` of `path`, one per line: path, line, role; `?` if it is only possible,
/// `??` if that is undecided, `~` if it has no type, `#` if no ordinary build contains it, `via` if another
/// file re-exports it.
pub(crate) fn referrers(files: &str, path: &str, symbol: &str) -> Vec<String> {
    let world = world(files);
    let file = world.find(path).expect("the path is in the fixture");
    let facts = world.facts(file).unwrap();
    let symbols: Vec<Definition> =
        facts.definitions.iter().filter(|definition| path_of(definition) == symbol).cloned().collect();
    assert!(!symbols.is_empty(), "{symbol} is not among {:?}", facts.definitions);
    let target = Target { file, symbols: &symbols, module: false, now: None, own_file: false };
    let mut lines: Vec<String> = rules(facts.language)
        .referrers(&world, &target)
        .into_iter()
        .map(|referrer| {
            let mark = match referrer.certainty {
                Certainty::Resolved => "",
                Certainty::Possible => "?",
                Certainty::Conditional => "#",
                Certainty::Untyped => "~",
                Certainty::Undecided => "??",
            };
            let arguments = referrer.arguments.map(|count| format!("({count})")).unwrap_or_default();
            let through =
                referrer.through.map(|file| format!(" via {}", world.path(file))).unwrap_or_default();
            format!(
                "{}:{} {:?}{arguments}{mark}{through}",
                world.path(referrer.file),
                referrer.line,
                referrer.role
            )
        })
        .collect();
    lines.dedup();
    lines
}

/// Returns the references of a file: target and line; then the unresolved ones.
pub(crate) fn outgoing(files: &str, path: &str) -> (Vec<String>, Vec<String>, u32) {
    let world = world(files);
    let file: FileId = world.find(path).expect("the path is in the fixture");
    let facts = world.facts(file).unwrap();
    let out = rules(facts.language).outgoing(&world, file);
    let references = out.references.iter().map(|(to, place)| format!("{}:{}", world.path(*to), place.line));
    let unresolved = out.unresolved.iter().map(|place| format!("{}:{}", place.pattern, place.line));
    (references.collect(), unresolved.collect(), out.external)
}

/// Returns the files that break when `from` becomes `to` in the text of `path`.
pub(crate) fn breaking(files: &str, path: &str, from: &str, to: &str) -> Vec<String> {
    concerned(files, path, from, to, |dependent| dependent.breaks)
}

/// Returns the dependents when `from` becomes `to` in the text of `path`.
pub(crate) fn dependents(files: &str, path: &str, from: &str, to: &str) -> Vec<String> {
    concerned(files, path, from, to, |_| true)
}

fn concerned(
    files: &str,
    path: &str,
    from: &str,
    to: &str,
    counts: impl Fn(&Dependent) -> bool,
) -> Vec<String> {
    let world = world(files);
    let old = world.find(path).and_then(|file| world.text(file)).expect("the path is in the fixture");
    assert!(old.contains(from), "{from} is not in {path}");
    let edits = [Edit {
        path: path.to_owned(),
        former: None,
        before: Before::Text(old.clone()),
        after: After::Text(old.replace(from, to).into()),
    }];
    let question = Question { edits: &edits, aliases: &Aliases::default(), is_over: &|| false };
    let impact = impact(&world, &question);
    let counting = impact.dependents().filter(|(_, dependent)| counts(dependent));
    let mut paths: Vec<String> = counting.map(|(_, dependent)| dependent.path.clone()).collect();
    paths.sort();
    paths
}

/// Returns true if the change of `from` to `to` in the text of `path` breaks a file: `fits`, `possible` or `breaks`.
pub(crate) fn verdict(files: &str, path: &str, from: &str, to: &str) -> &'static str {
    let world = world(files);
    let old = world.find(path).and_then(|file| world.text(file)).expect("the path is in the fixture");
    assert!(old.contains(from), "{from} is not in {path}");
    let after = After::Text(old.replacen(from, to, 1).into());
    let edits = [Edit { path: path.to_owned(), former: None, before: Before::Text(old), after }];
    let question = Question { edits: &edits, aliases: &Aliases::default(), is_over: &|| false };
    let impact = impact(&world, &question);
    let mut breaking: Vec<Certainty> = impact
        .dependents()
        .flat_map(|(_, dependent)| &dependent.evidence)
        .filter(|place| place.breaks)
        .map(|place| place.certainty)
        .collect();
    breaking.sort();
    match breaking.first() {
        None => "fits",
        Some(Certainty::Resolved) => "breaks",
        Some(_) => "possible",
    }
}
