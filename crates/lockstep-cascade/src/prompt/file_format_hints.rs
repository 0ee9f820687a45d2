//! The meaning of the fields in a client's own configuration files.

/// The specifications that concern these files.
pub(super) fn format_hints<'a>(paths: impl Iterator<Item = &'a str>) -> Vec<&'static str> {
    let mut fields = Vec::new();
    for path in paths {
        let Some(inside) = path.rsplit_once(".claude/").map(|(_, inside)| inside) else { continue };
        for (matches, lines) in SPECIFICATIONS {
            if matches(inside) && !lines.iter().all(|line| fields.contains(line)) {
                fields.extend(lines.iter().copied());
            }
        }
    }
    fields
}

type Specification = (fn(&str) -> bool, &'static [&'static str]);

const SPECIFICATIONS: &[Specification] = &[
    (
        |path| path.ends_with("SKILL.md"),
        &[
            "SKILL.md begins with YAML frontmatter: `name` (the name of its directory), `description` (one text; when to use it); \
             optional `allowed-tools`, `argument-hint`, `user-invocable`, `disable-model-invocation`, `model`.",
        ],
    ),
    (
        |path| path.starts_with("agents/"),
        &[
            "An agent file begins with YAML frontmatter: `name` (its file's name), `description`; optional `tools` (a list of names), \
             `model`, `skills`, `memory`, `maxTurns`.",
        ],
    ),
    (
        |path| path.starts_with("settings"),
        &[
            "In settings a hook entry has `matcher` (a string, a regular expression over tool names) and `hooks` with `type`, `command` \
             and `timeout` in seconds; an object as matcher makes the client ignore the whole file.",
        ],
    ),
    (
        |path| path.starts_with("hooks/"),
        &[
            "A hook reads JSON on standard input; exit code 0 goes on, 2 blocks with standard error as the reason.",
        ],
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_of_file_is_specified_once() {
        let fields = format_hints(
            [".claude/skills/a/SKILL.md", ".claude/skills/b/SKILL.md", "p/.claude/settings.json", "a.rs"]
                .into_iter(),
        );
        assert_eq!(fields.len(), 2);
        assert!(fields[0].starts_with("SKILL.md") && fields[1].starts_with("In settings"));
        assert!(format_hints(["src/agents/a.md"].into_iter()).is_empty());
    }
}
