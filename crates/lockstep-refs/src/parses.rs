//! Contents that one query parses, each once.

use std::cell::RefCell;
use std::sync::Arc;

use crate::facts::Facts;
use crate::language;

/// The contents that were parsed.
#[derive(Default)]
pub(crate) struct Parses(RefCell<Vec<Parse>>);

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

    fn get(&self, path: &str, text: &Arc<str>, part: impl Fn(&Parse) -> Arc<Facts>) -> Arc<Facts> {
        let is_same = |it: &&Parse| *it.path == *path && (Arc::ptr_eq(&it.text, text) || it.text == *text);
        if let Some(known) = self.0.borrow().iter().find(is_same) {
            return part(known);
        }
        let with_unbound_names = Arc::new(language::facts_with_unbound_names(path, text));
        let facts = language::without_unbound_names(&with_unbound_names);
        let parse = Parse { path: path.into(), text: Arc::clone(text), with_unbound_names, facts };
        let wanted = part(&parse);
        self.0.borrow_mut().push(parse);
        wanted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert_eq!(parses.0.borrow().len(), 3);
    }
}
