//! TypeScript: packages from the registry that ship their sources, judged by the TypeScript compiler as `tsc --noEmit`
//! would run it, in one process for all cases.

use std::fs;
use std::path::Path;
use std::process::Command;

use lockstep_refs::facts::Definition;
use serde_json::json;

use super::cases::Case;
use super::checker::{self, Messages};
use super::checker_process;
use super::language::{BenchPackage, LanguageBench, Mutation, PreparedPackage, VerdictSink};
use super::temporary_edit::lock;
use crate::{XtaskResult, workspace};

mod mutate;

pub(super) struct TypeScript;

const TSC: &str = "5.7.2";
/// Raised when the compiler is configured or asked in another way.
const WAY: u32 = 2;

const PACKAGES: &[BenchPackage] = &[
    BenchPackage { name: "rxjs", version: "7.8.1", held_out: false, small: false },
    BenchPackage { name: "@tanstack/query-core", version: "5.107.1", held_out: false, small: true },
    BenchPackage { name: "zod", version: "4.6.7", held_out: false, small: true },
    BenchPackage { name: "chevrotain", version: "11.2.0", held_out: false, small: true },
    BenchPackage { name: "@tanstack/db", version: "0.15.2", held_out: true, small: false },
];

/// The settings for every package: strict, and without the types of packages that only its own tests need.
/// Its own name resolves to its sources, because tests import the package by name, and no build output
/// exists.
const CONFIG: &str = r#"{
  "compilerOptions": {
    "noEmit": true, "strict": true, "skipLibCheck": true, "types": [],
    "target": "es2022", "module": "esnext", "moduleResolution": "bundler",
    "lib": ["esnext", "dom", "dom.iterable"], "allowImportingTsExtensions": true,
    "baseUrl": "src", "paths": { "PACKAGE": ["./"], "PACKAGE/*": ["./*"] }
  },
  "include": ["src"]
}
"#;

impl LanguageBench for TypeScript {
    fn language(&self) -> &'static str {
        "TypeScript"
    }

    fn packages(&self) -> &'static [BenchPackage] {
        PACKAGES
    }

    fn prepare(&self, package: &BenchPackage, cache: &Path) -> XtaskResult<PreparedPackage> {
        let source = checker::install(&cache.join("typescript"), package.name, package.version)?;
        let name = package.name.replace('/', "+");
        let root = cache.join("typescript").join(format!("{name}-{}", package.version));
        let config = root.join("tsconfig.json");
        if !config.is_file() {
            fs::create_dir_all(&root)?;
            for path in checker::files(&source.join("src"), &[".ts", ".tsx"], &[])? {
                let to = root.join("src").join(&path);
                fs::create_dir_all(to.parent().ok_or("a file lies in a folder")?)?;
                fs::copy(source.join("src").join(&path), to)?;
            }
            fs::copy(source.join("package.json"), root.join("package.json"))?;
        }
        fs::write(config, CONFIG.replace("PACKAGE", package.name))?;
        let mut files = checker::files(&root, &[".ts", ".tsx"], &["node_modules"])?;
        files.extend(["package.json".to_owned(), "tsconfig.json".to_owned()]);
        let stamp = format!("{} {} tsc {TSC}, {WAY}", package.name, package.version);
        let target = cache.join("typescript").join("checked").join(format!("{name}-{}", package.version));
        fs::create_dir_all(&target)?;
        let prepared = PreparedPackage { _lock: lock(&root)?, root, files, target, options: &[], stamp };
        Ok(prepared)
    }

    fn mutate(&self, text: &str, definition: &Definition, mutation: Mutation) -> Option<String> {
        mutate::mutate(text, definition, mutation)
    }

    fn truths(&self, prepared: &PreparedPackage, cases: &[&Case], keep: VerdictSink<'_>) -> XtaskResult {
        let asked = cases.iter().map(|case| json!({ "file": case.file, "text": case.new }));
        let mut before = None;
        checker_process::ask(server(prepared)?, asked, &mut |answer| {
            let messages: Messages = serde_json::from_value(answer)?;
            let Some((at, before)) = &mut before else {
                before = Some((0, messages));
                return Ok(());
            };
            let mut rejected = checker::fresh(before, &messages);
            rejected.remove(&cases[*at].file);
            keep(*at, rejected)?;
            *at += 1;
            Ok(())
        })
    }
}

/// The compiler as a process that answers about one case after the other.
fn server(prepared: &PreparedPackage) -> XtaskResult<Command> {
    let script = prepared.target.join("check.cjs");
    fs::write(&script, include_str!("typescript/check.cjs"))?;
    let cache = prepared.target.ancestors().nth(3).ok_or("the cache holds what was checked")?;
    let mut command = workspace::command("nice");
    command.args(["-n", "10", "node"]).arg(script).arg(checker::install(cache, "typescript", TSC)?);
    command.arg(&prepared.root);
    Ok(command)
}
