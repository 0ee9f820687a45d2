//! Looks up modules by their names: `crate::a::b`, `pkg.mod`, `./x/y`. Imports are resolved by the languages;
//! here the importing file is unknown.

use crate::language::{self, Language};
use crate::world::{FileId, World, base, join, parent};

/// Returns the files that a module name may mean in a directory, sorted by path. Empty if the text is not a
/// module name.
pub fn named(world: &dyn World, directory: &str, name: &str) -> Vec<FileId> {
    if name.contains("::") {
        return rust(world, directory, name);
    }
    if name.contains('/') {
        return by_path(world, directory, name);
    }
    python(world, name)
}

/// Resolves `pkg.mod`, from the directory nearest to the root.
fn python(world: &dyn World, name: &str) -> Vec<FileId> {
    if name.split('.').any(|part| !is_word(part)) {
        return Vec::new();
    }
    let wanted = name.replace('.', "/");
    let last = base(&wanted);
    let homes = [format!("{last}.py"), format!("{last}.pyi"), "__init__.py".into(), "__init__.pyi".into()];
    let files = homes.iter().flat_map(|home| world.named(home));
    nearest(world, files.filter(|file| ends_with(&module_path(world.path(*file)), &wanted)).collect())
}

/// Resolves `crate::a::b`, `package::a::b`, or a suffix of either.
fn rust(world: &dyn World, directory: &str, name: &str) -> Vec<FileId> {
    let mut parts: Vec<&str> = name.split("::").filter(|part| !part.is_empty()).collect();
    if parts.is_empty() || parts.iter().any(|part| !is_word(part)) {
        return Vec::new();
    }
    let first = parts[0];
    let own = matches!(first, "crate" | "self");
    let roots = roots(world, (!own).then_some(first));
    let is_package = !own && !roots.is_empty();
    if own || is_package {
        parts.remove(0);
    }
    let wanted = parts.join("/");
    let last = base(&wanted);
    let homes = match wanted.is_empty() {
        true => vec!["lib.rs".to_owned(), "main.rs".to_owned()],
        false => vec![format!("{last}.rs"), "mod.rs".to_owned()],
    };
    let mut found: Vec<FileId> = homes.iter().flat_map(|home| world.named(home)).collect();
    found.retain(|file| {
        let path = module_path(world.path(*file));
        let inside_source = if wanted.is_empty() { stem_of(world.path(*file)) } else { &wanted };
        let inside = |root: &String| path == with(&with(root, "src"), inside_source);
        if own || is_package { roots.iter().any(inside) } else { ends_with(&path, &wanted) }
    });
    // `crate` means the package that contains the directory.
    let around = |file: &FileId| {
        let path = world.path(*file);
        let root = roots.iter().filter(|root| is_below(path, root)).max_by_key(|root| root.len());
        root.is_some_and(|root| is_below(directory, root) || directory == root.as_str())
    };
    if own && found.iter().any(around) {
        found.retain(around);
    }
    sorted(world, found)
}

/// Returns the directories of packages, optionally only those with this name.
fn roots(world: &dyn World, name: Option<&str>) -> Vec<String> {
    let mut roots = Vec::new();
    for manifest in world.named("Cargo.toml") {
        let directory = parent(world.path(manifest));
        let library = language::library_of(world, directory);
        if library.is_some_and(|library| name.is_none_or(|name| library == name)) {
            roots.push(directory.to_owned());
        }
    }
    roots
}

/// Resolves `./x/y`, `../x`, `x/y`: a path without its extension, or a directory that is represented by a
/// file in it.
fn by_path(world: &dyn World, directory: &str, name: &str) -> Vec<FileId> {
    let Some(wanted) = join(directory, name).filter(|path| !path.is_empty()) else { return Vec::new() };
    let of = |folder: &str| world.directory(folder);
    let mut found: Vec<FileId> = of(parent(&wanted)).into_iter().chain(of(&wanted)).collect();
    found.retain(|file| {
        let path = world.path(*file);
        is_code(path) && module_path(path) == wanted
    });
    // If both a source and its build output exist, the source is meant.
    let is_typed =
        |file: &FileId| matches!(Language::of(world.path(*file)), Language::TypeScript | Language::Tsx);
    if found.iter().any(is_typed) {
        found.retain(is_typed);
    }
    sorted(world, found)
}

/// Returns the module path of a file: without its extension, and without the name of a file that represents
/// its directory.
fn module_path(path: &str) -> String {
    let stem = stem_of(path);
    match (stem, Language::of(path)) {
        ("mod", Language::Rust) | ("__init__", Language::Python) => parent(path).to_owned(),
        ("index", Language::TypeScript | Language::Tsx | Language::JavaScript) => parent(path).to_owned(),
        _ => with(parent(path), stem),
    }
}

