//! Robustness of every language: text that is cut off anywhere, nested too deeply, or of another kind.

use lockstep_refs::language::{self, rules};
use lockstep_refs::reference::Target;
use lockstep_refs::world::{MemoryWorld, World};

/// A file of each language, with something of everything it has.
const SAMPLES: &[(&str, &str)] = &[
    (
        "a/a.go",
        "package a\nimport x \"m/b\"\ntype T[K any] struct { x.B; F []*K }\nfunc (t *T) G(a, b int, c ...string) (x.B, error) { for i, v := range t.F { v.H(i)[0] = T{F: nil} }; return f(c...) }\n",
    ),
    (
        "A.java",
        "package p; import static q.R.*; @An(v = 1) class A<T extends B> extends q.C<T> implements D { int[] f = {1}; A(int... x) { super(x); } <R> R g(T t) { var y = t.h()::k; return (R) y.z[0]; } enum E { X(1) { } } record P(int a) {} }",
    ),
    (
        "a.kt",
        "package p\nimport q.*\nclass A<T>(val x: Int = 1, vararg y: T) : B<T>(x), C {\n  fun List<T>.e(): Int? = this.size\n  val (a, b) = f { it.g(1) { z -> z!!.h } }\n  companion object { const val K = 1 }\n}\n",
    ),
    (
        "a.cs",
        "using static A.B; namespace N { partial class C<T> : D, E where T : F { [At(1)] public int P { get; } = 1; public C(params int[] x) : base(x) { a?.b.c(1)?.d[0].e(); foreach (var (k, v) in z) { } } static int X(this T t, int n = 1) => t is F f ? f.g : new H { I = 1 }.J; } }",
    ),
    (
        "a.c",
        "#include \"b.h\"\n#define M(a, ...) f(a)\ntypedef struct { int x[3]; } T;\nstatic int f(void) { T t = { .x = {1} }; struct s *p = (struct s *)t.x; return p->q[0].r(M(1)); }\n",
    ),
    (
        "a.cpp",
        "namespace a::b { using c::d; template <typename T> class E : public F<T>, G { E(int x = 1) : g(x) {} virtual ~E(); operator bool() const; enum class H { I }; std::map<int, F<T>> m; }; }\nint a::b::E<int>::f() { auto l = [&](auto z) { return z->w; }; return l(1).x; }\n",
    ),
    (
        "a.rb",
        "require_relative 'b'\nmodule A::B\n  class C < D::E\n    include F\n    attr_reader :g\n    def initialize(a, b = 1, *c, d: 2, **e, &f)\n      @h, i = *c\n      @j ||= K.new(1) { |l, (m, n)| l.o }\n    end\n    def self.p = q&.r\n  end\n  S = Struct.new(:t) do\n  end\nend\n",
    ),
    (
        "a.php",
        "<?php namespace A\\B; use C\\{D as E, function f}; #[At(1)] class G extends H implements I { use J; const K = 1; public function __construct(private ?E $l = null, ...$m) { parent::__construct(...$m); $n = fn($o) => $o?->p()->q[0]; static::$r = self::K; } } enum S: int { case T = 1; }",
    ),
    (
        "a.swift",
        "import A\n@testable import B\nextension C: D where E == F { init?(x: Int = 1, _ y: [G]...) { guard let z = y.first?.h({ $0.i }) else { return nil }; switch z { case .j(let k): k.l() } } }\nenum M<T>: N { indirect case o(T), p }\n",
    ),
    (
        "a.sh",
        "source \"$(dirname \"$0\")/b.sh\"\nf() { local a=${B:-c}; g \"$@\" | while read -r x; do h $((x + 1)); done <<< \"$y\"; }\ntrap f EXIT\n",
    ),
    ("a.md", "---\nname: x\n---\n# A `b`\n[c](d.md#e) ```\n"),
];

/// Runs every query on a text.
fn ask(path: &str, text: &str) {
    let world = MemoryWorld::new([(path, text), ("other/b.txt", text)]);
    for file in world.files() {
        let facts = world.facts(file).expect("in memory");
        let target = Target { file, symbols: &facts.definitions, module: true, now: None, own_file: false };
        rules(facts.language).referrers(&world, &target);
        rules(facts.language).outgoing(&world, file);
        for used in &facts.uses {
            assert!(used.line as usize <= text.lines().count().max(1), "{path}: {used:?}");
        }
    }
}

#[test]
fn text_that_is_cut_off_anywhere_is_read() {
    for (path, text) in SAMPLES {
        for at in (0..text.len()).filter(|at| text.is_char_boundary(*at)).step_by(31) {
            ask(path, &text[..at]);
            ask(path, &text[at..]);
        }
    }
}

#[test]
fn nesting_beyond_reason_is_a_problem_and_no_crash() {
    for (path, open) in [
        ("a.go", "package a\nfunc f() { g("),
        ("A.java", "class A { int f = g("),
        ("a.kt", "val f = g("),
        ("a.cs", "class A { int f = g("),
        ("a.c", "int f = g("),
        ("a.cpp", "A<B<"),
        ("a.rb", "g("),
        ("a.php", "<?php g("),
        ("a.swift", "let f = g("),
        ("a.sh", "x=$(g "),
        ("b.java", "class A { A<A<"),
        ("b.cs", "class A { A<A<"),
        ("b.swift", "let x: A<A<"),
        ("c.cs", "class A { int f = a?.b"),
    ] {
        let (start, unit) = match open.rfind([' ', '\n']) {
            Some(at) => open.split_at(at + 1),
            None => ("", open),
        };
        let text = format!("{start}{}", unit.repeat(600));
        assert!(language::facts(path, &text).problems > 0, "{path}");
    }
}

#[test]
fn one_language_in_the_clothes_of_another_is_read() {
    for (path, _) in SAMPLES {
        for (_, text) in SAMPLES {
            ask(path, text);
            // Some of these made a grammar go on for ever.
            ask(path, &text.replace([' ', '('], "ö\n"));
        }
    }
}
