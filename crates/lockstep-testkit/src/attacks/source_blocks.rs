//! Shapes of hostile files that are made of blocks, heredocs, definitions and documents.

use super::Numbers;
use super::source_samples::{code, fill};

/// Openers and closers of blocks that begin with a word.
const BLOCKS: [(&str, &str); 40] = [
    ("begin\n", "end\n"),
    ("if a then\n", "end\n"),
    ("if a; then\n", "fi\n"),
    ("if a:\n\t", "\n"),
    ("if (a) {\n", "}\n"),
    ("if (a) ", ";"),
    ("else if (a) ", ";"),
    ("elif a; then\n", "fi\n"),
    ("for a in b; do\n", "done\n"),
    ("for (;;) ", ";"),
    ("while a; do ", "done\n"),
    ("while (a) ", ";"),
    ("do ", "while(a);"),
    ("do |a|\n", "end\n"),
    ("a do\n", "end\n"),
    ("def a\n", "end\n"),
    ("class A < B\n", "end\n"),
    ("module A\n", "end\n"),
    ("case a\nwhen b\n", "end\n"),
    ("case a in\nb) ", ";;\nesac\n"),
    ("switch(a){case 1:", "}"),
    ("match a {b=>", "}"),
    ("try {", "}finally{}"),
    ("try:\n ", "\n"),
    ("unless a\n", "end\n"),
    ("loop {", "}"),
    ("namespace a {", "}"),
    ("mod a {", "}"),
    ("class A { class B {", "}}"),
    ("struct a { struct {", "} a; };"),
    ("enum A { B(", ") }"),
    ("fun a() = run {", "}"),
    ("func() {", "}()"),
    ("func a() { defer func() {", "}() }"),
    ("guard let a = ", " else {}"),
    ("extension A { var a: B {", "} }"),
    ("lambda a: (", ")"),
    ("with a as b:\n  ", "\n"),
    ("unsafe { async move {", "} }"),
    ("#[cfg(a)] mod a { impl A for B { fn f() {", "} } }"),
];

pub(super) fn keyword_blocks(numbers: &mut Numbers, _: &str, bytes: usize) -> Vec<u8> {
    let kinds: Vec<_> = (0..1 + numbers.below(2)).map(|_| *numbers.choose(&BLOCKS)).collect();
    let depth = [20, 200, bytes][numbers.below(3)];
    let closes = numbers.one_in(2);
    let indents = numbers.one_in(3);
    fill(bytes, |text| {
        let mut open = Vec::new();
        while open.len() < depth && text.len() < bytes {
            let (opener, closer) = kinds[open.len() % kinds.len()];
            if indents {
                text.push_str(&" ".repeat(open.len().min(200)));
            }
            text.push_str(opener);
            open.push(closer);
        }
        if closes {
            open.iter().rev().for_each(|closer| text.push_str(closer));
        }
        text.push('\n');
    })
}

/// Beginnings of texts that end only at a word or a mark of their own, and texts inside texts.
const HEREDOCS: [&str; 30] = [
    "<<A ",
    "<<A <<B <<C\n",
    "<<~A\n#{<<~B}\n",
    "<<-'A' ",
    "cat <<A\n$(cat <<B\n",
    "$x = <<<A\n{$a[",
    "<<<'A'\n",
    "r###\"\"##",
    "r#\"",
    "R\"a(",
    "R\"(\")",
    "`${`",
    "`${a}${",
    "\"${\"",
    "\"#{\"",
    "%w[a %q(",
    "%Q{#{",
    "\"\\(\"",
    "#\"\"\"\n\\#(",
    "$\"{$\"",
    "$@\"{",
    "\"\"\"{\"\"\"",
    "f\"{f'{",
    "f\"{a:{b:{",
    "'''\"\"\"",
    "@\"\"",
    "\"${a:-\"${",
    "$'\\'",
    "q{{",
    "__END__\n=begin\n",
];

pub(super) fn heredocs(numbers: &mut Numbers, extension: &str, bytes: usize) -> Vec<u8> {
    let opener = *numbers.choose(&HEREDOCS);
    let closer = *numbers.choose(&["", "\nA\n", "A;", "}\"", ")", "\"", "\n"]);
    let has_code = numbers.one_in(2);
    fill(bytes, |text| {
        text.push_str(opener);
        if has_code {
            text.push_str(code(numbers, extension));
        }
        text.push_str(closer);
    })
}

