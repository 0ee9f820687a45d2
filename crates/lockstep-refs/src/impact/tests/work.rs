//! Counts the work of a query. A query that repeats work fails here on every machine.

use std::fmt::Write as _;
use std::sync::Arc;

use crate::entity::Aliases;
use crate::impact::{After, Before, Edit, Question, impact};
use crate::work::Work;
use crate::world::MemoryWorld;

const DEPENDENTS: usize = 40;

/// A type that many files use, each in a function of its own that the next file calls.
fn files() -> Vec<(String, String)> {
    let hub = "export interface Hub { size: number; name: string }\nexport const make = (): Hub => ({ size: 1, name: '' });\n";
    let mut files = vec![("hub.ts".to_owned(), hub.to_owned())];
    for at in 0..DEPENDENTS {
        let next = (at + 1) % DEPENDENTS;
        let mut text = "import { Hub, make } from './hub';\n".to_owned();
        let _ = writeln!(text, "import {{ use{next} }} from './user{next}';");
        let _ = writeln!(text, "export function use{at}(hub: Hub): number {{");
        let _ = writeln!(text, "  return hub.size + make().size + use{next}(make());\n}}");
        files.push((format!("user{at}.ts"), text));
    }
    files
}

fn ask(new: impl Fn(&str) -> String) -> (usize, Work) {
    let files = files();
    let world = MemoryWorld::new(files.iter().map(|(path, text)| (path.as_str(), text.as_str())));
    let edits = [Edit {
        path: "hub.ts".to_owned(),
        former: None,
        before: Before::Text(Arc::from(files[0].1.as_str())),
        after: After::Text(new(&files[0].1).into()),
    }];
    let begun = Work::of_thread();
    let found = impact(&world, &Question { edits: &edits, aliases: &Aliases::default(), is_over: &|| false });
    (found.candidates().len(), Work::of_thread().since(begun))
}

#[test]
fn a_question_looks_at_each_file_once_in_each_world() {
    let (found, work) = ask(|text| text.replace("Hub", "Center"));
    assert_eq!(found, DEPENDENTS);
    // The present, the former, the future, and the present world without the removed definitions.
    let most = 4 * (DEPENDENTS as u64 + 1);
    assert!(work.views <= most, "{work:?}");
    let uses = 8 * DEPENDENTS as u64;
    assert!(work.types <= 4 * uses, "{work:?}");
}

#[test]
fn a_question_parses_each_content_once() {
    let (_, work) = ask(|text| text.replace("size", "length"));
    assert_eq!(work.parses, 2, "{work:?}");
}
