//! A map that was updated many times equals a new one, after any changes of the files.

#![allow(clippy::unwrap_used)]

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;

use jiff::civil::date;
use lockstep_map::incremental_render::{DocumentChunk, render_incremental};
use lockstep_map::record::MapRecord;
use lockstep_map::update::{MapUpdate, MapUpdateInput, TraceSource, TraceWrite, update};
use lockstep_map::view::MapView;
use lockstep_refs::entity::Aliases;
use lockstep_refs::world::{FileId, MemoryWorld, World as _};
use proptest::prelude::*;

type Files = BTreeMap<String, String>;

struct Kept(Vec<u8>);

impl TraceSource for Kept {
    fn read(&self, range: Range<u64>) -> Option<Cow<'_, [u8]>> {
        let range = usize::try_from(range.start).ok()?..usize::try_from(range.end).ok()?;
        self.0.get(range).map(Cow::Borrowed)
    }
}

/// A map with its stored state.
struct Map {
    record: MapRecord,
    answers: Kept,
    text: String,
}

impl Map {
    fn new() -> Self {
        Self { record: MapRecord::empty(date(2026, 2, 14)), answers: Kept(Vec::new()), text: String::new() }
    }

    /// Brings it up to date; returns how many files were resolved.
    fn update(&mut self, files: &Files) -> usize {
        let world = MemoryWorld::new(files.iter().map(|(path, text)| (path.as_str(), text.as_str())));
        let versions: Vec<(FileId, u64)> = world
            .files()
            .into_iter()
            .map(|file| {
                let mut hasher = DefaultHasher::new();
                world.text(file).unwrap().hash(&mut hasher);
                (file, hasher.finish())
            })
            .collect();
        let present = MapUpdateInput {
            world: &world,
            files: &versions,
            again: &HashSet::new(),
            aliases: &Aliases::default(),
            today: date(2026, 2, 14),
            progress: &|_, _| {},
        };
        // Reads the record back from its encoding.
        let old = match self.record.entries.is_empty() {
            true => self.record.clone(),
            false => {
                let bytes = self.record.encode();
                MapRecord::read(&mut &*bytes, bytes.len() as u64).unwrap().0
            }
        };
        let former_record = old.clone();
        let MapUpdate { mut record, answers, resolved, changed_entries, mut amendment, .. } =
            update(old, &present, &self.answers).unwrap();
        let is_appended = matches!(answers, TraceWrite::Append(_));
        match answers {
            TraceWrite::Append(bytes) => self.answers.0.extend(bytes),
            TraceWrite::Replace(bytes) => self.answers.0 = bytes,
        }
        assert_eq!(record.about.answer_bytes, self.answers.0.len() as u64);
        let cold = |_: &str| false;
        let former = |range: Range<u64>| Some(self.text.get(narrow(&range))?.as_bytes().to_vec());
        let (text, blocks) = match render_incremental(&record, &cold, &changed_entries, &former) {
            Some(drawing) => {
                let piece = |piece: &DocumentChunk| match piece {
                    DocumentChunk::Reused(range) => self.text[narrow(range)].to_owned(),
                    DocumentChunk::New(text) => text.clone(),
                };
                (drawing.pieces.iter().map(piece).collect(), drawing.blocks)
            }
            None => {
                let created = MapView::new(&record, &cold).document(None);
                (created.text, created.blocks)
            }
        };
        let other = record.set_entry_sizes(&blocks);
        record.about.written.size = text.len() as u64;
        // A record read from a delta equals the complete record.
        amendment.mark_changed(changed_entries.into_iter().chain(other));
        if is_appended {
            let after = former_record.apply_deltas(&[&amendment.encode(&record)]).unwrap().0;
            assert_eq!(after, record);
        }
        (self.record, self.text) = (record, text);
        resolved
    }

    fn text(&self) -> String {
        self.text.clone()
    }
}

fn narrow(range: &Range<u64>) -> Range<usize> {
    range.start.try_into().unwrap()..range.end.try_into().unwrap()
}

