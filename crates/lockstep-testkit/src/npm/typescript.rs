//! The TypeScript compiler, for tests in which a project must compile again: the pinned version from npm.

use std::path::PathBuf;

use super::NpmPackage;
use crate::client::ok_or_skip_test;

const PACKAGE: NpmPackage = NpmPackage { name: "typescript", version: "5.9.3", folder: "typescript" };

/// Returns the compiler for a test, as a program for Node. `None` if it is not available, after one line on
/// stderr.
pub fn compiler_or_skip() -> Option<PathBuf> {
    ok_or_skip_test(
        "TypeScript",
        PACKAGE.obtain().map(|folder| folder.join("node_modules/typescript/bin/tsc")),
    )
}
