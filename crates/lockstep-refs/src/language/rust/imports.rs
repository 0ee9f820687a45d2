//! `use`, `extern crate` and `mod x;`: the statements that import names of other files.

use tree_sitter::Node;

use super::extractor::{Reader, Source, without_raw_prefix};
use crate::facts::{Import, ImportForm, ImportedName};
use crate::syntax::children;

impl Reader {
    /// Records `use a::{b, c as d, e::*};` as one import for each source module.
    pub(super) fn use_declaration(&mut self, source: Source<'_>, node: Node<'_>) {
        let reexport = children(node).iter().any(|child| child.kind() == "visibility_modifier");
        if let Some(argument) = node.child_by_field_name("argument") {
            self.use_clause(source, argument, "", reexport, 0);
        }
    }

    fn use_clause(&mut self, source: Source<'_>, node: Node<'_>, before: &str, reexport: bool, depth: usize) {
        if depth > 32 {
            self.facts.omitted += 1;
            return;
        }
        let line = source.line(node);
        match node.kind() {
            "scoped_use_list" => {
                let path = node.child_by_field_name("path").map(|path| normalized_path(source.of(path)));
                let module = joined(before, path.as_deref().unwrap_or_default());
                if let Some(list) = node.child_by_field_name("list") {
                    self.use_clause(source, list, &module, reexport, depth + 1);
                }
            }
            "use_list" => {
                for child in children(node).into_iter().filter(|child| !child.is_extra()) {
                    self.use_clause(source, child, before, reexport, depth + 1);
                }
            }
            "use_wildcard" => {
                let path = children(node).into_iter().find(|child| !child.is_extra());
                let path = path.map(|path| normalized_path(source.of(path)));
                let module = joined(before, path.as_deref().unwrap_or_default());
                self.import(module, None, true, reexport, ImportForm::Plain, line);
            }
            "use_as_clause" => {
                let path = node.child_by_field_name("path").map(|path| normalized_path(source.of(path)));
                let alias = node.child_by_field_name("alias").map(|alias| source.of(alias));
                self.use_path(before, path.as_deref().unwrap_or_default(), alias, reexport, line);
            }
            _ => {
                let path = normalized_path(source.of(node));
                let line = node.child_by_field_name("name").map_or(line, |name| source.line(name));
                self.use_path(before, &path, None, reexport, line);
            }
        }
    }

    fn use_path(&mut self, before: &str, path: &str, alias: Option<&str>, reexport: bool, line: u32) {
        // `a::b::{self}` is `a::b`.
        let whole =
            if path == "self" && !before.is_empty() { before.to_owned() } else { joined(before, path) };
        let (module, name) = whole.rsplit_once("::").unwrap_or(("", &whole));
        let local = alias.unwrap_or(name);
        let names = ImportedName {
            name: without_raw_prefix(name).into(),
            local: without_raw_prefix(local).into(),
            line,
        };
        self.import(module.to_owned(), Some(names), false, reexport, ImportForm::Plain, line);
    }

    fn import(
        &mut self,
        module: String,
        name: Option<ImportedName>,
        glob: bool,
        reexport: bool,
        form: ImportForm,
        line: u32,
    ) {
        self.facts.imports.push(Import {
            module: module.into(),
            names: name.into_iter().collect(),
            alias: None,
            glob,
            reexport,
            form,
            container: self.module(),
            line,
        });
    }

    /// `extern crate a as b;` is `use ::a as b;`.
    pub(super) fn extern_crate(&mut self, source: Source<'_>, node: Node<'_>) {
        let Some(name) = node.child_by_field_name("name").map(|name| source.of(name)) else { return };
        let local = node.child_by_field_name("alias").map_or(name, |alias| source.of(alias));
        let reexport = children(node).iter().any(|child| child.kind() == "visibility_modifier");
        let line = source.line(node);
        // `extern crate self as x` names the crate itself.
        let name = if name == "self" { "crate" } else { name };
        let names = ImportedName { name: name.into(), local: local.into(), line };
        self.import(String::new(), Some(names), false, reexport, ImportForm::Plain, line);
    }

    /// Records `mod x;`: the module's name is imported, and its file is the module that an attribute names,
    /// if any. With `#[macro_use]`, all of its macros are imported too.
    pub(super) fn child_module(
        &mut self,
        source: Source<'_>,
        node: Node<'_>,
        name: &str,
        path: Option<&str>,
        macros: bool,
    ) {
        let reexport = children(node).iter().any(|child| child.kind() == "visibility_modifier");
        let line = source.line(node);
        let names = ImportedName {
            name: without_raw_prefix(name).into(),
            local: without_raw_prefix(name).into(),
            line,
        };
        let module = path.unwrap_or_default().to_owned();
        self.import(module, Some(names), macros, reexport, ImportForm::Child, line);
    }
}

/// A path as written, without spaces and marks.
fn normalized_path(text: &str) -> String {
    let text: String = text.split_whitespace().collect();
    text.replace("$crate", "crate").replace("r#", "")
}

fn joined(before: &str, path: &str) -> String {
    match (before, path) {
        ("", path) => path.to_owned(),
        (before, "") => before.to_owned(),
        (before, path) => format!("{before}::{path}"),
    }
}