fn built(files: &Files) -> String {
    let mut map = Map::new();
    map.update(files);
    map.text()
}

fn files(texts: &[(&str, &str)]) -> Files {
    texts.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect()
}

fn refs(map: &Map, path: &str) -> Vec<String> {
    let refs = map.record.refs(map.record.find(path).unwrap());
    refs.iter().map(|to| map.record.entries[*to as usize].path.to_string()).collect()
}

#[test]
fn a_body_change_updates_no_other_entry() {
    let mut all = files(&[
        ("a.py", "def load():\n    return 1\n"),
        ("b.py", "from a import load\n"),
        ("c.py", "from b import load\n\nload()\n"),
    ]);
    let mut map = Map::new();
    assert_eq!(map.update(&all), 3);
    assert_eq!(refs(&map, "c.py"), ["a.py", "b.py"]);
    assert_eq!(map.update(&all), 0);
    all.insert("a.py".into(), "# why\n\ndef load():\n    return 2\n".into());
    assert_eq!(map.update(&all), 1);
    all.insert("a.py".into(), "def read():\n    return 2\n".into());
    assert_eq!(map.update(&all), 3, "who asked what it offers is asked again");
    assert_eq!(map.text(), built(&all));
}

#[test]
fn unresolved_import_resolves_when_its_file_is_added() {
    let mut all = files(&[
        ("web/use.ts", "import { one } from \"./lib\";\none();\n"),
        ("docs/guide.md", "See [the plan](plan.md).\n"),
        ("run.sh", "source ./lib/common.sh\n"),
        ("src/App.java", "package app;\nclass App { Store store; }\n"),
        ("other.md", "nothing\n"),
    ]);
    let mut map = Map::new();
    map.update(&all);
    assert!((0..map.record.entries.len()).all(|at| map.record.refs(at).is_empty()));
    all.insert("web/lib/index.ts".into(), "export function one() {}\n".into());
    all.insert("docs/plan.md".into(), "# Plan\n".into());
    all.insert("lib/common.sh".into(), "log() { :; }\n".into());
    all.insert("src/Store.java".into(), "package app;\nclass Store {}\n".into());
    let resolved = map.update(&all);
    assert!(resolved < 9, "{resolved}");
    assert_eq!(map.text(), built(&all));
    for (from, to) in [
        ("web/use.ts", "web/lib/index.ts"),
        ("docs/guide.md", "docs/plan.md"),
        ("run.sh", "lib/common.sh"),
        ("src/App.java", "src/Store.java"),
    ] {
        assert_eq!(refs(&map, from), [to]);
    }
}

#[test]
fn damaged_answers_are_noticed() {
    let mut all = files(&[("a.py", "def load():\n    return 1\n"), ("b.py", "from a import load\n")]);
    let mut map = Map::new();
    map.update(&all);
    map.answers.0[0] ^= 1;
    all.remove("a.py");
    let world = MemoryWorld::new(all.iter().map(|(path, text)| (path.as_str(), text.as_str())));
    let present = MapUpdateInput {
        world: &world,
        files: &[(FileId(0), 1)],
        again: &HashSet::new(),
        aliases: &Aliases::default(),
        today: date(2026, 2, 14),
        progress: &|_, _| {},
    };
    assert!(update(map.record, &present, &map.answers).is_err());
}

/// The names of files and definitions.
const NAMES: &[&str] = &["alpha", "beta", "gamma", "delta-one", "index", "mod"];
const FOLDERS: &[&str] =
    &["", "src/", "src/alpha/", "pkg/", ".claude/skills/alpha/", ".claude/agents/", "docs/"];
const ENDINGS: &[&str] =
    &["py", "ts", "rs", "java", "go", "cs", "sh", "md", "rb", "php", "h", "c", "kt", "swift"];

