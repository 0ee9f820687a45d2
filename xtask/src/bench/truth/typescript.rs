//! TypeScript: packages from the registry that ship their sources, judged by `tsc --noEmit`.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use lockstep_refs::facts::Definition;

use super::cases::Case;
use super::checker::{self, Messages};
use super::subject::{Applied, Mutation, Package, Prepared, Subject, lock};
use crate::{Outcome, workspace};

mod mutate;

pub(super) struct TypeScript;

const TSC: &str = "5.7.2";

const PACKAGES: &[Package] = &[
    Package { name: "rxjs", version: "7.8.1", held_out: false, small: false },
    Package { name: "@tanstack/query-core", version: "5.107.1", held_out: false, small: false },
    Package { name: "immer", version: "11.2.10", held_out: true, small: true },
    Package { name: "zod", version: "4.6.7", held_out: true, small: false },
];

/// What every package is checked with: strictly, and without types of packages that it only needs for its own tests.
const CONFIG: &str = r#"{
  "compilerOptions": {
    "noEmit": true, "strict": true, "skipLibCheck": true, "types": [],
    "target": "es2022", "module": "esnext", "moduleResolution": "bundler",
    "lib": ["esnext", "dom", "dom.iterable"], "allowImportingTsExtensions": true,
    "baseUrl": "src", "paths": { "rxjs": ["./"], "rxjs/*": ["./*"] }
  },
  "include": ["src"]
}
"#;

impl Subject for TypeScript {
    fn language(&self) -> &'static str {
        "TypeScript"
    }

    fn packages(&self) -> &'static [Package] {
        PACKAGES
    }

    fn prepare(&self, package: &Package, cache: &Path) -> Outcome<Prepared> {
        let tsc = checker::install(cache, "typescript", TSC)?;
        let source = checker::install(&cache.join("typescript"), package.name, package.version)?;
        let name = package.name.replace('/', "+");
        let root = cache.join("typescript").join(format!("{name}-{}", package.version));
        if !root.join("tsconfig.json").is_file() {
            fs::create_dir_all(&root)?;
            for path in checker::files(&source.join("src"), &[".ts", ".tsx"], &[])? {
                let to = root.join("src").join(&path);
                fs::create_dir_all(to.parent().ok_or("a file lies in a folder")?)?;
                fs::copy(source.join("src").join(&path), to)?;
            }
            fs::copy(source.join("package.json"), root.join("package.json"))?;
            fs::write(root.join("tsconfig.json"), CONFIG)?;
        }
        let mut files = checker::files(&root, &[".ts", ".tsx"], &["node_modules"])?;
        files.extend(["package.json".to_owned(), "tsconfig.json".to_owned()]);
        let stamp = format!("{} {} tsc {TSC}", package.name, package.version);
        let target = cache.join("typescript").join("checked").join(format!("{name}-{}", package.version));
        fs::create_dir_all(&target)?;
        let prepared = Prepared { _lock: lock(&root)?, root, files, target, options: &[], stamp };
        checker::baseline(&prepared.target.join("baseline.json"), || check(&prepared, &tsc))?;
        Ok(prepared)
    }

    fn mutate(&self, text: &str, definition: &Definition, mutation: Mutation) -> Option<String> {
        mutate::mutate(text, definition, mutation)
    }

    fn truth(&self, prepared: &Prepared, case: &Case) -> Outcome<BTreeSet<String>> {
        let cache = prepared.target.ancestors().nth(3).ok_or("the cache holds what was checked")?;
        let tsc = checker::install(cache, "typescript", TSC)?;
        let before = checker::baseline(&prepared.target.join("baseline.json"), || {
            Err("the package was not checked before it was changed".into())
        })?;
        let _applied = Applied::new(prepared.root.join(&case.file), &case.old, &case.new)?;
        let mut rejected = checker::fresh(&before, &check(prepared, &tsc)?);
        rejected.remove(&case.file);
        Ok(rejected)
    }
}

/// The errors that the compiler finds: `src/x.ts(1,2): error TS2304: …`.
fn check(prepared: &Prepared, tsc: &Path) -> Outcome<Messages> {
    let mut command = workspace::command("nice");
    command.args(["-n", "10", "node"]).arg(tsc.join("bin/tsc"));
    command.args(["--pretty", "false", "-p", "."]).current_dir(&prepared.root);
    let output = command.output().map_err(|error| format!("tsc: {error}"))?;
    let mut messages = Messages::new();
    for said in String::from_utf8_lossy(&output.stdout).lines() {
        let Some((place, message)) = said.split_once(": error ") else { continue };
        let Some((file, _)) = place.rsplit_once('(') else { continue };
        messages.entry(file.to_owned()).or_default().push(message.to_owned());
    }
    Ok(messages)
}
