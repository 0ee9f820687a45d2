//! Module settings in `tsconfig.json`, `jsconfig.json` and `package.json`.

use jsonc_parser::{JsonObject, JsonValue, ParseOptions, parse_to_value};

use crate::limits::Limit;
use crate::world::{FileId, World, base, join, parent};

/// Longer chains of `extends` are treated as cycles.
const MAX_EXTENDS: usize = 8;

/// The paths of one project of TypeScript.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Project {
    pub(super) directory: String,
    /// The base directory for names without a dot.
    pub(super) base: Option<String>,
    /// Patterns with their targets, relative to the root.
    pub(super) paths: Vec<(String, Vec<String>)>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Package {
    pub(super) name: String,
    pub(super) directory: String,
    /// Subpaths (`.`, `./x`, `./*`, `#x`) with their targets relative to the package, best first.
    pub(super) exports: Vec<(String, Vec<String>)>,
    /// The entry points of the package, best first.
    pub(super) main: Vec<String>,
}

/// The projects of a world, the innermost directory first.
pub(super) fn projects(world: &dyn World) -> Vec<Project> {
    let mut projects = Vec::new();
    for name in ["tsconfig.json", "jsconfig.json", "tsconfig.base.json"] {
        for file in world.named(name) {
            let mut project =
                Project { directory: parent(world.path(file)).to_owned(), ..Project::default() };
            read_project(world, file, &mut project, 0);
            if project.base.is_some() || !project.paths.is_empty() {
                projects.push(project);
            }
        }
    }
    projects.sort_by_key(|project| std::cmp::Reverse(project.directory.len()));
    projects
}

/// Reads a configuration, with the inherited values for missing keys.
fn read_project(world: &dyn World, file: FileId, project: &mut Project, depth: usize) {
    let Some(text) = world.text(file) else { return };
    let Some(JsonValue::Object(object)) = parse(&text) else { return };
    let directory = parent(world.path(file)).to_owned();
    if let Some(options) = object.get_object("compilerOptions") {
        let base_url = options.get_string("baseUrl").and_then(|name| join(&directory, name));
        if project.paths.is_empty()
            && let Some(paths) = options.get_object("paths")
        {
            let from = base_url.clone().unwrap_or_else(|| directory.clone());
            project.paths = read_paths(paths, &from);
        }
        project.base = project.base.take().or(base_url);
    }
    if depth >= MAX_EXTENDS {
        Limit::Hops.reach();
        return;
    }
    let extends: Vec<String> = match object.get("extends") {
        Some(JsonValue::String(one)) => vec![one.to_string()],
        Some(JsonValue::Array(all)) => all.iter().filter_map(string).collect(),
        _ => Vec::new(),
    };
    for other in extends.iter().rev().filter(|base| base.starts_with('.')) {
        let found = join(&directory, other)
            .and_then(|path| world.find(&path).or_else(|| world.find(&format!("{path}.json"))));
        if let Some(found) = found {
            read_project(world, found, project, depth + 1);
        }
    }
}

fn read_paths(paths: &JsonObject<'_>, from: &str) -> Vec<(String, Vec<String>)> {
    let mut all = Vec::new();
    for (pattern, targets) in entries(paths) {
        let JsonValue::Array(targets) = &targets else { continue };
        let targets = targets.iter().filter_map(|json_value| join(from, &string(json_value)?)).collect();
        all.push((pattern, targets));
    }
    // The longest match wins.
    all.sort_by(|a: &(String, Vec<String>), b| (b.0.len(), &a.0).cmp(&(a.0.len(), &b.0)));
    all
}

pub(super) fn packages(world: &dyn World) -> Vec<Package> {
    world.named("package.json").into_iter().filter_map(|file| package(world, file)).collect()
}

fn package(world: &dyn World, file: FileId) -> Option<Package> {
    let path = world.path(file);
    debug_assert_eq!(base(path), "package.json", "asked for by this name");
    let text = world.text(file)?;
    let JsonValue::Object(object) = parse(&text)? else { return None };
    let mut exports = Vec::new();
    match object.get("exports") {
        Some(JsonValue::Object(map)) if entries(map).iter().any(|(key, _)| key.starts_with('.')) => {
            exports.extend(entries(map).into_iter().map(|(key, value)| (key, targets(&value))));
        }
        Some(value) => exports.push((".".to_owned(), targets(value))),
        None => {}
    }
    if let Some(map) = object.get_object("imports") {
        exports.extend(entries(map).into_iter().map(|(key, value)| (key, targets(&value))));
    }
    // The longest match wins.
    exports.sort_by(|a, b| (b.0.len(), &a.0).cmp(&(a.0.len(), &b.0)));
    let main = ["source", "types", "typings", "module", "main"];
    Some(Package {
        name: object.get_string("name").map(|name| name.to_string()).unwrap_or_default(),
        directory: parent(path).to_owned(),
        exports,
        main: main.iter().filter_map(|key| object.get_string(key)).map(|name| name.to_string()).collect(),
    })
}

/// Returns the possible targets of an entry of `exports`, for all conditions.
fn targets(value: &JsonValue<'_>) -> Vec<String> {
    match value {
        JsonValue::String(path) => vec![path.to_string()],
        JsonValue::Array(all) => all.iter().flat_map(targets).collect(),
        JsonValue::Object(conditions) => {
            let mut conditions = entries(conditions);
            conditions.sort_by_key(|(name, _)| rank(name));
            conditions.iter().flat_map(|(_, value)| targets(value)).collect()
        }
        _ => Vec::new(),
    }
}

/// Ranks conditions: sources and types precede build outputs.
fn rank(condition: &str) -> usize {
    let known = ["source", "types", "import", "module", "default", "require"];
    known.iter().position(|name| *name == condition).unwrap_or(known.len())
}

fn entries<'a>(object: &JsonObject<'a>) -> Vec<(String, JsonValue<'a>)> {
    let mut all: Vec<_> = object.clone().into_iter().map(|(key, value)| (key.to_string(), value)).collect();
    all.sort_by(|a, b| a.0.cmp(&b.0));
    all
}

fn string(value: &JsonValue<'_>) -> Option<String> {
    match value {
        JsonValue::String(text) => Some(text.to_string()),
        _ => None,
    }
}

fn parse(text: &str) -> Option<JsonValue<'_>> {
    parse_to_value(text, &ParseOptions::default()).ok().flatten()
}