/// Generates the path of a source file, or of a file that describes the project's structure.
fn paths() -> impl Strategy<Value = String> {
    let ordinary = (0..FOLDERS.len(), 0..NAMES.len(), 0..ENDINGS.len())
        .prop_map(|(folder, name, ending)| format!("{}{}.{}", FOLDERS[folder], NAMES[name], ENDINGS[ending]));
    let special = prop::sample::select(vec![
        "Cargo.toml",
        "pkg/Cargo.toml",
        "package.json",
        "tsconfig.json",
        "go.mod",
        "composer.json",
        "src/lib.rs",
        "pkg/src/lib.rs",
        "pkg/__init__.py",
        "src/alpha/__init__.py",
        ".claude/skills/alpha/SKILL.md",
        ".claude/skills/beta/SKILL.md",
        ".claude/settings.json",
        "README.md",
        "docs/README.md",
    ]);
    prop_oneof![6 => ordinary, 2 => special.prop_map(str::to_owned)]
}

/// A text that may mean something in any of the languages.
fn text(path: &str, pieces: &[(usize, usize, usize)]) -> String {
    let name = |at: usize| NAMES[at % NAMES.len()].replace('-', "_");
    let written = |at: usize| NAMES[at % NAMES.len()];
    match path.rsplit('/').next().unwrap() {
        "Cargo.toml" => {
            return format!(
                "[package]\nname = \"{}\"\n[dependencies]\n{} = {{ path = \"pkg\" }}\n",
                name(pieces.len()),
                name(pieces.len() + 1)
            );
        }
        "package.json" => {
            return format!(
                "{{\"name\": \"{}\", \"main\": \"src/{}.ts\"}}\n",
                name(pieces.len()),
                name(pieces.len() + 2)
            );
        }
        "tsconfig.json" => {
            return format!(
                "{{\"compilerOptions\": {{\"baseUrl\": \".\", \"paths\": {{\"{}/*\": [\"src/*\"]}}}}}}\n",
                name(pieces.len())
            );
        }
        "go.mod" => return format!("module example.org/{}\n", name(pieces.len())),
        "composer.json" => {
            return format!(
                "{{\"autoload\": {{\"psr-4\": {{\"{}\\\\\": \"src/\"}}}}}}\n",
                name(pieces.len())
            );
        }
        _ => {}
    }
    let ending = path.rsplit('.').next().unwrap();
    let mut out = match ending {
        "java" | "kt" => format!("package {};\n", name(pieces.len())),
        "go" => format!("package {}\n", name(pieces.len())),
        "cs" => format!("namespace {} {{\n", name(pieces.len())),
        "php" => format!("<?php\nnamespace {};\n", name(pieces.len())),
        "md" if path.contains(".claude") => format!("---\nname: {}\n---\n", written(pieces.len())),
        _ => String::new(),
    };
    for (kind, one, two) in pieces {
        let (a, b, path) = (
            name(*one),
            name(*two),
            format!(
                "{}{}.{}",
                FOLDERS[two % FOLDERS.len()],
                written(*one),
                ENDINGS[(one + two) % ENDINGS.len()]
            ),
        );
        let import = kind % 3 == 0;
        let use_ = kind % 3 == 1;
        out += &match ending {
            "py" if import => format!("from {a} import {b}\n"),
            "py" if use_ => format!("def run_{b}():\n    return {a}.{b}({b}())\n"),
            "py" => format!("class {b}(src.{a}.{b}):\n    def {a}(self):\n        return self\n"),
            "ts" if import => format!("export {{ {b} }} from \"./{a}\";\nimport {a} from \"{a}/{b}\";\n"),
            "ts" if use_ => format!("import * as {b} from \"../{a}\";\n{b}.{a}();\n"),
            "ts" => format!("export class {a} extends {b} {{ {b}() {{ return new {a}(); }} }}\n"),
            "rs" if import => format!("mod {a};\nuse crate::{a}::{b};\n"),
            "rs" if use_ => format!("pub use super::{a}::*;\npub fn run_{b}() {{ {a}::{b}(); {b}!(); }}\n"),
            "rs" => {
                format!("pub struct {a};\nimpl {b} for {a} {{ fn {b}(&self) {{}} }}\npub trait {b} {{}}\n")
            }
            "java" | "kt" if import => format!("import {a}.{b};\n"),
            "java" => format!("class {a} extends {b} {{ {b} {a}; void {b}() {{ {a}.{b}(); }} }}\n"),
            "kt" => format!("class {a} : {b}() {{ fun {b}() = {a}() }}\n"),
            "go" if import => format!("import \"example.org/{a}/{b}\"\n"),
            "go" => format!("type {a} struct {{ x {b} }}\nfunc run_{b}() {{ {a}.{b}() }}\n"),
            "cs" if import => format!("global using {a};\nusing {a}.{b};\n"),
            "cs" => format!("class {a} : {b} {{ {b} x; void {b}() {{ {a}.{b}(); }} }}\n"),
            "sh" if import => format!("source \"$DIR/{a}.sh\"\n. ./src/{b}.sh\n"),
            "sh" => format!("{a}() {{ {b}; }}\nbash {path}\n"),
            "rb" if import => format!("require_relative '{a}'\nrequire '{b}'\n"),
            "rb" => format!("class {a} < {b}\n  def {b}\n    {a}.new.{b}\n  end\nend\n"),
            "php" if import => format!("use {a}\\{b};\nrequire 'src/{a}.php';\n"),
            "php" => format!("class {a} extends {b} {{ function {b}() {{ return new {b}(); }} }}\n"),
            "h" | "c" if import => format!("#include \"{a}.h\"\n#include \"src/{b}.h\"\n"),
            "h" => format!("struct {a} {{ struct {b} *x; }};\nvoid run_{b}(void);\n"),
            "c" => format!("void run_{a}(void) {{ run_{b}(); }}\n"),
            "swift" => format!("class {a}: {b} {{ func {b}() {{ {a}().{b}() }} }}\n"),
            _ if import => format!("See [{a}]({path}) and `{}`.\n", written(*two)),
            _ if use_ => format!(
                "INPUT_FROM: {}\nRun `{path}`, or skills/{}/SKILL.md.\n",
                written(*one),
                written(*two)
            ),
            _ => format!("\"../{}/README.md\" and docs/README.md, {}\n", written(*one), written(*two)),
        };
    }
    if ending == "cs" { out + "}\n" } else { out }
}

