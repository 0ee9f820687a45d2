//! The npm packages: one small package, and one for each platform that contains the binary.

use std::fs;

use serde_json::{Map, Value, json};

use super::archive::{Entry, tar_gz};
use super::payload::Payload;
use super::target::Target;
use super::{Package, Release, packaging};
use crate::XtaskResult;

/// The name of the package that users install. The packages with binaries have the platform behind it.
const NAME: &str = "lockstep-cli";

fn platform_name((os, cpu): (&str, &str)) -> String {
    format!("{NAME}-{os}-{cpu}")
}

pub(super) fn platform_package(release: &Release, target: &Target, binary: &[u8]) -> XtaskResult<Package> {
    let (os, cpu) = target.npm();
    let name = platform_name((os, cpu));
    let manifest = json!({
        "name": name,
        "version": release.version,
        "description": format!("The lockstep program for {os} {cpu}; install {NAME} instead"),
        "license": "MIT OR Apache-2.0",
        "os": [os],
        "cpu": [cpu],
        "preferUnplugged": true,
    });
    let entries = vec![
        Entry::file("package/package.json", pretty(&manifest)),
        Entry::program(format!("package/bin/{}", target.program()), binary),
    ];
    package(&name, release, entries)
}

/// The package that users install: it chooses the platform's package.
pub(super) fn main_package(release: &Release, payload: &Payload) -> XtaskResult<Package> {
    let pages = payload.pages("man");
    let platforms: Map<String, Value> = Target::all_npm()
        .into_iter()
        .map(|platform| (platform_name(platform), release.version.clone().into()))
        .collect();
    let manifest = json!({
        "name": NAME,
        "version": release.version,
        "description": "Show which files a change breaks, and tell your coding agent before it moves on",
        "license": "MIT OR Apache-2.0",
        "bin": {"lockstep": "bin/lockstep", NAME: "bin/lockstep"},
        "man": pages.iter().map(|page| format!("./{}", page.path)).collect::<Vec<_>>(),
        "scripts": {"postinstall": "node install.js"},
        "engines": {"node": ">=16"},
        "optionalDependencies": platforms,
    });
    let source = |name: &str| fs::read(packaging().join("npm").join(name));
    let mut entries = vec![
        Entry::file("package.json", pretty(&manifest)),
        Entry::file("README.md", payload.readme.clone()),
        Entry::program("bin/lockstep", source("shim.js")?),
        Entry::file("install.js", source("install.js")?),
        Entry::file("platform.js", source("platform.js")?),
    ];
    entries.extend(pages);
    entries.extend(payload.completions("completions", "completions/zsh", "completions/fish"));
    entries.extend(payload.licences(""));
    for entry in &mut entries {
        entry.path = format!("package/{}", entry.path);
    }
    package(NAME, release, entries)
}

fn package(name: &str, release: &Release, entries: Vec<Entry>) -> XtaskResult<Package> {
    let bytes = tar_gz(entries, release.time)?;
    Ok(Package { name: format!("npm-{name}-{}.tgz", release.version), bytes })
}

fn pretty(manifest: &Value) -> String {
    format!("{manifest:#}\n")
}
