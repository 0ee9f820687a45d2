//! Arbitrary characters, and code that was cut, spliced and repeated, in every language. Facts are found or
//! counted as problems; nothing panics, and locations are correct.

use std::sync::Arc;

use lockstep_refs::entity::Aliases;
use lockstep_refs::facts::Facts;
use lockstep_refs::impact::{After, Before, Edit, Question, impact};
use lockstep_refs::language::{self, facts};
use lockstep_refs::world::{MemoryWorld, World as _};
use proptest::prelude::*;

/// A path and a piece of code for each language.
const CODE: &[(&str, &str)] = &[
    (
        "a.rs",
        "use crate::b::{self, C as D, *};\npub mod m { pub fn f(x: &D) -> Option<u8> { x.y()?.z(1) } }\nimpl<T> E for F<T> { type G = H; const I: u8 = 1; }\nmacro_rules! k { ($a:expr) => { $a.l() } }\npub use b::q as r;\n",
    ),
    (
        "a.ts",
        "import x, { y as z } from './b';\nexport * from './c';\nexport default class K<T> extends L implements M { #p = 1; get q(): N { return this.#p as any } }\nexport const f = async (a?: string, ...r: number[]) => { await import('./d'); };\nnamespace O.P { export enum Q { R } }\n",
    ),
    ("a.tsx", "import { A } from './a';\nexport const B = (p: P) => <A.C d={p.e} {...p}><></></A.C>;\n"),
    ("a.js", "const { a, b: c } = require('./b');\nmodule.exports = { d() {}, e };\nexports.f = class {};\n"),
    (
        "a.py",
        "from . import b as c, d\nfrom ..e import *\n__all__ = ['f']\nclass G(H, metaclass=I):\n    j: 'K' = None\n    @property\n    def l(self, *m, n=1, **o) -> 'P':\n        return super().l().q[0]\n",
    ),
    (
        "a.go",
        "package p\nimport (\n\tq \"m/x/q\"\n\t. \"m/y\"\n)\ntype T[K any] struct { A, B int; *C }\nfunc (t *T[K]) M(a, b int, c ...string) (q.R, error) { return t.A.N(q.S{}) }\n",
    ),
    (
        "a.java",
        "package a.b;\nimport static c.D.*;\nimport e.F;\npublic sealed interface G<T> permits H { default <U> int i(U u, int... v) { return F.j(u).k(); } }\nrecord L(int m) {}\n",
    ),
    (
        "a.kt",
        "package a\nimport b.C as D\nfun <T> D.e(f: Int = 1, vararg g: T): H? = this?.i { it.j() }\nobject K { const val L = 1 }\nsealed class M(val n: D) : O(), P by n\n",
    ),
    (
        "a.c",
        "#include \"b.h\"\n#define F(x) ((x)->y)\nstatic inline int f(struct g *h, ...) { return F(h)(1); }\ntypedef struct { int a; } T;\n",
    ),
    (
        "a.cpp",
        "#include <b/c.hpp>\nnamespace a::b { template <class T> class C : public D<T> { virtual void e() const = 0; ~C(); }; }\nusing a::b::C;\nint a::b::C<int>::f() { return this->g.h<1>(2); }\n",
    ),
    (
        "a.cs",
        "using static A.B;\nusing C = D.E;\nnamespace F;\npublic partial record class G(int H) : I { public J K { get; init; } = new(); async Task<L> M(params int[] n) => await N?.O(n); }\n",
    ),
    (
        "a.rb",
        "require_relative 'b'\nmodule A\n  class C < D\n    include E\n    attr_accessor :f\n    def self.g(h, *i, j: 1, &k) = L.m(h)&.n\n  end\nend\n",
    ),
    (
        "a.php",
        "<?php\nnamespace A\\B;\nuse C\\{D, E as F};\nuse function G\\h;\nabstract class I extends D implements F { use J; public function __construct(private ?K $l = null) { parent::m(...$n); } }\nrequire __DIR__ . '/b.php';\n",
    ),
    (
        "a.swift",
        "import A\npublic protocol B: C { associatedtype D }\nextension E where F: G { func h(_ i: J..., k l: M = .n) -> some O { self.p?.q { $0.r } } }\n",
    ),
    (
        "a.sh",
        "source \"$(dirname \"$0\")/b.sh\"\nf() { local x=${1:-$(g)}; ./c.sh \"$x\"; }\ncat <<EOF\n$(f)\nEOF\n",
    ),
    (
        "a.md",
        "---\nname: a\nskills: [b, c]\n---\n# T\n| Receives From |\n|---|\n| b |\n[x](./a.rs#L1) `c` /d @e ![i](<a b.png>)\n",
    ),
    ("a.yaml", "a: &b\n  - c.py\n  - {d: ./e.sh}\n"),
    ("a.json", "{\"hooks\": {\"Stop\": [{\"command\": \"$CLAUDE_PROJECT_DIR/a.sh\"}]}}"),
    ("a.toml", "[a]\nb = \"c/d.rs\"\n"),
    ("a.html", "<a href='a.md'><script src=\"a.js\"></script>"),
    ("a.txt", "see a.rs and a/b.py\n"),
];