fn stem_of(path: &str) -> &str {
    base(path).split('.').next().unwrap_or_default()
}

/// Returns the files with the shortest paths.
fn nearest(world: &dyn World, mut files: Vec<FileId>) -> Vec<FileId> {
    let depth = |file: &FileId| world.path(*file).matches('/').count();
    let least = files.iter().map(depth).min();
    files.retain(|file| Some(depth(file)) == least);
    sorted(world, files)
}

fn sorted(world: &dyn World, mut files: Vec<FileId>) -> Vec<FileId> {
    files.sort_by(|a, b| world.path(*a).cmp(world.path(*b)));
    files.dedup();
    files
}

fn is_code(path: &str) -> bool {
    use Language::{Html, Json, Markdown, Text, Toml, Yaml};
    !matches!(Language::of(path), Html | Json | Markdown | Text | Toml | Yaml)
}

fn is_word(part: &str) -> bool {
    !part.is_empty() && part.chars().all(|c| c.is_alphanumeric() || c == '_')
}

fn is_below(path: &str, directory: &str) -> bool {
    directory.is_empty() || path.strip_prefix(directory).is_some_and(|rest| rest.starts_with('/'))
}

fn ends_with(path: &str, end: &str) -> bool {
    path.strip_suffix(end).is_some_and(|before| before.is_empty() || before.ends_with('/'))
}

fn with(directory: &str, name: &str) -> String {
    if directory.is_empty() { name.to_owned() } else { format!("{directory}/{name}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::MemoryWorld;

    fn found(files: &[&str], directory: &str, name: &str) -> Vec<String> {
        let text = |path: &&str| match path.strip_suffix("/Cargo.toml") {
            Some(directory) => format!("[package]\nname = \"{}\"\n", base(directory)),
            None => String::new(),
        };
        let texts: Vec<(&str, String)> = files.iter().map(|path| (*path, text(path))).collect();
        let world = MemoryWorld::new(texts.iter().map(|(path, text)| (*path, text.as_str())));
        named(&world, directory, name).into_iter().map(|file| world.path(file).to_owned()).collect()
    }

    #[test]
    fn modules_of_python_are_found_from_any_root() {
        let files =
            ["src/pkg/__init__.py", "src/pkg/mod.py", "old/copy/pkg/mod.py", "src/pkg/sub/__init__.py"];
        assert_eq!(found(&files, "", "pkg.mod"), ["src/pkg/mod.py"]);
        assert_eq!(found(&files, "", "pkg"), ["src/pkg/__init__.py"]);
        assert_eq!(found(&files, "", "pkg.sub"), ["src/pkg/sub/__init__.py"]);
        assert_eq!(found(&files, "", "kg.mod"), [""; 0]);
        assert_eq!(found(&files, "", "pkg..mod"), [""; 0]);
    }

    #[test]
    fn modules_of_rust_are_found_by_their_package() {
        let files = [
            "one/Cargo.toml",
            "one/src/lib.rs",
            "one/src/a/b.rs",
            "one/src/a/mod.rs",
            "two-x/Cargo.toml",
            "two-x/src/main.rs",
            "two-x/src/a/b/mod.rs",
            "two-x/tests/a/b.rs",
        ];
        assert_eq!(found(&files, "", "crate::a::b"), ["one/src/a/b.rs", "two-x/src/a/b/mod.rs"]);
        assert_eq!(found(&files, "two-x/src", "crate::a::b"), ["two-x/src/a/b/mod.rs"]);
        assert_eq!(found(&files, "", "two_x::a::b"), ["two-x/src/a/b/mod.rs"]);
        assert_eq!(
            found(&files, "", "a::b"),
            ["one/src/a/b.rs", "two-x/src/a/b/mod.rs", "two-x/tests/a/b.rs"]
        );
        assert_eq!(found(&files, "", "one::a"), ["one/src/a/mod.rs"]);
        assert_eq!(found(&files, "", "crate::gone"), [""; 0]);
    }

    #[test]
    fn modules_by_path_need_no_ending() {
        let files = ["web/x.ts", "web/x.js", "web/y/index.tsx", "web/notes.md", "lib/tool.rb"];
        assert_eq!(found(&files, "web", "./x"), ["web/x.ts"]);
        assert_eq!(found(&files, "", "./web/x"), ["web/x.ts"]);
        assert_eq!(found(&files, "web", "./y"), ["web/y/index.tsx"]);
        assert_eq!(found(&files, "web", "../lib/tool"), ["lib/tool.rb"]);
        assert_eq!(found(&files, "web", "./notes"), [""; 0]);
        assert_eq!(found(&files, "web", "../../x"), [""; 0]);
    }
}
