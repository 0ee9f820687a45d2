//! The `lockstep.toml` that `lockstep init` writes: every key, commented out, with its default.

use crate::keys::SECTIONS;
use crate::table::{Key, Section};

const WIDTH: usize = 100;

const HEADER: &str = "\
# Lockstep's configuration. This file makes the project active; every key in it is optional.
# Each key is shown with its default. To change one, remove the `#` before it.
";

/// The text of a new `lockstep.toml`. It sets nothing.
pub fn template() -> String {
    let mut out = HEADER.to_owned();
    for section in SECTIONS {
        write_section(&mut out, section);
    }
    out
}

fn write_section(out: &mut String, section: &Section) {
    out.push('\n');
    write_comment(out, &section.doc());
    out.push_str(&format!("[{}]\n", section.name));
    for key in section.keys {
        write_key(out, key);
    }
}

fn write_key(out: &mut String, key: &Key) {
    out.push('\n');
    write_comment(out, &key.doc());
    write_comment(out, &format!("Takes {}.", key.kind.describe()));
    if let Some((header, lines)) = key.example() {
        out.push_str(&format!("# For example:\n#   {header}\n"));
        lines.iter().for_each(|line| out.push_str(&format!("#   {line}\n")));
    }
    out.push_str(&format!("#{} = {}\n", key.name, key.default_toml()));
}

/// Writes `text` as comment lines of at most [`WIDTH`] characters, broken between words.
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
    use crate::table::all_keys;
    use crate::{Config, parse};

    #[test]
    fn it_sets_nothing() {
        let loaded = parse(template());
        assert_eq!(loaded.problems, []);
        assert_eq!(loaded.origins, []);
        assert_eq!(loaded.config, Config::default());
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
    fn it_reads_well() {
        assert!(template().lines().all(|line| line.chars().count() <= WIDTH));
        insta::assert_snapshot!(template());
    }
}
