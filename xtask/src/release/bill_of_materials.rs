//! The software bill of materials (CycloneDX 1.5): every package that is compiled into the binary or runs in its build.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::metadata::{Dependency, Metadata, Package};
use crate::{XtaskResult, workspace};

/// The package of the binary.
const PROGRAM: &str = "lockstep-cli";

/// Renders the document for a target.
pub(super) fn render(triple: &str, time: u64) -> XtaskResult<Vec<u8>> {
    let graph = Metadata::load(&["--filter-platform", triple])?;
    let checksums = checksums(&fs::read_to_string(workspace::root().join("Cargo.lock"))?);
    let document = document(&graph, &checksums, time)?;
    Ok(format!("{document:#}\n").into_bytes())
}

fn document(
    graph: &Metadata,
    checksums: &BTreeMap<(String, String), String>,
    time: u64,
) -> XtaskResult<Value> {
    let program = graph.packages.iter().find(|package| package.name == PROGRAM);
    let program = program.ok_or("the workspace has no program")?;
    let reached = reached(graph, &program.id);
    let mut packages: Vec<&Package> =
        graph.packages.iter().filter(|package| reached.contains_key(&*package.id)).collect();
    packages.sort_by_key(|package| (&package.name, &package.version));
    let references: BTreeMap<&str, String> =
        graph.packages.iter().map(|package| (&*package.id, reference(package))).collect();
    let components: Vec<Value> = packages
        .iter()
        .filter(|package| package.id != program.id)
        .map(|package| component(package, checksums))
        .collect();
    let dependencies: Vec<Value> = packages
        .iter()
        .map(|package| {
            let mut on: Vec<&str> = reached[&*package.id].iter().map(|id| &*references[id]).collect();
            on.sort_unstable();
            json!({"ref": reference(package), "dependsOn": on})
        })
        .collect();
    Ok(json!({
        "$schema": "http://cyclonedx.org/schema/bom-1.5.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "timestamp": Timestamp::from_second(time.cast_signed())?.to_string(),
            "component": {
                "type": "application",
                "bom-ref": reference(program),
                "name": "lockstep",
                "version": program.version,
                "licenses": licences(program),
            },
        },
        "components": components,
        "dependencies": dependencies,
    }))
}

/// Returns every package that is reached from `start` without tests, each with its direct dependencies.
fn reached<'a>(graph: &'a Metadata, start: &'a str) -> BTreeMap<&'a str, BTreeSet<&'a str>> {
    let mut reached = BTreeMap::new();
    let mut open = vec![start];
    while let Some(id) = open.pop() {
        if reached.contains_key(id) {
            continue;
        }
        let is_shipped = |dependency: &&Dependency| {
            dependency.dep_kinds.iter().any(|kind| kind.kind.as_deref() != Some("dev"))
        };
        let deps = graph.node(id).map_or(&[][..], |node| &node.deps).iter().filter(is_shipped);
        let deps: BTreeSet<&str> = deps.map(|dependency| &*dependency.pkg).collect();
        open.extend(&deps);
        reached.insert(id, deps);
    }
    reached
}

/// The package URL, which identifies the package in the document too.
fn reference(package: &Package) -> String {
    format!("pkg:cargo/{}@{}", package.name, package.version.replace('+', "%2B"))
}

fn component(package: &Package, checksums: &BTreeMap<(String, String), String>) -> Value {
    let mut component = json!({
        "type": "library",
        "bom-ref": reference(package),
        "name": package.name,
        "version": package.version,
        "purl": reference(package),
        "licenses": licences(package),
    });
    if let Some(sum) = checksums.get(&(package.name.clone(), package.version.clone())) {
        component["hashes"] = json!([{"alg": "SHA-256", "content": sum}]);
    }
    let mut properties = Vec::new();
    if is_grammar(package) {
        properties.push(json!({"name": "lockstep:grammar", "value": "true"}));
    }
    if package.name == "libsqlite3-sys" {
        properties.push(json!({"name": "lockstep:bundles", "value": "SQLite"}));
    }
    if !properties.is_empty() {
        component["properties"] = properties.into();
    }
    component
}

/// Returns true for a package with the parser of a language.
fn is_grammar(package: &Package) -> bool {
    package.source.is_some()
        && package.name.starts_with("tree-sitter-")
        && package.name != "tree-sitter-language"
}

fn licences(package: &Package) -> Value {
    // Old manifests write `MIT/Apache-2.0`.
    match &package.license {
        Some(licence) => json!([{"expression": licence.replace('/', " OR ")}]),
        None => json!([]),
    }
}

/// Reads the checksums of the lock file by name and version.
fn checksums(lock: &str) -> BTreeMap<(String, String), String> {
    let mut sums = BTreeMap::new();
    for package in lock.split("[[package]]\n").skip(1) {
        let field = |name: &str| {
            let line = package.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(" = \""));
            line.map(|value| value.trim_end_matches('"').to_owned())
        };
        if let (Some(name), Some(version), Some(sum)) = (field("name"), field("version"), field("checksum")) {
            sums.insert((name, version), sum);
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every package of the lock file that cargo links into the program for this target.
    #[test]
    fn document_lists_every_crate_and_grammar() {
        let bytes = render("x86_64-unknown-linux-gnu", 0).unwrap();
        assert_eq!(bytes, render("x86_64-unknown-linux-gnu", 0).unwrap());
        let document: Value = serde_json::from_slice(&bytes).unwrap();
        let components = document["components"].as_array().unwrap();
        let listed: BTreeSet<String> = components
            .iter()
            .map(|component| format!("{} v{}", component["name"], component["version"]).replace('"', ""))
            .collect();
        let mut cargo = workspace::cargo();
        cargo.args(["tree", "--locked", "-p", PROGRAM, "--edges", "normal,build", "--prefix", "none"]);
        cargo.args(["--target", "x86_64-unknown-linux-gnu", "--format", "{p}"]);
        let tree = String::from_utf8(workspace::output(cargo).unwrap()).unwrap();
        let words = |line: &str| line.split(' ').take(2).collect::<Vec<_>>().join(" ");
        let linked: BTreeSet<String> =
            tree.lines().map(words).filter(|candidate| !candidate.starts_with(PROGRAM)).collect();
        let missing: Vec<&String> = linked.difference(&listed).collect();
        assert!(missing.is_empty() && linked.len() > 50, "{missing:?}");
        let is_grammar = |value: &&Value| value["properties"][0]["name"] == "lockstep:grammar";
        let grammars = components.iter().filter(is_grammar).count();
        let manifest = fs::read_to_string(workspace::root().join("Cargo.toml")).unwrap();
        let declared = manifest.lines().filter(|line| line.starts_with("tree-sitter-")).count();
        assert_eq!(grammars, declared);
        assert!(
            components
                .iter()
                .filter(|candidate| candidate["name"] == "rusqlite")
                .all(|candidate| candidate["hashes"].is_array())
        );
    }
}
