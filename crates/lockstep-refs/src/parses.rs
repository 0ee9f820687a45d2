//! Contents that one query parses, each once.

use std::cell::RefCell;
use std::sync::Arc;

use foldhash::HashMap;
use tree_sitter::Tree;

use crate::facts::Facts;
use crate::language::{self, Language, parsed};

/// The contents that were parsed.
#[derive(Default)]
pub(crate) struct Parses {
    contents: RefCell<Vec<Parse>>,
    /// By the address of the text, which is kept, and the language.
    trees: RefCell<HashMap<(usize, Language), ParsedText>>,
}

/// A text, and its tree if the language has a grammar.
type ParsedText = (Arc<str>, Option<Tree>);

/// One content of a file.
struct Parse {
    path: Box<str>,
    text: Arc<str>,
    /// With the uses of names that the file neither defines nor imports.
    with_unbound_names: Arc<Facts>,
    facts: Arc<Facts>,
}

impl Parses {
    pub(crate) fn facts(&self, path: &str, text: &Arc<str>) -> Arc<Facts> {
        self.get(path, text, |parse| Arc::clone(&parse.facts))
    }

    /// The facts of a content with the uses of names that it neither defines nor imports.
    pub(crate) fn facts_with_unbound_names(&self, path: &str, text: &Arc<str>) -> Arc<Facts> {
        self.get(path, text, |parse| Arc::clone(&parse.with_unbound_names))
    }

    /// The syntax tree of a content.
    pub(crate) fn tree(&self, language: Language, text: &Arc<str>) -> Option<Tree> {
        let key = (Arc::as_ptr(text).addr(), language);
        if let Some((_, tree)) = self.trees.borrow().get(&key) {
            return tree.clone();
        }
        let tree = parsed(language, text);
        self.trees.borrow_mut().insert(key, (Arc::clone(text), tree.clone()));
        tree
    }

    fn get(&self, path: &str, text: &Arc<str>, part: impl Fn(&Parse) -> Arc<Facts>) -> Arc<Facts> {
        let is_same =
            |parse: &&Parse| *parse.path == *path && (Arc::ptr_eq(&parse.text, text) || parse.text == *text);
        if let Some(known) = self.contents.borrow().iter().find(is_same) {
            return part(known);
        }
        let with_unbound_names = Arc::new(language::facts_with_unbound_names(path, text));
        let facts = language::without_unbound_names(&with_unbound_names);
        let parse = Parse { path: path.into(), text: Arc::clone(text), with_unbound_names, facts };
        let wanted = part(&parse);
        self.contents.borrow_mut().push(parse);
        wanted
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::work::Work;

    #[test]
    fn facts_are_those_of_a_parse_of_its_own() {
        let parses = Parses::default();
        for (path, text) in [
            ("a.ts", "import { a } from './b';\na(missing);\nexport const x = other();\n"),
            ("a.py", "from b import a\na(missing)\nx = other()\n"),
            ("a.rs", "use b::a;\nfn f() { a(missing) }\n"),
        ] {
            let text = Arc::from(text);
            assert_eq!(*parses.facts(path, &text), language::facts(path, &text), "{path}");
            let all = parses.facts_with_unbound_names(path, &text);
            assert_eq!(*all, language::facts_with_unbound_names(path, &text), "{path}");
        }
        assert_eq!(parses.contents.borrow().len(), 3);
    }

    #[test]
    fn a_text_is_parsed_once_for_each_language() {
        let begun = Work::of_thread();
        let parses = Parses::default();
        let text = Arc::from("const a = 1;\n");
        for language in [Language::TypeScript, Language::JavaScript, Language::TypeScript] {
            assert!(parses.tree(language, &text).is_some());
        }
        assert!(parses.tree(Language::Text, &text).is_none());
        assert_eq!(Work::of_thread().since(begun).parses, 2);
    }
}
