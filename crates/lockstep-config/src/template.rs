//! Two forms of a new `lockstep.toml`: the short one that `lockstep init` writes, and one with every key.

use crate::key_schema::{KeySchema, SectionSchema};
use crate::keys::SECTIONS;

const WIDTH: usize = 100;

const HEADER: &str = "\
# Lockstep's configuration. This file makes the project active; every key in it is optional.
# Each key is shown with its default. To change one, remove the `#` before it.
";

/// The text that `lockstep init` writes. It sets nothing, since every key has a default, and names the
/// documentation of the keys.
pub const SHORT: &str = "\
# Lockstep's configuration. This file makes Lockstep's hooks work in this project.
# Every key has a default, so it can stay as it is. To change a key, add it here, for example:
#
#   [scope]
#   exclude = [\"dist/\"]
#
# `lockstep config template` prints every key with its meaning and default (also in docs/reference/configuration.md
# of Lockstep's documentation), and `lockstep config show` prints the values in effect.
";

/// A `lockstep.toml` with every key commented out, with its meaning and default. It sets nothing.
pub fn template() -> String {
    let mut out = HEADER.to_owned();
    for section in SECTIONS {
        write_section(&mut out, section);
    }
    out
}

fn write_section(out: &mut String, section: &SectionSchema) {
    out.push('\n');
    write_comment(out, &section.doc());
    out.push_str(&format!("[{}]\n", section.name));
    for key in section.keys {
        write_key(out, key);
    }
}

fn write_key(out: &mut String, key: &KeySchema) {
    out.push('\n');
    write_comment(out, &key.doc());
    write_comment(out, &format!("Takes {}.", key.kind.describe()));
    if let Some((header, lines)) = key.example() {
        out.push_str(&format!("# For example:\n#   {header}\n"));
        lines.iter().for_each(|line| out.push_str(&format!("#   {line}\n")));
    }
    out.push_str(&format!("#{} = {}\n", key.name, key.default_toml()));
}

/// Writes `text` as comment lines of at most [`WIDTH`] characters, wrapped between words.
fn write_comment(out: &mut String, text: &str) {
    let mut width = 0;
    for word in text.split_whitespace() {
        let length = word.chars().count() + 1;
        if width == 0 || width + length > WIDTH {
            out.push_str(if width == 0 { "#" } else { "\n#" });
            width = 1;
        }
        out.push(' ');
        out.push_str(word);
        width += length;
    }
    out.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key_schema::all_keys;
    use crate::{Config, parse};

    #[test]
    fn template_sets_no_key() {
        for text in [template().as_str(), SHORT] {
            let loaded = parse(text);
            assert_eq!(loaded.problems, []);
            assert_eq!(loaded.origins, []);
            assert_eq!(loaded.config, Config::default());
        }
    }

    #[test]
    fn the_short_form_is_short_and_its_example_is_valid() {
        assert!(SHORT.lines().count() <= 12);
        let example: String = SHORT
            .lines()
            .filter_map(|line| line.strip_prefix("#   "))
            .flat_map(|line| [line, "\n"])
            .collect();
        let loaded = parse(&example);
        assert_eq!(loaded.problems, []);
        assert_eq!(loaded.origins.len(), 1);
    }

    #[test]
    fn without_the_marks_it_sets_every_key_to_its_default() {
        let text: String = template()
            .lines()
            .map(|line| if line.starts_with("# ") { line } else { line.trim_start_matches('#') })
            .flat_map(|line| [line, "\n"])
            .collect();
        let loaded = parse(&text);
        assert_eq!(loaded.problems, []);
        assert_eq!(loaded.origins.len(), all_keys().count());
        assert_eq!(loaded.config, Config::default());
    }

    #[test]
    fn template_matches_snapshot() {
        assert!(template().lines().all(|line| line.chars().count() <= WIDTH));
        insta::assert_snapshot!(template());
    }
}
