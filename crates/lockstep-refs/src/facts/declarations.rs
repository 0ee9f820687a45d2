//! Names by which files are listed, so that the files that define a name are found without reading others.

use std::collections::BTreeSet;

use super::{DefinitionKind, Facts};

/// A way in which a file declares a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Declaration {
    /// It defines a type or an interface of that name.
    Type,
    /// It defines something else outside types: a function, a value, a macro.
    Outer,
    /// It defines a member of a type.
    Member,
    /// It defines a member of an interface.
    Required,
    /// It defines a type that extends a type of that name.
    Subtype,
}

impl Declaration {
    pub const ALL: [Self; 5] = [Self::Type, Self::Outer, Self::Member, Self::Required, Self::Subtype];
}

impl Facts {
    /// Calls `visit` with every name that the file declares. A name may come several times.
    pub fn each_declaration(&self, visit: &mut dyn FnMut(Declaration, &str)) {
        use DefinitionKind::{Field, Interface, Method, Type, Variant};
        let is_interface = |definition: &&super::Definition| definition.kind == Interface;
        let interfaces: BTreeSet<&str> =
            self.definitions.iter().filter(is_interface).map(|definition| &*definition.name).collect();
        let mut extends = false;
        for definition in &self.definitions {
            let container = definition.container.as_deref();
            let declaration = match definition.kind {
                Type | Interface => Declaration::Type,
                Field | Method | Variant if container.is_some() => Declaration::Member,
                _ => Declaration::Outer,
            };
            visit(declaration, &definition.name);
            if container.is_some_and(|container| interfaces.contains(container)) {
                visit(Declaration::Required, &definition.name);
            }
            if declaration == Declaration::Type {
                extends |= !definition.extends.is_empty();
                definition.extends.iter().for_each(|base| visit(Declaration::Subtype, last(base)));
            }
        }
        // An import may give a base another name.
        for import in self.imports.iter().filter(|_| extends) {
            let renamed = import.names.iter().filter(|imported| imported.local != imported.name);
            renamed.for_each(|imported| visit(Declaration::Subtype, &imported.name));
            if import.alias.is_some() {
                visit(Declaration::Subtype, last(&import.module));
            }
        }
    }

    /// Returns true if the file declares the name in this way.
    pub fn declares(&self, declaration: Declaration, name: &str) -> bool {
        let mut is_found = false;
        self.each_declaration(&mut |of, known| is_found |= of == declaration && known == name);
        is_found
    }
}

fn last(path: &str) -> &str {
    path.rsplit('.').next().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language;

    #[test]
    fn a_file_is_listed_by_what_it_declares() {
        let text = "package kit\n\ntype Box struct { Base }\n\ntype Maker interface { Make() }\n\n\
            func (b *Box) Open() {}\n\nfunc New() *Box { return nil }\n";
        let facts = language::facts("a.go", text);
        for (declaration, name) in [
            (Declaration::Type, "Box"),
            (Declaration::Type, "Maker"),
            (Declaration::Subtype, "Base"),
            (Declaration::Member, "Make"),
            (Declaration::Required, "Make"),
            (Declaration::Member, "Open"),
            (Declaration::Outer, "New"),
        ] {
            assert!(facts.declares(declaration, name), "{declaration:?} {name}");
        }
        assert!(!facts.declares(Declaration::Required, "Open"));
        assert!(!facts.declares(Declaration::Type, "New"));
    }

    #[test]
    fn a_base_with_another_name_is_listed_by_its_own() {
        let facts = language::facts("a.kt", "import kit.Base as Other\nclass Box : Other()\n");
        assert!(facts.declares(Declaration::Subtype, "Base"));
    }
}