/// Pieces of all the code, cut anywhere and put together in any order.
fn scraps() -> impl Strategy<Value = String> {
    let scrap = (0..CODE.len(), any::<prop::sample::Index>(), any::<prop::sample::Index>()).prop_map(
        |(which, from, to)| {
            let characters: Vec<char> = CODE[which].1.chars().collect();
            let (from, to) = (from.index(characters.len()), to.index(characters.len()));
            characters[from.min(to)..from.max(to)].iter().collect::<String>()
        },
    );
    let odd = prop_oneof![
        Just("\u{feff}".to_owned()),
        Just("\0".to_owned()),
        Just("\r\n".to_owned()),
        Just("é\u{301}\u{202e}🦀".to_owned()),
        Just("(".repeat(2_000)),
        Just("{[(".repeat(700)),
        Just("a.".repeat(3_000)),
        Just("x".repeat(50_000)),
        any::<String>(),
    ];
    proptest::collection::vec(prop_oneof![8 => scrap, 1 => odd], 0..6).prop_map(|scraps| scraps.concat())
}

fn holds(facts: &Facts, text: &str) {
    // A text that ends in the middle of a line has one line more than ends.
    let lines = u32::try_from(text.split('\n').count()).expect("a small text");
    for definition in &facts.definitions {
        assert!(definition.line >= 1 && definition.line <= definition.end_line, "{definition:?}");
        assert!(definition.end_line <= lines + 1, "{definition:?} of {lines} lines");
    }
    let count = u32::try_from(facts.definitions.len()).expect("a small text");
    for candidate in &facts.uses {
        assert!(
            candidate.line >= 1 && candidate.line <= lines && candidate.within.is_none_or(|at| at < count),
            "{candidate:?}"
        );
    }
    assert!(facts.imports.iter().all(|import| import.line >= 1 && import.line <= lines));
}

#[test]
fn every_language_finds_something_in_its_own_code() {
    for (path, text) in CODE {
        let found = facts(path, text);
        holds(&found, text);
        let code = !matches!(path.rsplit('.').next().unwrap(), "yaml" | "json" | "toml" | "html" | "txt");
        assert!(!code || !found.definitions.is_empty(), "{path}: {found:?}");
    }
}

#[test]
fn no_nesting_is_too_deep() {
    let chains = ["a.b.".repeat(1_000), "a().".repeat(1_000), "a[".repeat(1_000), "f(a, ".repeat(1_000)];
    let nests = ["x = ".repeat(1_000), "-!".repeat(1_000), "<a>".repeat(1_000), "{ if (a) ".repeat(1_000)];
    for (path, text) in CODE {
        for deep in chains.iter().chain(&nests) {
            let text = format!("{text}{deep}a\n");
            holds(&facts(path, &text), &text);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn no_text_is_too_odd(text in scraps(), which in 0..CODE.len()) {
        let path = CODE[which].0;
        holds(&facts(path, &text), &text);
    }

    #[test]
    fn no_change_is_too_odd(before in scraps(), after in scraps(), which in 0..CODE.len(), other in 0..CODE.len()) {
        let (path, user) = (CODE[which].0, format!("user/{}", CODE[other].0));
        let whole = format!("{}{}", CODE[other].1, CODE[which].1);
        let world = MemoryWorld::new([(path, &*after), (&*user, &*whole), ("Cargo.toml", "[package]\nname = \"a\"\n")]);
        let edit = Edit { path: path.to_owned(), former: None, before: Before::Text(Arc::from(before)), after: After::Present };
        let found = impact(&world, &Question { edits: &[edit], aliases: &Aliases::default(), is_over: &|| false });
        for (file, dependent) in found.dependents() {
            prop_assert_ne!(&file.path, &dependent.path);
        }
        for file in world.files() {
            let language = world.facts(file).unwrap().language;
            language::rules(language).outgoing(&world, file);
        }
    }
}
