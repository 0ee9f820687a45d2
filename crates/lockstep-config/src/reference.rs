//! The reference page of `lockstep.toml`, in Markdown.

use crate::key_schema::{KeySchema, SectionSchema};
use crate::keys::SECTIONS;
use crate::nested_tables::TableDoc;
use crate::value::ValueKind;

const HEADER: &str = "\
# `lockstep.toml`

The file lies at the root of a project, and its presence makes the project active. Every key has a default, so an
empty file is a valid one. What is not known here is an error; `lockstep config show` prints every value in effect
and where it comes from.
";

/// The page, made from the table of keys.
pub fn reference_markdown() -> String {
    let mut out = HEADER.to_owned();
    for section in SECTIONS {
        write_section(&mut out, section);
    }
    out
}

fn write_section(out: &mut String, section: &SectionSchema) {
    out.push_str(&format!("\n## `[{}]`\n\n{}\n", section.name, section.doc()));
    for key in section.keys {
        write_key(out, key);
    }
}

fn write_key(out: &mut String, key: &KeySchema) {
    out.push_str(&format!(
        "\n### `{}`\n\n{}\n\n- Takes {}.\n- Default: `{}`\n",
        key.name,
        key.doc(),
        describe_kind(key.kind),
        key.default_toml(),
    ));
    if let ValueKind::Tables(about) | ValueKind::TableList(about) = key.kind {
        write_fields(out, key, &about);
    }
}

fn write_fields(out: &mut String, key: &KeySchema, about: &TableDoc) {
    out.push_str("\n| field | meaning | takes | default |\n|---|---|---|---|\n");
    for field in (about.fields)() {
        let takes = describe_kind(field.kind);
        out.push_str(&format!(
            "| `{}` | {} | {takes} | `{}` |\n",
            field.name,
            field.doc(),
            (field.default)()
        ));
    }
    if let Some((header, lines)) = key.example() {
        out.push_str(&format!("\n```toml\n{header}\n{}\n```\n", lines.join("\n")));
    }
}

/// Describes the values of a key, formatted as code.
fn describe_kind(kind: ValueKind) -> String {
    match kind {
        ValueKind::Enum(words) => {
            words().iter().map(|word| format!("`\"{word}\"`")).collect::<Vec<_>>().join(", ")
        }
        other => other.describe(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key_schema::all_keys;

    #[test]
    fn reference_page_documents_every_key() {
        let page = reference_markdown();
        for key in all_keys() {
            let (_, section) =
                page.split_once(&format!("## `[{}]`", key.section)).expect("the section is there");
            let section = section.split("\n## ").next().expect("a split has a first part");
            assert!(section.contains(&format!("### `{}`", key.name)), "[{}] {}", key.section, key.name);
            assert!(section.contains(&key.doc()));
            assert!(section.contains(&key.default_toml()));
            if let ValueKind::Tables(about) | ValueKind::TableList(about) = key.kind {
                for field in (about.fields)() {
                    assert!(section.contains(&format!("| `{}` | {}", field.name, field.doc())));
                }
            }
        }
    }
}
