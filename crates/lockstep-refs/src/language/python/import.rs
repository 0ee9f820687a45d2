//! The imports of a module.

use tree_sitter::Node;

use super::Walk;
use crate::facts::{Import, ImportForm, ImportedName};
use crate::syntax::{children, line_of};

impl<'t> Walk<'t> {
    pub(super) fn import(&mut self, node: Node<'t>) {
        for child in children(node) {
            let (module, alias) = match child.kind() {
                "dotted_name" => (child, None),
                "aliased_import" => match child.child_by_field_name("name") {
                    Some(name) => (name, child.child_by_field_name("alias")),
                    None => continue,
                },
                _ => continue,
            };
            let import = Import {
                module: squeeze(self.found.text(module)),
                names: Vec::new(),
                alias: alias.map(|alias| self.found.text(alias).into()),
                glob: false,
                reexport: false,
                form: ImportForm::Plain,
                container: self.local_container(),
                line: line_of(child),
            };
            self.unbind(import.alias.as_deref().unwrap_or_else(|| first_part(&import.module)));
            self.found.facts.imports.push(import);
        }
    }

    pub(super) fn import_from(&mut self, node: Node<'t>) {
        let Some(module) = node.child_by_field_name("module_name") else { return };
        let mut names = Vec::new();
        let mut glob = false;
        for child in children(node) {
            if child == module {
                continue;
            }
            let (name, local) = match child.kind() {
                "dotted_name" => (child, child),
                "aliased_import" => {
                    match (child.child_by_field_name("name"), child.child_by_field_name("alias")) {
                        (Some(name), Some(alias)) => (name, alias),
                        _ => continue,
                    }
                }
                "wildcard_import" => {
                    glob = true;
                    continue;
                }
                _ => continue,
            };
            self.unbind(self.found.text(local));
            names.push(ImportedName {
                name: self.found.text(name).into(),
                local: self.found.text(local).into(),
                line: line_of(child),
            });
        }
        if names.is_empty() && !glob {
            return;
        }
        let import = Import {
            module: squeeze(self.found.text(module)),
            names,
            alias: None,
            glob,
            reexport: false,
            form: ImportForm::Plain,
            container: self.local_container(),
            line: line_of(node),
        };
        self.found.facts.imports.push(import);
    }

    /// Returns the container of an import whose names are not those of the module.
    fn local_container(&self) -> Option<Box<str>> {
        if self.found.scopes.is_inside() { self.found.container() } else { None }
    }
}

/// Returns a dotted name without spaces.
fn squeeze(name: &str) -> Box<str> {
    name.split_whitespace().collect::<String>().into()
}

/// The part of a dotted name before the first dot.
fn first_part(name: &str) -> &str {
    name.split('.').next().unwrap_or(name)
}
