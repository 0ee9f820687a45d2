//! `docs/clients.md`: which scenario is played with which version of the client. Made from the lists of tests themselves.

use std::fs;

use lockstep_cli::TESTED_CLIENTS;

use crate::{XtaskResult, workspace};

/// The tests of the program that play a real client.
const TESTS: &str = "crates/lockstep/tests/it";

/// The macro that makes a test for each version.
const MACRO: &str = "on_each_client!(";

pub(crate) fn page() -> XtaskResult<String> {
    let folder = workspace::root().join(TESTS);
    let mut modules: Vec<_> = fs::read_dir(&folder)?.collect::<Result<_, _>>()?;
    modules.sort_by_key(fs::DirEntry::file_name);
    let mut rows = String::new();
    for module in modules {
        let path = module.path();
        if path.extension().is_none_or(|extension| extension != "rs") {
            continue;
        }
        let name = path.file_stem().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
        for scenario in scenarios(&fs::read_to_string(&path)?) {
            rows.push_str(&row(&name, scenario));
        }
    }
    let [newest, older] = TESTED_CLIENTS;
    Ok(format!(
        "# Tested clients\n\n\
         Made by `cargo xtask docs` from the tests. Each scenario is a session of a real Claude Code against a scripted model. Each cell \
         names the test, in `{TESTS}`. `lockstep doctor` says when your client is newer than the newest version here.\n\n\
         | scenario | {newest} | {older} |\n|---|---|---|\n{rows}"
    ))
}

fn row(module: &str, test: &str) -> String {
    let scenario = test.replace('_', " ");
    format!("| {scenario} | `{module}::{test}::newest` | `{module}::{test}::older` |\n")
}

/// The scenarios that a file of tests lists.
fn scenarios(source: &str) -> Vec<&str> {
    let lists = source.split(MACRO).skip(1).filter_map(|rest| Some(rest.split_once(");")?.0));
    lists.flat_map(|list| list.split(',')).map(str::trim).filter(|test| !test.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lists_of_a_file_are_its_scenarios() {
        let source = "fn a() {}\n\non_each_client!(\n    a,\n    b,\n);\n\non_each_client!(c);\n";
        assert_eq!(scenarios(source), ["a", "b", "c"]);
        assert_eq!(row("m", "a_b"), "| a b | `m::a_b::newest` | `m::a_b::older` |\n");
    }
}
