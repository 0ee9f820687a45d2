//! The interface of a file: the part of its facts that the resolution of other files can see. An equal
//! interface gives equal query results, so an edit inside a function affects no other file.

use lockstep_refs::facts::{Definition, Facts, Import, ImportForm, Uses};
use lockstep_refs::world::words;

use crate::fast_hash::digest;
use crate::query::word;

/// The facts of a file as others see them: no uses, no bodies, and instead of lines, which every edit above moves, the order
/// of definitions.
pub(crate) fn public_facts(facts: &Facts) -> Facts {
    let definition = |(place, pair): (u32, &Definition)| Definition {
        line: place,
        end_line: place,
        signature: 0,
        body: 0,
        header: Box::default(),
        parameters: Vec::new(),
        ..pair.clone()
    };
    let import = |candidate: &Import| {
        let mut import = Import { line: 0, ..candidate.clone() };
        import.names.iter_mut().for_each(|name| name.line = 0);
        import
    };
    let mut implementations = facts.implementations.clone();
    implementations.iter_mut().for_each(|implementation| implementation.line = 0);
    Facts {
        language: facts.language,
        package: facts.package.clone(),
        definitions: (1_u32..).zip(&facts.definitions).map(definition).collect(),
        imports: facts.imports.iter().map(import).collect(),
        uses: Uses::default(),
        implementations,
        // Conditions concern only lines of the file itself.
        conditions: Vec::new(),
        missing_exports: Vec::new(),
        suppressed_lines: Vec::new(),
        problems: 0,
        unread: Vec::new(),
        omitted: 0,
    }
}

/// Tells one interface from another.
pub(crate) fn interface_fingerprint(interface: &Facts) -> u64 {
    let bytes = postcard::to_stdvec(interface).expect("facts are plain data");
    digest(&bytes)
}

/// Returns the words by which others can query the file's exports, as sorted hashes.
pub(crate) fn exported_words(facts: &Facts) -> Vec<u32> {
    let mut found = Vec::new();
    let mut add = |text: &str| found.extend(words(text).map(word));
    facts.package.iter().for_each(|package| add(package));
    for definition in &facts.definitions {
        add(&definition.name);
        definition.container.iter().for_each(|container| add(container));
    }
    for implementation in &facts.implementations {
        add(&implementation.of);
        implementation.interface.iter().for_each(|interface| add(interface));
    }
    let handed =
        |import: &&Import| import.reexport || matches!(import.form, ImportForm::Child | ImportForm::System);
    for import in facts.imports.iter().filter(handed) {
        add(&import.module);
        import.names.iter().for_each(|name| add(&name.name));
        if import.form == ImportForm::System {
            // `global using` makes all files import it in C#.
            add("global using");
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

#[cfg(test)]
mod tests {
    use lockstep_refs::language::facts;

    use super::*;

    fn of(text: &str) -> u64 {
        interface_fingerprint(&public_facts(&facts("a.py", text)))
    }

    #[test]
    fn only_what_others_see_counts() {
        let one = of("import os\n\ndef load(key):\n    return key\n");
        assert_eq!(one, of("# why\nimport os\n\ndef load(key):\n    print(os.sep)\n    return key + key\n"));
        assert_ne!(one, of("import os\n\ndef read(key):\n    return key\n"));
        assert_ne!(one, of("import sys\n\ndef load(key):\n    return key\n"));
    }

    #[test]
    fn queries_find_a_file_by_its_exported_names() {
        let facts = facts("A.java", "package a.b;\nclass Store { void loadAll() { other(); } }\n");
        let offered = exported_words(&facts);
        for (name, is_offered) in [("Store", true), ("loadAll", true), ("b", true), ("other", false)] {
            assert_eq!(offered.contains(&word(name)), is_offered, "{name}");
        }
    }
}
