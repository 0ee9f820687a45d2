//! Allowed dependencies between crates, as resolved by cargo.

use super::purity::PURE_CRATES;
use super::{Rule, Violation};
use crate::metadata::Metadata;
use crate::workspace::SourceFile;

pub(super) const NO_RUNTIME: &str = "No library links an async runtime.";
pub(super) const NO_RUNTIME_WHY: &str = "a client starts a hook for every tool call, and a runtime costs each of them a third of a millisecond and a set of \
     threads. Only the program itself has one, for its MCP server; who else may is named in MAY_HAVE_RUNTIME in xtask/src/tidy/dependencies.rs.";

pub(super) const RUNTIME_APART: Rule = Rule {
    asks: "Only the MCP server names the async runtime.",
    why: "what hooks and verbs run must not start one, nor become async: the server calls their functions on threads that may \
          block. Give the server a plain function instead.",
    breaches: runtime_names,
};

/// The one place where the runtime is at home.
const SERVER: &str = "crates/lockstep/src/mcp/";

fn runtime_names(file: &SourceFile) -> Vec<Violation> {
    let bound =
        file.path.starts_with("crates/") && file.path.ends_with(".rs") && !file.path.starts_with(SERVER);
    let lines = file.text.lines().enumerate().filter(|_| bound);
    lines
        .filter_map(|(index, line)| {
            let code = line.split("//").next().unwrap_or(line);
            let named = ["tokio::", "rmcp::"].into_iter().find(|name| code.contains(name))?;
            Some(Violation::on_line(file, index, format!("uses {named}")))
        })
        .collect()
}

pub(super) const SYSTEM_APART: Rule = Rule {
    asks: "Only lockstep-fs calls the operating system directly.",
    why: "another platform is then the work of one crate. Call a function of lockstep-fs, or add one there.",
    breaches: system_names,
};

/// The places that may name the system's own interfaces: their crate, the crate of the tests, and this rule.
const SYSTEM: [&str; 3] = ["crates/lockstep-fs/", "crates/lockstep-testkit/", "xtask/src/tidy/"];

fn system_names(file: &SourceFile) -> Vec<Violation> {
    let in_source =
        file.path.contains("/src/") && !file.path.contains("/tests/") && file.path.ends_with(".rs");
    if !in_source || SYSTEM.iter().any(|crate_path| file.path.starts_with(crate_path)) {
        return Vec::new();
    }
    let used =
        |line: &str| ["os::unix", "os::windows", "rustix::"].into_iter().find(|name| line.contains(name));
    let lines = file.text.lines().enumerate();
    lines
        .filter_map(|(index, line)| Some(Violation::on_line(file, index, format!("uses {}", used(line)?))))
        .collect()
}

pub(super) const PURE_BELOW: &str = "A pure crate depends on no crate of ours that is not pure.";
pub(super) const PURE_BELOW_WHY: &str =
    "a crate is as pure as what it calls. Move what both need into a pure crate, or take it as an argument.";

const RUNTIMES: &[&str] = &["tokio", "async-std", "smol"];

/// The program serves MCP and so waits for many things at once; `xtask` describes the program.
const MAY_HAVE_RUNTIME: &[&str] = &["lockstep-cli", "xtask"];

pub(super) fn runtimes(metadata: &Metadata) -> Vec<Violation> {
    let bound = metadata.members().filter(|member| !MAY_HAVE_RUNTIME.contains(&member.name.as_str()));
    bound
        .flat_map(|member| {
            let linked = metadata.linked(member);
            let reached = RUNTIMES.iter().filter_map(|runtime| Some((runtime, *linked.get(runtime)?)));
            reached
                .map(|(runtime, through)| {
                    Violation::new(&member.name, format!("reaches {runtime} through {through}"))
                })
                .collect::<Vec<_>>()
        })
        .collect()
}

