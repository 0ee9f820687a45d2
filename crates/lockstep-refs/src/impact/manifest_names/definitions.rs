//! The names that a manifest defines.

use std::collections::BTreeSet;

use toml::de::{DeTable, DeValue};

use super::{Name, NameKind};
use crate::world::base;

/// Returns the names that a manifest defines; none if it does not parse or is none.
pub(super) fn definitions(path: &str, text: &str) -> BTreeSet<Name> {
    let file = base(path);
    match file {
        "package.json" => json(text, "scripts", true),
        "composer.json" => json(text, "scripts", false),
        "deno.json" => json(text, "tasks", false),
        "Cargo.toml" => cargo(text),
        "Makefile" | "makefile" | "GNUmakefile" => targets(text, NameKind::Target),
        "justfile" | "Justfile" | ".justfile" => targets(text, NameKind::Script),
        _ if file.ends_with(".mk") => targets(text, NameKind::Target),
        "pyproject.toml" => extras(text),
        "action.yml" | "action.yaml" => inputs_and_outputs(text),
        _ if path.contains(".github/workflows/") => {
            entries(text, "jobs:", NameKind::Entry).into_iter().chain(inputs_and_outputs(text)).collect()
        }
        _ if file.starts_with("docker-compose") || file.starts_with("compose.") => {
            entries(text, "services:", NameKind::Entry)
        }
        _ => BTreeSet::new(),
    }
}

fn json(text: &str, section: &str, has_package: bool) -> BTreeSet<Name> {
    let Ok(manifest) = serde_json::from_str::<serde_json::Value>(text) else { return BTreeSet::new() };
    let scripts = manifest.get(section).and_then(|manifest| manifest.as_object());
    let scripts = scripts.into_iter().flat_map(|table| table.keys());
    let mut found: BTreeSet<Name> =
        scripts.map(|script| Name { kind: NameKind::Script, name: script.clone() }).collect();
    let package = manifest.get("name").and_then(|manifest| manifest.as_str()).filter(|_| has_package);
    found.extend(package.map(|package| Name { kind: NameKind::Package, name: package.to_owned() }));
    let exports = manifest.get("exports").and_then(|manifest| manifest.as_object()).filter(|_| has_package);
    let paths = exports.into_iter().flat_map(|table| table.keys()).filter_map(|key| key.strip_prefix("./"));
    for (package, path) in package.into_iter().flat_map(|name| paths.clone().map(move |path| (name, path))) {
        if !path.contains('*') {
            found.insert(Name { kind: NameKind::Subpath, name: format!("{package}/{path}") });
        }
    }
    found
}

/// The groups of optional dependencies of a package of Python.
fn extras(text: &str) -> BTreeSet<Name> {
    let Ok(manifest) = DeTable::parse(text) else { return BTreeSet::new() };
    let project = manifest.get_ref().get("project").and_then(|value| value.get_ref().as_table());
    let groups = project
        .and_then(|table| table.get("optional-dependencies"))
        .and_then(|value| value.get_ref().as_table());
    let names = groups.into_iter().flat_map(|table| table.keys());
    names.map(|name| Name { kind: NameKind::Extra, name: name.get_ref().to_string() }).collect()
}

fn inputs_and_outputs(text: &str) -> BTreeSet<Name> {
    let inputs = entries(text, "inputs:", NameKind::Input);
    inputs.into_iter().chain(entries(text, "outputs:", NameKind::Output)).collect()
}

fn cargo(text: &str) -> BTreeSet<Name> {
    let Ok(manifest) = DeTable::parse(text) else { return BTreeSet::new() };
    let table = |key: &str| manifest.get_ref().get(key).and_then(|value| value.get_ref().as_table());
    let features = table("features").into_iter().flat_map(|candidate| candidate.keys());
    let mut found: BTreeSet<Name> = features
        .map(|feature| Name { kind: NameKind::Feature, name: feature.get_ref().to_string() })
        .collect();
    let package = table("package").and_then(|table| table.get("name")).map(|value| value.get_ref());
    let package = package.and_then(DeValue::as_str);
    found.extend(package.map(|package| Name { kind: NameKind::Crate, name: package.to_owned() }));
    found
}

/// The targets of a makefile, or the recipes of a justfile: words before a colon at the start of a line.
fn targets(text: &str, kind: NameKind) -> BTreeSet<Name> {
    let is_plain = |word: &&str| {
        !word.starts_with('.')
            && word.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '/'))
    };
    let mut found = BTreeSet::new();
    for line in text.lines().filter(|line| !line.starts_with(['\t', ' ', '#', '@'])) {
        let Some((head, rest)) = line.split_once(':') else { continue };
        if rest.starts_with('=') || rest.starts_with(":=") || head.contains('=') {
            continue;
        }
        // The words behind the name of a recipe are its parameters.
        let count = if kind == NameKind::Script { 1 } else { usize::MAX };
        let words = head.split_whitespace().take(count).filter(is_plain);
        found.extend(words.map(|word| Name { kind, name: word.to_owned() }));
    }
    found
}

/// The keys below the first key of this name in YAML.
fn entries(text: &str, section: &str, kind: NameKind) -> BTreeSet<Name> {
    let mut found = BTreeSet::new();
    let depth_of = |line: &str| line.len() - line.trim_start().len();
    let mut lines = text.lines().skip_while(|line| line.trim() != section);
    let Some(outer) = lines.next().map(depth_of).filter(|depth| *depth == 0 || kind != NameKind::Entry)
    else {
        return found;
    };
    let mut indent = None;
    for line in lines.filter(|line| !line.trim().is_empty() && !line.trim_start().starts_with('#')) {
        let depth = depth_of(line);
        if depth <= outer {
            break;
        }
        if depth == *indent.get_or_insert(depth)
            && let Some((key, _)) = line.trim().split_once(':')
        {
            found.insert(Name { kind, name: key.trim_matches(['"', '\'']).to_owned() });
        }
    }
    found
}