/// Functions that return functions, and calls of calls.
pub(super) fn arrows(numbers: &mut Numbers, _: &str, bytes: usize) -> Vec<u8> {
    let piece = *numbers.choose(&[
        "a=>",
        "(a)=>",
        "(a)=>{",
        "async a=>",
        "(a:b)=>",
        "(a=",
        "<T>(a:T)=>",
        "|a|",
        "move |a|",
        "->",
        "fn(a)->",
        "{a->",
        "lambda a:",
        "\\a->",
        "func(a)",
        "func(a) func(b) ",
        "fn($a)=>",
        "function($a)use($b){",
        "->(a){",
        "a.b{|c|",
        "a?.b!.",
        "a..b..",
        "a->*b",
        "a::b::<",
        "await await ",
        "yield yield ",
        "new new ",
        "typeof ",
        "a as b as ",
        "a is b is ",
        "a?b:c?",
        "(a,b)=>(",
        "a:b:c:",
        "@a @b ",
        "@a(b)@",
        "*&*&",
        "!~-+",
        "a<b>c<",
        "a,b,...",
        "...[...[",
        "{...{...",
        "a[b[",
    ]);
    let head = *numbers.choose(&[
        "",
        "x = ",
        "let x = ",
        "var x: T = ",
        "return ",
        "f(",
        "type T = ",
        "class A { x = ",
    ]);
    let length = [50, 1_000, bytes][numbers.below(3)];
    let tail = *numbers.choose(&["", "1", "a;\n", ")\n", "}\n"]);
    fill(bytes, |text| {
        text.push_str(head);
        text.push_str(&piece.repeat((length / piece.len()).max(1)));
        text.push_str(tail);
    })
}

/// Thousands of small definitions, all of one name or each of its own, with uses of all of them.
pub(super) fn many_definitions(numbers: &mut Numbers, extension: &str, bytes: usize) -> Vec<u8> {
    let definition = match extension {
        "rs" => "pub fn N(){N()}\nuse a::N as M;\n",
        "py" => "from a import N as M\ndef N(): N(); M()\n",
        "go" => "func N() { N() }\n",
        "rb" => "def N; N; end\n",
        "sh" => "N() { N; }\n",
        "md" | "mdx" => "# N\n[a](#N) [N]: b `N`\n",
        "yaml" => "N: &N {<<: *N, a: N}\n",
        "json" => "{\"N\": \"./N.js\", \"a\": [\"N\"]},\n",
        "toml" => "[[N]]\nN = \"N\"\n[N.N]\n",
        "c" | "h" | "cpp" | "hpp" => "#define N(a) N(a)\nint N(int a) { return N(a); }\n",
        _ => "class N extends M { N() { N(); } }\n",
    };
    let is_one_name = numbers.one_in(3);
    let long = "n".repeat([1, 40, 300][numbers.below(3)]);
    let mut at = 0;
    fill(bytes, |text| {
        at += usize::from(!is_one_name);
        let (name, other) = (format!("{long}{at}"), format!("{long}{}", at / 2));
        text.push_str(&definition.replace('N', &name).replace('M', &other));
    })
}

/// Documents inside documents: aliases, tables, cells, patches, tables of Markdown, links.
pub(super) fn documents(numbers: &mut Numbers, extension: &str, bytes: usize) -> Vec<u8> {
    let piece = *numbers.choose(&[
        "- &a [*a, *a, *a]\n",
        "a: &b\n  <<: *b\n",
        "? ? ? a\n: ",
        "- - - - - ",
        "{a: {a: ",
        "!!a !b ",
        "|\n  a\n",
        "--- \n...\n",
        "[a.b.c]\n",
        "[[a]]\n[[a.b]]\n",
        "a.b.c.d = 1\n",
        "a = [[[[",
        "x = {y = {",
        "{\"cells\":[{\"source\":[\"",
        "{\"a\":[{\"a\":[",
        "\"\\u0000\\ud800\":",
        "diff --git a/x b/x\n@@ -1 +1 @@\n",
        "@@ -1,99999999 +1,99999999 @@\n",
        "+++ b/../x\n--- a/x\n",
        "> > > > ",
        "* * * ",
        "1. 1. 1. ",
        "| a | b |\n|-|-|\n",
        "[a](",
        "[a][",
        "![a](<",
        "[^a]: ",
        "<a><b><!-- ",
        "```\n~~~\n",
        "`` ` ",
        "**__**__",
        "&amp;&#x0;",
        "    a\n\tb\n",
        "[[[[[[[[",
        "![![![![",
        "<details><summary>",
        "# a\n=\n",
        ":::a\n",
        "{{a}}{%a%}",
        "$$a$$",
    ]);
    let repeats = [1, 100, bytes][numbers.below(3)];
    let has_code = numbers.one_in(4);
    fill(bytes, |text| {
        text.push_str(&piece.repeat(repeats.min(bytes / piece.len() + 1)));
        if has_code {
            text.push_str(code(numbers, extension));
        }
        if numbers.one_in(3) {
            text.push('\n');
        }
    })
}
