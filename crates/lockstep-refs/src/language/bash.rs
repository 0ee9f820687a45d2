//! Bash: functions and variables, visible to files that source the file. Scripts that are run by their path
//! are found as [paths](crate::text).

use std::borrow::Cow;

use tree_sitter::Node;

use super::Rules;
use crate::facts::{DefinitionKind, Facts, Import, ImportForm, Reach, Role, Shape};
use crate::language::Language;
use crate::package::{self, Leads, Packages, Query};
use crate::reference::{FileReferences, Reference, Target};
use crate::syntax::children;
use crate::walk::{self, Function, Grammar, ImportOf, Walk};
use crate::world::{FileId, World, base, join, parent};

pub(super) struct Bash;

static GRAMMAR: Grammar = Grammar {
    names: &["variable_name"],
    skipped: &["raw_string", "word", "heredoc_content"],
    functions: &["function_definition"],
    ..Grammar::of(Language::Bash, special)
};

impl Rules for Bash {
    fn facts(&self, path: &str, text: &str) -> Facts {
        let text = if path.ends_with(".bats") { tests_as_functions(text) } else { Cow::Borrowed(text) };
        let mut facts = walk::facts(&GRAMMAR, &text);
        // The number of arguments of a function is not declared.
        facts.definitions.iter_mut().for_each(|definition| definition.arity = None);
        facts
    }

    fn referrers(&self, world: &dyn World, target: &Target<'_>) -> Vec<Reference> {
        package::referrers(world, self, target)
    }

    fn outgoing(&self, world: &dyn World, file: FileId) -> FileReferences {
        package::outgoing(world, self, file)
    }
}

impl Packages for Bash {
    fn language(&self) -> Language {
        Language::Bash
    }

    fn resolve_import(&self, query: &Query<'_>, file: FileId, import: &Import) -> Leads {
        let world = query.world;
        let path = import.module.trim_start_matches("./").trim_start_matches('/');
        // Bats adds the extension to the name of a loaded file.
        let at = |path: &str| world.find(path).or_else(|| world.find(&format!("{path}.bash")));
        let beside = join(parent(world.path(file)), path).and_then(|path| at(&path));
        let ends = |other: &FileId| {
            world
                .path(*other)
                .strip_suffix(path)
                .is_some_and(|strip_suffix| strip_suffix.is_empty() || strip_suffix.ends_with('/'))
        };
        let known = || {
            let all: Vec<FileId> = world.named(base(path)).into_iter().filter(ends).collect();
            world.find(path).or_else(|| all.first().copied().filter(|_| all.len() == 1))
        };
        match beside.or_else(known) {
            Some(found) => Leads::To(vec![found]),
            // A file of the machine is outside the project.
            None if import.module.starts_with('/') && import.form == ImportForm::Plain => Leads::Outside,
            None => Leads::Missing,
        }
    }

    fn includes(&self) -> bool {
        true
    }

    fn overloads(&self) -> bool {
        false
    }
}

/// Writes the tests of Bats as functions, with everything else at its place: `@test "name" {`.
fn tests_as_functions(text: &str) -> Cow<'_, str> {
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let head = line.trim_end();
        match head
            .strip_suffix('{')
            .map(str::trim_end)
            .filter(|name| name.starts_with("@test ") && name.len() > 8)
        {
            Some(test) => {
                out.extend(std::iter::repeat_n('_', test.len() - 2));
                out.push_str("()");
                out.push_str(line.get(test.len()..).unwrap_or_default());
            }
            None => out.push_str(line),
        }
    }
    Cow::Owned(out)
}

fn special(walk: &mut Walk<'_>, node: Node<'_>) -> bool {
    let field = |name| node.child_by_field_name(name);
    match node.kind() {
        "function_definition" => {
            let Some(name) = field("name") else { return false };
            let (kind, body) = (DefinitionKind::Function, field("body"));
            let parameters = Vec::new();
            walk.function(&Function {
                node,
                name,
                kind,
                reach: Reach::Everyone,
                parameters,
                result: None,
                body,
            });
        }
        "command" => command(walk, node),
        "declaration_command" => {
            let local = node.child(0).is_some_and(|word| word.kind() == "local");
            for part in children(node) {
                match field_name(part).filter(|_| local) {
                    Some(name) => {
                        walk.collector.scopes.bind(walk.text(name), Shape::Unknown);
                        part.child_by_field_name("value").into_iter().for_each(|value| walk.visit(value));
                    }
                    None => walk.visit(part),
                }
            }
        }
        "variable_assignment" => {
            let (Some(name), value) = (field_name(node), field("value")) else { return false };
            if walk.is_inside_function() {
                walk.use_bare_name(name, Role::Value, None);
            } else {
                walk.value(node, name, DefinitionKind::Value, Reach::Everyone, None, value);
            }
            value.into_iter().for_each(|value| walk.visit(value));
        }
        _ => return false,
    }
    true
}

