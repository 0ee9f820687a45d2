//! Pieces of code that [`super::source_shapes`] assembles hostile files from.

use super::Numbers;

/// Repeats pieces until a text has so many bytes.
pub(super) fn fill(bytes: usize, mut piece: impl FnMut(&mut String)) -> Vec<u8> {
    let mut text = String::with_capacity(bytes + 256);
    while text.len() < bytes {
        piece(&mut text);
    }
    text.into_bytes()
}

pub(super) fn beginning(numbers: &mut Numbers, extension: &str) -> &'static str {
    let inside = match extension {
        "php" => "<?php\nclass A { function f() { return ",
        "rs" => "impl A { fn f() { let x = ",
        "go" => "package a\n\nfunc f() {\n\tx := ",
        "java" | "cs" => "class A { int f() { return ",
        "kt" => "class A { fun f() { val x = ",
        "swift" => "class A { func f() { let x = ",
        "py" => "class A:\n    def f(self):\n        return ",
        "rb" => "class A\n  def f\n    x = ",
        "ts" | "tsx" | "js" | "jsx" => "export class A { f() { return ",
        "c" | "h" => "int f(void) { return ",
        "cpp" | "hpp" => "namespace a { template<class T> int f() { return ",
        "sh" => "f() { x=$(",
        "html" => "<!doctype html><script>",
        _ => "",
    };
    match numbers.below(4) {
        0 if extension == "php" => "<?php ",
        0 | 1 => "",
        2 => "\u{feff}",
        _ => inside,
    }
}

pub(super) const BRACKETS: [(&str, &str); 14] = [
    ("(", ")"),
    ("[", "]"),
    ("{", "}"),
    ("<", ">"),
    ("f(", ")"),
    ("a[", "]"),
    ("{a:", "}"),
    ("(a,", ")"),
    ("{|a|", "}"),
    ("(a)=>{", "}"),
    ("a<b,", ">"),
    ("${", "}"),
    ("((", "))"),
    ("{{", "}}"),
];

/// The beginnings of texts, comments, templates and documents that never end.
pub(super) const OPENERS: [&str; 28] = [
    "\"",
    "'",
    "`",
    "\"\"\"",
    "'''",
    "/*",
    "/**",
    "<!--",
    "<<EOF\n",
    "<<~A\n",
    "<<<A\n",
    "<<-'A'\n",
    "r#\"",
    "r\"",
    "@\"",
    "$\"{",
    "$@\"{",
    "#\"",
    "##\"\"\"",
    "`${",
    "\"#{",
    "\"\\(",
    "=begin\n",
    "%q(",
    "{/*",
    "R\"x(",
    "$'",
    "<![CDATA[",
];

pub(super) const OPERATORS: [&str; 40] = [
    "+", "-", "*", "/", "%", "!", "~", "&", "|", "^", "&&", "||", "??", "?", ":", "?:", "?.", "::", ".",
    "..", "...", "->", "=>", "=", "==", "===", "<", "<<", "<<<", "<=", "<=>", ">", ">>", "@", "#", "$", "\\",
    ",", ";", "!!",
];

/// A few lines of ordinary code.
pub(super) fn code(numbers: &mut Numbers, extension: &str) -> &'static str {
    let snippets: &[&str] = match extension {
        "rs" => &[
            "pub fn a<T: B>(x: &T) -> Option<u8> { x.a().map(|y| y + 1) }\n",
            "use a::{b, c::*};\nmod a;\n",
            "macro_rules! a { ($x:expr) => { $x } }\n",
        ],
        "ts" | "tsx" | "js" | "jsx" => &[
            "export const a = async (x) => { await b(x ?? `c${x}`); };\n",
            "import { a } from './b';\n",
            "class A extends B { #c = 1; get a() { return this.#c / 2; } }\n",
        ],
        "py" => &[
            "def a(x, *b, **c):\n    return [y for y in x if y]\n\n",
            "from a import b as c\n",
            "class A(B):\n    x: int = f\"{a!r}\"\n",
        ],
        "go" => &[
            "func (a *A) B(x map[string][]int) (c int, err error) { return a.b(x...), nil }\n",
            "import \"a/b\"\n",
            "type A struct { B `json:\"b\"` }\n",
        ],
        "java" | "cs" | "kt" | "swift" => &[
            "class A<T> { T a(T x) { return x == null ? b() : c(y -> y); } }\n",
            "import a.b.C;\n",
            "fun a(x: Int): Int = x\n",
            "func a(_ x: Int) -> Int { x }\n",
        ],
        "c" | "h" | "cpp" | "hpp" => &[
            "static int a(struct b *x, int (*f)(int)) { return x->a[1] ? f(2) : (int)3; }\n",
            "#include \"a.h\"\n#define A(x) ((x) + 1)\n",
            "template <class T> struct A : B<T> { auto a() -> T; };\n",
        ],
        "rb" => &[
            "def a(x, b: 1)\n  x.map { |y| \"#{y}\" }\nend\n",
            "require_relative 'a'\n",
            "class A < B\n  attr_reader :a\nend\n",
        ],
        "php" => &[
            "function a(int $x): ?string { return $x ? \"{$a['b']}\" : $this->b(fn($y) => $y); }\n",
            "use A\\B;\n",
            "?> <b> <?php\n",
        ],
        "sh" => &[
            "a() { local x=\"${1:-$(b \"$2\")}\"; case $x in a) b ;; esac; }\n",
            "source ./a.sh\n",
            "cat <<EOF\n$a\nEOF\n",
        ],
        "yaml" => &["a:\n  - b: [c, {d: e}]\n", "on: { push: { paths: ['a/b'] } }\n"],
        "json" => &["{\"a\": [1, {\"b\": \"c\\u0041\"}]}\n"],
        "toml" => &["[a.b]\nc = [{ d = 'e' }]\n"],
        _ => &["# A\n\nSee [a](b.md#c) and `d`.\n", "<a href=\"b\">c</a>\n", "a: b\n\tc $(d)\n"],
    };
    snippets[numbers.below(snippets.len())]
}
