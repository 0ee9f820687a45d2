//! Generated source files of many shapes, in every language that is read.

use super::source_samples::{BRACKETS, OPENERS, OPERATORS, beginning, code, fill};
use super::sources::{PATTERNS, source_text};
use super::{Numbers, source_blocks};

/// The extensions of [`source_file`]: every language, with documents and configuration.
pub const SOURCE_EXTENSIONS: [&str; 28] = [
    "rs", "ts", "tsx", "js", "jsx", "py", "go", "java", "kt", "c", "h", "cpp", "hpp", "cs", "rb", "php",
    "swift", "sh", "md", "mdx", "yaml", "json", "toml", "html", "txt", "mk", "ipynb", "yml",
];

/// A shape of file: it fills about so many bytes with what it makes of the numbers and the extension.
type Shape = fn(&mut Numbers, &str, usize) -> Vec<u8>;

const SHAPES: [(&str, Shape); 23] = [
    ("keyword blocks", source_blocks::keyword_blocks),
    ("heredocs", source_blocks::heredocs),
    ("arrows", source_blocks::arrows),
    ("many definitions", source_blocks::many_definitions),
    ("documents", source_blocks::documents),
    ("tokens", tokens),
    ("nested brackets", nested_brackets),
    ("unclosed text", unclosed_text),
    ("operators", operators),
    ("long names", long_names),
    ("deep generics", deep_generics),
    ("attributes", attributes),
    ("bytes between tokens", bytes_between_tokens),
    ("one line", one_line),
    ("carriage returns", carriage_returns),
    ("elements", elements),
    ("regular expressions", regular_expressions),
    ("preprocessor", preprocessor),
    ("front matter", front_matter),
    ("indentation", indentation),
    ("mutations", mutations),
    ("chains", chains),
    ("noise", noise),
];

/// Returns a hostile file and the name of its shape.
pub fn source_file(numbers: &mut Numbers, extension: &str, bytes: usize) -> (&'static str, Vec<u8>) {
    let (name, shape) = SHAPES[numbers.below(SHAPES.len())];
    let mut file = beginning(numbers, extension).as_bytes().to_vec();
    file.extend(shape(numbers, extension, bytes));
    (name, file)
}

fn tokens(numbers: &mut Numbers, _: &str, bytes: usize) -> Vec<u8> {
    source_text(numbers, bytes).into_bytes()
}

/// Brackets of one or several kinds: never closed, closed in order, or closed in the wrong order.
fn nested_brackets(numbers: &mut Numbers, _: &str, bytes: usize) -> Vec<u8> {
    let kinds: Vec<_> = (0..1 + numbers.below(3)).map(|_| *numbers.choose(&BRACKETS)).collect();
    let order = numbers.below(3);
    let depth = [4, 40, 400, bytes][numbers.below(4)];
    fill(bytes, |text| {
        let mut open = Vec::new();
        while open.len() < depth && text.len() < bytes {
            let (opener, closer) = kinds[numbers.below(kinds.len())];
            text.push_str(opener);
            open.push(closer);
        }
        text.push('1');
        match order {
            0 => {}
            1 => open.iter().rev().for_each(|closer| text.push_str(closer)),
            _ => open.iter().for_each(|closer| text.push_str(closer)),
        }
        text.push_str([";\n", ", ", "\n"][depth % 3]);
    })
}

fn unclosed_text(numbers: &mut Numbers, extension: &str, bytes: usize) -> Vec<u8> {
    let opener = *numbers.choose(&OPENERS);
    let again = numbers.one_in(2);
    let escapes = numbers.one_in(3);
    fill(bytes, |text| {
        if again || text.is_empty() {
            text.push_str(opener);
        }
        text.push_str(if escapes { "\\" } else { "" });
        text.push_str(code(numbers, extension));
    })
}