/// A change of the files.
#[derive(Debug, Clone)]
enum Act {
    Write(String, Vec<(usize, usize, usize)>),
    Remove(prop::sample::Index),
    Move(prop::sample::Index, String),
    Update,
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let pieces = || proptest::collection::vec((0..60_usize, 0..60_usize, 0..60_usize), 0..5);
    let act = prop_oneof![
        6 => (paths(), pieces()).prop_map(|(path, pieces)| Act::Write(path, pieces)),
        1 => any::<prop::sample::Index>().prop_map(Act::Remove),
        1 => (any::<prop::sample::Index>(), paths()).prop_map(|(from, to)| Act::Move(from, to)),
        3 => Just(Act::Update),
    ];
    proptest::collection::vec(act, 10..80)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn an_updated_map_equals_a_rebuilt_one(acts in acts()) {
        let mut all = Files::new();
        let mut map = Map::new();
        for act in acts {
            match act {
                Act::Write(path, pieces) => {
                    let text = text(&path, &pieces);
                    all.insert(path, text);
                }
                Act::Remove(_) | Act::Move(..) if all.is_empty() => {}
                Act::Remove(which) => {
                    let path = which.get(&all.keys().cloned().collect::<Vec<_>>()).clone();
                    all.remove(&path);
                }
                Act::Move(which, to) => {
                    let path = which.get(&all.keys().cloned().collect::<Vec<_>>()).clone();
                    let text = all.remove(&path).unwrap();
                    all.insert(to, text);
                }
                Act::Update => {
                    map.update(&all);
                    prop_assert_eq!(map.text(), built(&all));
                }
            }
        }
        map.update(&all);
        prop_assert_eq!(map.text(), built(&all));
    }
}
