//! Reads a few fields of a Markdown file's frontmatter.
//!
//! This is not a YAML parser: many frontmatters in practice are not valid YAML (`description: Use when: …`),
//! and the clients accept them. A field is one line `key: value`, a quoted value, or a value that continues
//! in indented lines.

/// The lines between the leading `---` and the next; `None` without a closed frontmatter.
pub(crate) fn block(text: &str) -> Option<&str> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let rest = text.strip_prefix("---")?;
    let body = rest.strip_prefix("\r\n").or_else(|| rest.strip_prefix('\n'))?;
    let mut at = 0;
    for line in body.split_inclusive('\n') {
        if line.trim_end() == "---" {
            return Some(&body[..at]);
        }
        at += line.len();
    }
    None
}

/// Returns the value of a top-level field as one line, or `None` if it is missing or empty.
pub(crate) fn field(block: &str, key: &str) -> Option<String> {
    let mut lines = block.lines();
    let first = lines.find_map(|line| line.strip_prefix(key)?.strip_prefix(':'))?.trim();
    let further = lines.map_while(|line| {
        let continues = line.trim().is_empty() || line.starts_with([' ', '\t']);
        continues.then(|| line.trim())
    });
    let value = match first {
        // A block scalar: the value is in the indented lines alone.
        "" | ">" | "|" | ">-" | "|-" | ">+" | "|+" => joined("", further),
        quoted if quoted.starts_with(['"', '\'']) => unquoted(&joined(quoted, further)),
        plain => joined(plain, further.take_while(|line| !line.starts_with("- "))),
    };
    Some(value.trim().to_owned()).filter(|value| !value.is_empty())
}

fn joined<'a>(first: &str, further: impl Iterator<Item = &'a str>) -> String {
    further.filter(|line| !line.is_empty()).fold(first.to_owned(), |mut all, line| {
        if !all.is_empty() {
            all.push(' ');
        }
        all + line
    })
}

/// Removes the quotes of `"a \"b\""` and `'a ''b'''`; returns an unclosed text unchanged.
fn unquoted(text: &str) -> String {
    let inner = |quote| text.strip_prefix(quote).and_then(|text| text.strip_suffix(quote));
    if let Some(text) = inner('"') {
        text.replace("\\\"", "\"").replace("\\\\", "\\")
    } else if let Some(text) = inner('\'') {
        text.replace("''", "'")
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str, key: &str) -> Option<String> {
        field(block(text)?, key)
    }

    #[test]
    fn fields_of_every_form() {
        let text = "---\nname: a\ndescription: Use when: it's \"hot\"\nfolded: >-\n  one\n  two\n\nplain: one\n  two\n\
                    double: \"say \\\"hi\\\"\"\nsingle: 'it''s'\nempty:\nlist:\n  - x\n---\nbody: no\n";
        let found = |key| of(text, key);
        assert_eq!(found("name").unwrap(), "a");
        assert_eq!(found("description").unwrap(), "Use when: it's \"hot\"");
        assert_eq!(found("folded").unwrap(), "one two");
        assert_eq!(found("plain").unwrap(), "one two");
        assert_eq!(found("double").unwrap(), "say \"hi\"");
        assert_eq!(found("single").unwrap(), "it's");
        assert_eq!(found("empty"), None);
        assert_eq!(found("body"), None);
        assert_eq!(found("nam"), None);
    }

    #[test]
    fn windows_line_ends_and_a_byte_order_mark() {
        assert_eq!(of("\u{feff}---\r\nskill_id: DEV-001\r\n---\r\n", "skill_id").unwrap(), "DEV-001");
    }

    #[test]
    fn a_frontmatter_that_is_not_closed_is_none() {
        assert_eq!(block("---\nname: a\n"), None);
        assert_eq!(block("# no\n---\nname: a\n---\n"), None);
    }
}