fn operators(numbers: &mut Numbers, _: &str, bytes: usize) -> Vec<u8> {
    let chosen: Vec<_> = (0..1 + numbers.below(3)).map(|_| *numbers.choose(&OPERATORS)).collect();
    let operand = *numbers.choose(&["", "a", " a ", "1", " ", "a b", "await ", "not ", "new "]);
    fill(bytes, |text| {
        text.push_str(operand);
        text.push_str(chosen[numbers.below(chosen.len())]);
    })
}

fn long_names(numbers: &mut Numbers, extension: &str, bytes: usize) -> Vec<u8> {
    let length = [300, 5_000, 50_000, bytes][numbers.below(4)];
    let letter = *numbers.choose(&["a", "_", "é", "名", "a_", "a.", "a::", "a-", "A/", "\u{200d}a"]);
    fill(bytes, |text| {
        let name = letter.repeat(length.min(bytes) / letter.len() + 1);
        text.push_str(&code(numbers, extension).replace('a', &name));
        text.push_str(&name);
    })
}

fn deep_generics(numbers: &mut Numbers, _: &str, bytes: usize) -> Vec<u8> {
    let opener = *numbers.choose(&[
        "A<",
        "A<B,",
        "Map<K, ",
        "A[",
        "A[B,",
        "impl A<",
        "dyn A<",
        "A::<",
        "fn(A<",
        "A<?extends ",
        "template<class A=",
        "A<{a:",
        "(A<",
        "A<[",
        "A<()=>",
        "typeof A<",
        "A<in B, ",
        "&'a A<",
    ]);
    let head =
        *numbers.choose(&["", "let x: ", "type T = ", "class C extends ", "var x ", "void f(", "x as "]);
    let depth = [30, 300, bytes][numbers.below(3)];
    fill(bytes, |text| {
        text.push_str(head);
        let count = depth.min(bytes / opener.len());
        text.push_str(&opener.repeat(count));
        if numbers.one_in(2) {
            text.push('B');
            text.push_str(&">".repeat(count));
        }
        text.push_str(";\n");
    })
}

fn attributes(numbers: &mut Numbers, extension: &str, bytes: usize) -> Vec<u8> {
    let attribute = *numbers.choose(&[
        "@a(",
        "@a\n",
        "@a.b.c ",
        "@A(@B(",
        "#[a]",
        "#[a(",
        "#![a]\n",
        "[A]",
        "[A(",
        "[[a]]",
        "__attribute__((a)) ",
        "@a(x=[",
        "@[",
        "@{",
        "@file:a ",
        "#a(",
        "@available(",
        "declare(a)",
        "@a @b ",
        "alignas(",
    ]);
    let every = 1 + numbers.below(400);
    let mut count = 0;
    fill(bytes, |text| {
        text.push_str(attribute);
        count += 1;
        if count % every == 0 {
            text.push_str(code(numbers, extension));
        }
    })
}

/// Bytes that are no text, or no token, between those of ordinary code.
fn bytes_between_tokens(numbers: &mut Numbers, extension: &str, bytes: usize) -> Vec<u8> {
    let odd = *numbers.choose(&[
        &b"\0"[..],
        b"\xff",
        b"\xc3",
        b"\xed\xa0\x80",
        b"\xf5\x80",
        b"\xef\xbb\xbf",
        b"\x1a",
        b"\x0c",
        b"\x0b",
        b"\xe2\x80\xa8",
        b"\xc2\xa0",
        b"\xe2\x80\x8b",
        b"\\\n",
    ]);
    let rarity = [1, 3, 60][numbers.below(3)];
    let mut file = Vec::new();
    while file.len() < bytes {
        for word in code(numbers, extension).split_inclusive([' ', '(', '.', '\n']) {
            file.extend_from_slice(word.as_bytes());
            if numbers.one_in(rarity) {
                file.extend_from_slice(odd);
            }
        }
    }
    file
}

fn one_line(numbers: &mut Numbers, extension: &str, bytes: usize) -> Vec<u8> {
    fill(bytes, |text| text.push_str(&code(numbers, extension).replace('\n', " ")))
}