pub(super) fn impure_below_pure(metadata: &Metadata) -> Vec<Violation> {
    let is_pure = |name: &str| PURE_CRATES.contains(&name);
    let ours: Vec<&str> = metadata.members().map(|member| member.name.as_str()).collect();
    let pure = metadata.members().filter(|member| is_pure(&member.name));
    pure.flat_map(|member| {
        let linked = metadata.linked(member);
        let impure = ours.iter().filter(|name| !is_pure(name) && linked.contains_key(**name));
        impure.map(|name| Violation::new(&member.name, format!("depends on {name}"))).collect::<Vec<_>>()
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// A workspace of `members`, in which each pair of `edges` is a dependency of that kind.
    fn resolved(members: &[&str], others: &[&str], edges: &[(&str, &str, Option<&str>)]) -> Metadata {
        let all: Vec<&str> = members.iter().chain(others).copied().collect();
        let packages: Vec<_> = all
            .iter()
            .map(|name| json!({"name": name, "version": "1.0.0", "id": name, "license": "MIT"}))
            .collect();
        let nodes: Vec<_> = all
            .iter()
            .map(|name| {
                let of = edges.iter().filter(|(from, ..)| from == name);
                let deps: Vec<_> =
                    of.map(|(_, to, kind)| json!({"pkg": to, "dep_kinds": [{"kind": kind}]})).collect();
                json!({"id": name, "deps": deps})
            })
            .collect();
        let value = json!({"packages": packages, "target_directory": "target", "workspace_members": members, "resolve": {"nodes": nodes}});
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn only_the_server_names_the_runtime() {
        let at = |path: &str| SourceFile {
            path: path.to_owned(),
            text: "use tokio::sync::mpsc;\n// tokio::time\n".to_owned(),
        };
        assert!(runtime_names(&at("crates/lockstep/src/mcp/server.rs")).is_empty());
        let found = runtime_names(&at("crates/lockstep/src/hook/mod.rs"));
        assert_eq!(found, [Violation::new("crates/lockstep/src/hook/mod.rs:1", "uses tokio::")]);
    }

    #[test]
    fn only_one_crate_calls_the_system() {
        let at = |path: &str| SourceFile {
            path: path.to_owned(),
            text: "use std::os::unix::fs::symlink;\n".to_owned(),
        };
        for path in
            ["crates/lockstep-fs/src/dir.rs", "crates/lockstep/tests/it/paths.rs", "xtask/src/tidy/a.rs"]
        {
            assert!(system_names(&at(path)).is_empty(), "{path}");
        }
        assert_eq!(system_names(&at("crates/lockstep/src/hook/mod.rs")).len(), 1);
    }

    #[test]
    fn a_runtime_is_found_through_others_but_not_in_tests() {
        let members = ["lockstep-store", "lockstep-cli"];
        let chain = [("lockstep-store", "hyper", None), ("hyper", "tokio", None)];
        let found = runtimes(&resolved(&members, &["hyper", "tokio"], &chain));
        assert_eq!(found, [Violation::new("lockstep-store", "reaches tokio through hyper")]);
        let own = [("lockstep-cli", "tokio", None)];
        assert!(runtimes(&resolved(&members, &["tokio"], &own)).is_empty());
        let in_tests = [("lockstep-store", "tokio", Some("dev"))];
        assert!(runtimes(&resolved(&members, &["tokio"], &in_tests)).is_empty());
    }

    #[test]
    fn a_pure_crate_above_an_impure_one_is_found() {
        let members = ["lockstep-model", "lockstep-wire", "lockstep-store"];
        let fine = [("lockstep-wire", "lockstep-model", None), ("lockstep-store", "lockstep-model", None)];
        assert!(impure_below_pure(&resolved(&members, &[], &fine)).is_empty());
        let wrong = [("lockstep-wire", "lockstep-store", None)];
        assert_eq!(
            impure_below_pure(&resolved(&members, &[], &wrong)),
            [Violation::new("lockstep-wire", "depends on lockstep-store")]
        );
    }
}
