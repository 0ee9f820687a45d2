//! Source files that drive parsers to their limits.

use super::Numbers;

/// The extension of each language that is parsed.
pub const EXTENSIONS: [&str; 17] = [
    "rs", "ts", "tsx", "js", "py", "go", "java", "kt", "c", "h", "cpp", "cs", "rb", "php", "swift", "sh",
    "md",
];

/// Tokens that nest, repeat or never end in some language.
pub const PATTERNS: [&str; 60] = [
    "{[",
    "{",
    "(",
    "[",
    "<",
    "a<",
    "a < ",
    "a=>",
    "/* a ",
    "/*",
    "?.b",
    "Map<K, ",
    "@a(",
    "#{",
    "$(",
    "${",
    "!",
    "- ",
    "*",
    "&",
    "a?b:",
    "if(a){}else ",
    "a::",
    "a->",
    "fn a(){",
    "class A{",
    "lambda:",
    "{ a -> ",
    "a=",
    "\"",
    "'",
    "`",
    "\"\"\"",
    "<<A\n",
    "if a:\n ",
    "\"${",
    "<a b={",
    "template<class ",
    "(a)(",
    "a!(",
    "#if A\n",
    "r#\"",
    "<!--",
    "Map<K,\n",
    "a\0",
    "\0",
    "// a\\\n",
    "# a\n",
    "case a:",
    "a.b(",
    "async ",
    "=> ",
    "|a| ",
    "@a\n",
    "\\",
    "''' ",
    "a,",
    "~/",
    "%w(",
    "\u{feff}",
];

/// Texts before the repeated tokens: inside a class, an expression or a template, parsers behave differently.
const BEGINNINGS: [&str; 8] =
    ["", "<?php ", "class A { int x = ", "let x = ", "fn f() { ", "def f(a=", "package a\nfunc f() {", "/* "];

const CLOSERS: [&str; 9] = ["}", ")", ";\n", "a", " ", ">", "\n", "]", "*/"];

/// Returns a text of repeated or mixed tokens.
pub fn source_text(numbers: &mut Numbers, bytes: usize) -> String {
    let kinds = 1 + numbers.below(4);
    let tokens: Vec<&str> = (0..kinds).map(|_| *numbers.choose(&PATTERNS)).collect();
    let mut text = (*numbers.choose(&BEGINNINGS)).to_owned();
    let is_mixed = numbers.one_in(3);
    let on_one_line = numbers.one_in(2);
    while text.len() < bytes {
        text.push_str(tokens[numbers.below(kinds)]);
        if is_mixed && numbers.one_in(6) {
            text.push_str(CLOSERS[numbers.below(CLOSERS.len())]);
        }
        if !on_one_line && numbers.one_in(40) {
            text.push('\n');
        }
    }
    text
}