fn carriage_returns(numbers: &mut Numbers, extension: &str, bytes: usize) -> Vec<u8> {
    let end = *numbers.choose(&["\r", "\r\r\n", "\n\r", "\u{2028}", "\u{85}", "\u{b}"]);
    fill(bytes, |text| text.push_str(&code(numbers, extension).replace('\n', end)))
}

fn elements(numbers: &mut Numbers, _: &str, bytes: usize) -> Vec<u8> {
    let element = *numbers.choose(&[
        "<a>",
        "<a.b>{",
        "<>",
        "<a b={",
        "<a {...",
        "<a b=\"",
        "<A<B>>",
        "<a:b ",
        "</a>",
        "<a/>",
        "{x && <a>",
        "<a>{c=>",
        "<![",
        "<?a ",
        "<a\n",
        "&lt;",
        "<script>",
        "<style>{",
        "{{",
        "{% a %}",
    ]);
    let head = *numbers.choose(&["", "const x = ", "return (", "function f(){ return "]);
    let closes = numbers.one_in(2);
    let mut file = head.as_bytes().to_vec();
    let count = bytes / element.len();
    file.extend(element.repeat(count).bytes());
    if closes {
        file.extend("</a>".repeat(count).bytes());
    }
    file
}

fn regular_expressions(numbers: &mut Numbers, _: &str, bytes: usize) -> Vec<u8> {
    let piece = *numbers.choose(&[
        "/[",
        "/(",
        "/(?:",
        "/a/",
        "/a/g.",
        "= /",
        "(/",
        "/\\/",
        "/[/]/",
        "%r{",
        "#/",
        "/x|",
        "~ /",
        "split(/ /",
        "/*/",
        "//[",
        "~= /a",
        "if (a) /b",
        "a / b / ",
        "/(?<a>",
    ]);
    let line = numbers.one_in(3);
    fill(bytes, |text| {
        text.push_str(piece);
        text.push_str(if line { "\n" } else { "" });
    })
}

fn preprocessor(numbers: &mut Numbers, extension: &str, bytes: usize) -> Vec<u8> {
    let directive = *numbers.choose(&[
        "#if A\n",
        "#ifdef A\n#else\n",
        "#if A && (\n",
        "#elif A\n",
        "#define A(x) A(x) \\\n",
        "#define A \\\n",
        "#include <a\n",
        "#include \"a\n",
        "#pragma a \\\n",
        "#region\n",
        "#if A\n{\n#else\n(\n#endif\n",
        "#endif\n",
        "??=",
        "%:if A\n",
        "#if os(a) || (\n",
        "ifeq (a,$(\n",
        "define A\n",
        "$(call A,",
        "#line 1 \"",
        "#error '\n",
    ]);
    let with_code = numbers.one_in(2);
    fill(bytes, |text| {
        text.push_str(directive);
        if with_code {
            text.push_str(code(numbers, extension));
        }
    })
}

/// YAML, TOML and JSON, alone or before a document.
fn front_matter(numbers: &mut Numbers, extension: &str, bytes: usize) -> Vec<u8> {
    let fence = *numbers.choose(&["", "---\n", "+++\n", ";;;\n", "---json\n", "```yaml\n", "~~~\n"]);
    let piece = *numbers.choose(&[
        "a: ",
        "- ",
        "- - ",
        "? ",
        "&a ",
        "*a ",
        "a: &a [*a, ",
        "!!a ",
        "{a: ",
        "[",
        "\"a\": {",
        "{\"a\": ",
        "a.",
        "[a.",
        "[[a]]\n",
        "a = [",
        "a = {a = ",
        "a: |\n ",
        "a: >\n",
        "<<: *a\n",
        "%YAML 1\n",
        "---\n",
        "...\n",
        "a: 'x",
        "| a | b |\n|---|",
        "> ",
        "> > ",
        "* ",
        "    ",
        "[a](",
        "![",
        "[[",
        "**",
        "`",
        "``` \n",
        "# ",
        "- [ ] ",
        "<a ",
        "[a]: ",
        "\\[",
        "1. ",
    ]);
    let after = numbers.one_in(3);
    let mut file = fence.as_bytes().to_vec();
    file.extend(fill(bytes, |text| {
        text.push_str(piece);
        if after && numbers.one_in(50) {
            text.push_str(code(numbers, extension));
        }
    }));
    file
}

