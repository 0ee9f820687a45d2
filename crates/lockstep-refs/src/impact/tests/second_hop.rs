//! One search for the users of several files finds what a search for each of them finds.

use std::collections::BTreeSet;

use crate::facts::{Definition, Reach};
use crate::language::{Language, rules};
use crate::overlay::Overlay;
use crate::reference::{Reference, Target};
use crate::world::{FileId, MemoryWorld, World as _};

const PYTHON: [(&str, &str); 4] = [
    (
        "a.py",
        "class Base:\n    def run(self):\n        return 1\n\n    def stop(self):\n        pass\n\n\ndef make():\n    return Base()\n",
    ),
    (
        "b.py",
        "from a import Base, make\n\n\nclass Inner(Base):\n    def __init__(self, size):\n        self.size = size\n\n    def run(self):\n        return make().run()\n\n\ndef build():\n    return Inner(1)\n",
    ),
    (
        "c.py",
        "import b\nfrom a import *\n\n\ndef run(it):\n    it.stop()\n    b.build().run()\n    return b.Inner(2).size\n\n\nhold = b.build\n",
    ),
    ("d.py", "from c import run, hold\nimport b as other\n\nrun(make())\nhold()\nother.Inner(3).stop()\n"),
];

const TYPESCRIPT: [(&str, &str); 4] = [
    (
        "a.ts",
        "export interface Shape { size: number; area(): number }\nexport const make = (): Shape => ({ size: 1, area: () => 2 });\nexport default class Box { width = 1; constructor(readonly of: Shape) {} }\n",
    ),
    (
        "b.ts",
        "import Box, { Shape, make as build } from './a';\nexport class Square implements Shape { size = 1; area() { return build().area(); } }\nexport function wrap(it: Shape): Box { return new Box(it); }\n",
    ),
    (
        "c.ts",
        "export * from './b';\nimport { Square, wrap } from './b';\nimport type { Shape } from './a';\nexport const all: Shape[] = [new Square()];\nexport function first() { return wrap(all[0]).of.size; }\n",
    ),
    (
        "d.ts",
        "import * as c from './c';\nimport Whole from './a';\nexport const n = c.first() + c.wrap(new c.Square()).width;\nexport const w: Whole = c.wrap(c.all[0]);\n",
    ),
];

fn describe(world: &Overlay<'_>, target: &Target<'_>, found: &Reference) -> String {
    let symbol = found.symbol.map(|at| &*target.symbols[at].name);
    let (from, to) = (world.path(found.file), world.path(target.file));
    format!(
        "{from}:{} {:?} {} {:?} -> {to} {symbol:?}",
        found.line, found.role, found.pattern, found.certainty
    )
}

#[test]
fn the_users_of_several_files_are_those_of_each() {
    for (language, files) in [(Language::Python, PYTHON), (Language::TypeScript, TYPESCRIPT)] {
        let world = MemoryWorld::new(files);
        let world = Overlay::empty(&world);
        let symbols: Vec<(FileId, Vec<Definition>)> = world
            .files()
            .into_iter()
            .map(|file| {
                let facts = world.facts(file).unwrap();
                (
                    file,
                    facts
                        .definitions
                        .iter()
                        .filter(|definition| definition.reach > Reach::File)
                        .cloned()
                        .collect(),
                )
            })
            .collect();
        let mut targets = Vec::new();
        for (file, symbols) in &symbols {
            targets.push(Target { file: *file, symbols, module: false, now: None, own_file: false });
        }
        let once: BTreeSet<String> = rules(language)
            .users(&world, &targets, false, &|| false)
            .iter()
            .map(|(at, found)| describe(&world, &targets[*at], found))
            .collect();
        let mut each = BTreeSet::new();
        for target in &targets {
            let found = rules(language).referrers(&world, target);
            each.extend(found.iter().map(|found| describe(&world, target, found)));
        }
        assert!(each.len() > 12, "{each:#?}");
        assert_eq!(once, each, "{language:?}");
        assert!(rules(language).users(&world, &targets, false, &|| true).is_empty(), "the time is over");
    }
}
