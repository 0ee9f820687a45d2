//! Counts the work of a query. A query that repeats work fails here on every machine.

use std::fmt::Write as _;
use std::sync::Arc;

use crate::entity::Aliases;
use crate::facts::{Definition, Facts};
use crate::impact::{After, Before, Edit, Question, impact};
use crate::language::{Language, rules};
use crate::reference::{Reference, Target};
use crate::work::Work;
use crate::world::{FileId, MemoryWorld, World};

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
fn query_reads_each_file_once_per_snapshot() {
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

/// A world whose facts are stored, as those of an index are.
struct StoredWorld {
    world: MemoryWorld,
    facts: Vec<Arc<Facts>>,
}

impl StoredWorld {
    fn new(files: &[(&str, String)]) -> Self {
        let world = MemoryWorld::new(files.iter().map(|(path, text)| (*path, text.as_str())));
        let stored = |file: FileId| {
            let bytes = postcard::to_stdvec(&*world.facts(file).unwrap()).unwrap();
            Arc::new(postcard::from_bytes(&bytes).unwrap())
        };
        let facts = world.files().into_iter().map(stored).collect();
        Self { world, facts }
    }
}

impl World for StoredWorld {
    fn find(&self, path: &str) -> Option<FileId> {
        self.world.find(path)
    }

    fn path(&self, file: FileId) -> &str {
        self.world.path(file)
    }

    fn files(&self) -> Vec<FileId> {
        self.world.files()
    }

    fn directory(&self, path: &str) -> Vec<FileId> {
        self.world.directory(path)
    }

    fn named(&self, basename: &str) -> Vec<FileId> {
        self.world.named(basename)
    }

    fn containing(&self, name: &str) -> Vec<FileId> {
        self.world.containing(name)
    }

    fn text(&self, file: FileId) -> Option<Arc<str>> {
        self.world.text(file)
    }

    fn facts(&self, file: FileId) -> Option<Arc<Facts>> {
        self.facts.get(file.0 as usize).cloned()
    }
}

#[test]
fn files_that_only_tell_types_are_read_without_their_uses() {
    // Each link passes the value on and does not contain the name that the question is about.
    let mut files = vec![("hub.py", "class Hub:\n    def size(self) -> int:\n        return 1\n".to_owned())];
    files.push(("link0.py", "from hub import Hub\n\ndef pass0() -> Hub:\n    return Hub()\n".to_owned()));
    let links = ["link1.py", "link2.py", "link3.py", "link4.py"];
    for (at, path) in links.into_iter().enumerate() {
        let next = at + 1;
        files.push((
            path,
            format!("from link{at} import pass{at}\n\ndef pass{next}():\n    return pass{at}()\n"),
        ));
    }
    files.push(("user.py", "from link4 import pass4\n\npass4().size()\n".to_owned()));
    let world = StoredWorld::new(&files);
    let edits = [Edit {
        path: "hub.py".to_owned(),
        former: None,
        before: Before::Text(Arc::from(files[0].1.as_str())),
        after: After::Text(files[0].1.replace("size", "length").into()),
    }];
    let begun = Work::of_thread();
    let found = impact(&world, &Question { edits: &edits, aliases: &Aliases::default(), is_over: &|| false });
    let work = Work::of_thread().since(begun);
    assert!(found.candidates().contains("user.py"), "{found:?}");
    assert!(work.decoded_uses <= 2, "{work:?}");
}

#[test]
fn a_package_file_that_uses_another_definition_is_read_in_part() {
    let kit = "package kit\n\nconst Size = 1\n\nfunc Make() int { return 1 }\n";
    let mut files = vec![("go.mod", "module m\n".to_owned()), ("kit/kit.go", kit.to_owned())];
    let users = ["a/a.go", "b/b.go"];
    for path in users {
        files.push((
            path,
            "package a\n\nimport \"m/kit\"\n\nfunc Use() int { return kit.Make() }\n".to_owned(),
        ));
    }
    for path in ["c/c.go", "d/d.go", "e/e.go", "f/f.go"] {
        let text = "package c\n\nimport \"m/kit\"\n\nfunc Use(of T) int { return kit.Size + of.Make() }\n";
        files.push((path, text.to_owned()));
    }
    let world = StoredWorld::new(&files);
    let edits = [Edit {
        path: "kit/kit.go".to_owned(),
        former: None,
        before: Before::Text(kit.into()),
        after: After::Text(kit.replace("Make", "Build").into()),
    }];
    let begun = Work::of_thread();
    let found = impact(&world, &Question { edits: &edits, aliases: &Aliases::default(), is_over: &|| false });
    let work = Work::of_thread().since(begun);
    assert_eq!(found.candidates().into_iter().collect::<Vec<_>>(), users);
    // Only the references that are judged need all uses of their file.
    assert_eq!(work.decoded_uses, users.len() as u64, "{work:?}");
}

#[test]
fn converted_values_are_evaluated_once_for_all_methods() {
    const METHODS: u64 = 12;
    let mut kit = "package kit\n\ntype T struct{}\n\ntype Able interface {\n".to_owned();
    for at in 0..METHODS {
        let _ = writeln!(kit, "\tMake{at}()");
    }
    kit.push_str("}\n\nfunc NewT() *T { return &T{} }\n\nfunc Take(able Able) {}\n\n");
    for at in 0..METHODS {
        let _ = writeln!(kit, "func (t *T) Make{at}() {{}}");
    }
    let mut files = vec![("go.mod".to_owned(), "module m\n".to_owned()), ("kit/kit.go".to_owned(), kit)];
    for at in 0..DEPENDENTS {
        let text = format!("package user{at}\n\nimport \"m/kit\"\n\nfunc Use() {{ kit.Take(kit.NewT()) }}\n");
        files.push((format!("user{at}/user.go"), text));
    }
    let world = MemoryWorld::new(files.iter().map(|(path, text)| (path.as_str(), text.as_str())));
    let renamed = files[1].1.replace("(t *T) Make", "(t *T) Build");
    let edits = [Edit {
        path: "kit/kit.go".to_owned(),
        former: None,
        before: Before::Text(Arc::from(files[1].1.as_str())),
        after: After::Text(renamed.into()),
    }];
    let begun = Work::of_thread();
    let found = impact(&world, &Question { edits: &edits, aliases: &Aliases::default(), is_over: &|| false });
    let work = Work::of_thread().since(begun);
    assert_eq!(found.candidates().len(), DEPENDENTS, "{found:?}");
    // A conversion evaluates its value and the receiver of its call, in each world and at each hop.
    assert!(work.types <= 12 * DEPENDENTS as u64, "{work:?}");
}

#[test]
fn definitions_of_one_name_are_searched_together() {
    const OWNERS: usize = 12;
    let mut files = Vec::new();
    for at in 0..OWNERS {
        files.push((
            format!("kit{at}.ts"),
            format!("export class Kit{at} {{ make(): number {{ return {at}; }} }}\n"),
        ));
    }
    for at in 0..DEPENDENTS {
        let of = at % OWNERS;
        let text =
            format!("import {{ Kit{of} }} from './kit{of}';\nexport const made = new Kit{of}().make();\n");
        files.push((format!("user{at}.ts"), text));
    }
    let world = MemoryWorld::new(files.iter().map(|(path, text)| (path.as_str(), text.as_str())));
    let symbols: Vec<Vec<Definition>> = (0..OWNERS)
        .map(|at| {
            let facts = world.facts(world.find(&format!("kit{at}.ts")).unwrap()).unwrap();
            facts.definitions.iter().filter(|definition| &*definition.name == "make").cloned().collect()
        })
        .collect();
    let target = |(at, symbols)| {
        let file = world.find(&format!("kit{at}.ts")).unwrap();
        Target { file, symbols, module: false, now: None, own_file: false }
    };
    let targets: Vec<Target<'_>> = symbols.iter().map(Vec::as_slice).enumerate().map(target).collect();
    let begun = Work::of_thread();
    let found = rules(Language::TypeScript).users(&world, &targets, true, &|| false);
    let work = Work::of_thread().since(begun);
    let of_file =
        |file: FileId| world.path(file).strip_prefix("user")?.strip_suffix(".ts")?.parse::<usize>().ok();
    let is_of_owner =
        |(at, pair): &(usize, Reference)| of_file(pair.file).is_some_and(|user| user % OWNERS == *at);
    assert!(found.len() == DEPENDENTS && found.iter().all(is_of_owner), "{found:?}");
    assert!(work.searched <= (OWNERS + DEPENDENTS) as u64, "{work:?}");
}

#[test]
fn calls_of_one_function_evaluate_its_receiver_once() {
    let kit = "package kit\n\ntype T struct{}\n\ntype Able interface {\n\tMake()\n}\n\ntype Box struct{ Inner *Box }\n\n\
               func (b *Box) Take(able Able) {}\n\nfunc (t *T) Make() {}\n";
    let calls = "\tb.Inner.Inner.Inner.Take(&kit.T{})\n".repeat(50);
    let user = format!("package user\n\nimport \"m/kit\"\n\nfunc Use(b *kit.Box) {{\n{calls}}}\n");
    let files = [("go.mod", "module m\n"), ("kit/kit.go", kit), ("user/user.go", &user)];
    let world = MemoryWorld::new(files);
    let edits = [Edit {
        path: "kit/kit.go".to_owned(),
        former: None,
        before: Before::Text(Arc::from(kit)),
        after: After::Text(kit.replace("(t *T) Make", "(t *T) Build").into()),
    }];
    let begun = Work::of_thread();
    let found = impact(&world, &Question { edits: &edits, aliases: &Aliases::default(), is_over: &|| false });
    let work = Work::of_thread().since(begun);
    assert_eq!(found.candidates().into_iter().collect::<Vec<_>>(), ["user/user.go"]);
    // The value of each call, in each world; without a memo the receiver took four more.
    assert!(work.types <= 4 * 50, "{work:?}");
}