fn indentation(numbers: &mut Numbers, _: &str, bytes: usize) -> Vec<u8> {
    let head = *numbers.choose(&[
        "if a:",
        "a:",
        "- a",
        "def f():",
        "class A",
        "begin",
        "* a",
        "{",
        "do",
        "for a in b:",
    ]);
    let unit = *numbers.choose(&[" ", "  ", "\t", " \t", "\u{3000}"]);
    let falls = numbers.one_in(2);
    let mut depth = 0;
    fill(bytes, |text| {
        text.push_str(&unit.repeat(depth));
        text.push_str(head);
        text.push('\n');
        depth = if falls && numbers.one_in(30) { numbers.below(depth + 1) } else { depth + 1 };
    })
}

/// Ordinary code with pieces taken out, doubled, exchanged or replaced by tokens of other languages.
fn mutations(numbers: &mut Numbers, extension: &str, bytes: usize) -> Vec<u8> {
    let mut file = fill(bytes, |text| text.push_str(code(numbers, extension)));
    for _ in 0..1 + numbers.below(60) {
        let at = numbers.below(file.len());
        let end = (at + 1 + numbers.below(40)).min(file.len());
        match numbers.below(4) {
            0 => drop(file.drain(at..end)),
            1 => {
                let piece = file[at..end].repeat(1 + numbers.below(200));
                file.splice(at..at, piece);
            }
            2 => {
                let piece = numbers.choose(&PATTERNS).repeat(1 + numbers.below(400));
                file.splice(at..end, piece.into_bytes());
            }
            _ => file[at..end].reverse(),
        }
        if file.is_empty() {
            return file;
        }
    }
    file
}

fn chains(numbers: &mut Numbers, _: &str, bytes: usize) -> Vec<u8> {
    let link = *numbers.choose(&[
        ".a()",
        ".a",
        "?.a()",
        "::a()",
        "->a()",
        "[0]",
        "()",
        "!",
        "(a)",
        " + a",
        " and a",
        " || a",
        " if a else b",
        " ? a : b",
        " else if (a) {} ",
        " elif a:\n  b\n",
        "case 1: ",
        "when a then b\n",
        "| a ",
        " && a",
        "<<a",
        ", a",
        "; a",
        " = a",
        " as a",
        " is a",
        " in a",
        " of a",
        ".then(a => a)",
        ".a { it }",
        " -> a",
        " => a",
        " |> a",
        "`a`",
        " 'a'",
        " \"a\"",
    ]);
    let head = *numbers.choose(&[
        "a",
        "x = a",
        "let x = a",
        "if (a) {} ",
        "return a",
        "if a:\n  b\n",
        "switch (a) {",
    ]);
    let mut file = head.as_bytes().to_vec();
    file.extend(link.repeat(bytes / link.len()).bytes());
    file
}

fn noise(numbers: &mut Numbers, _: &str, bytes: usize) -> Vec<u8> {
    let range = [256, 128, 32][numbers.below(3)];
    (0..bytes).map(|_| u8::try_from(numbers.below(range)).unwrap_or_default()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shape_fills_a_file_of_every_language() {
        for (at, (name, shape)) in SHAPES.iter().enumerate() {
            for extension in SOURCE_EXTENSIONS {
                let file = shape(&mut Numbers::new(at as u64), extension, 2_000);
                assert!(file.len() > 1_000 || *name == "mutations", "{name} in {extension}: {}", file.len());
            }
        }
    }

    #[test]
    fn a_seed_gives_the_same_file() {
        let file = || source_file(&mut Numbers::new(7), "rs", 3_000);
        assert_eq!(file(), file());
    }
}