fn field_name(node: Node<'_>) -> Option<Node<'_>> {
    match node.kind() {
        "variable_assignment" => {
            node.child_by_field_name("name").filter(|name| name.kind() == "variable_name")
        }
        "variable_name" => Some(node),
        _ => None,
    }
}

fn command(walk: &mut Walk<'_>, node: Node<'_>) {
    /// Commands whose arguments may name functions.
    const TAKERS: &[&str] =
        &["trap", "export", "declare", "type", "command", "xargs", "time", "exec", "unset", "run"];
    let name = node.child_by_field_name("name");
    let word = name.map(|name| walk.text(name)).unwrap_or_default();
    let arguments: Vec<Node<'_>> = node.children_by_field_name("argument", &mut node.walk()).collect();
    if matches!(word, "source" | "." | "load") {
        if let Some(argument) = arguments.first() {
            sourced(walk, node, *argument);
        }
        return;
    }
    if let Some(name) = name.and_then(|name| name.named_child(0)) {
        match name.kind() {
            "word" => walk.use_bare_name(name, Role::Call, None),
            _ => walk.visit(name),
        }
    }
    let handler = arguments.first().filter(|argument| word == "trap" && argument.kind().ends_with("string"));
    handler.into_iter().for_each(|child| commands_in(walk, *child));
    for argument in arguments {
        match argument.kind() {
            "word" if TAKERS.contains(&word) => walk.use_bare_name(argument, Role::Value, None),
            _ => walk.visit(argument),
        }
    }
}

/// Records the commands that a string names: `trap 'clean_up; exit' EXIT`.
fn commands_in(walk: &mut Walk<'_>, string: Node<'_>) {
    let text = walk.text(string).trim_matches(['"', '\'']);
    for command in text.split([';', '|', '&', '\n', '(', '{']) {
        let name = command.split_whitespace().next().unwrap_or_default();
        if name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | ':')) {
            walk.record_use(string, name, Role::Call, None, None);
        }
    }
}

/// Records a sourced file by the readable part of its path, after variables and commands whose values only a
/// run would show.
fn sourced(walk: &mut Walk<'_>, node: Node<'_>, argument: Node<'_>) {
    let written = walk.text(argument).trim_matches(['"', '\'']);
    let cut = [')', '}'].iter().filter_map(|end| written.rfind(*end)).max().map(|at| at + 1);
    let variable = written.rfind('$').filter(|at| cut.is_none_or(|cut| *at >= cut));
    let start = match (variable, cut) {
        (Some(at), _) => written.get(at..).and_then(|rest| rest.find('/')).map(|slash| at + slash),
        (None, cut) => cut.or(Some(0)),
    };
    let path = start.and_then(|start| written.get(start..)).unwrap_or_default().trim_matches('"');
    let form = if start == Some(0) { ImportForm::Plain } else { ImportForm::Dynamic };
    if path.len() > 1 {
        walk.import(node, ImportOf { form, ..ImportOf::module(path) });
    }
}

#[cfg(test)]
mod tests {
    use crate::fixture::{outgoing, referrers};
    use crate::language::facts;

    const PROJECT: &str = r#"
=== lib/common.sh
LIMIT=3

log_info() {
  local text="$1"
  echo "$text"
}
=== lib/all.sh
. "${LIB_DIR}/common.sh"
=== bin/run.sh
#!/bin/bash
source "$(dirname "$0")/../lib/all.sh"
source ./gone.sh
. /etc/profile

main() {
  log_info "a" "$LIMIT"
  out=$(log_info b)
  trap log_info EXIT
  echo log_info
}
=== bin/alone.sh
log_info() { echo mine; }
log_info c
=== bin/other.sh
source ../lib/common.sh
text=log_info
local_only() { local LIMIT=1; echo "$LIMIT"; }
"#;

    #[test]
    fn functions_and_variables_are_seen_by_who_sources_them() {
        assert_eq!(
            referrers(PROJECT, "lib/common.sh", "log_info"),
            ["bin/run.sh:7 Call", "bin/run.sh:8 Call", "bin/run.sh:9 Value"]
        );
        assert_eq!(referrers(PROJECT, "lib/common.sh", "LIMIT"), ["bin/run.sh:7 Value"]);
    }

    #[test]
    fn sourced_files_resolve_by_neighbour_and_partial_path() {
        let (to, missing, outside) = outgoing(PROJECT, "bin/run.sh");
        assert_eq!(to.first().map(String::as_str), Some("lib/all.sh:2"));
        assert_eq!((missing, outside), (vec!["./gone.sh:3".to_owned()], 1));
        assert_eq!(outgoing(PROJECT, "lib/all.sh").0, ["lib/common.sh:1"]);
    }

    #[test]
    fn broken_code_still_yields_facts() {
        let of = |text: &str| facts("a.sh", text).definitions.remove(0);
        let (one, body) = (of("f() { echo a; }"), of("f() { echo b; }"));
        assert!(one.signature == body.signature && one.body != body.body);
        assert_eq!(one.body, of("g() { echo a; # why\n}").body);
        let broken = facts("a.sh", "g() { echo; }\nif then (\n");
        assert!(broken.problems > 0);
        assert_eq!(&*broken.definitions[0].name, "g");
    }
}
