//! The TypeScript compiler, for tests in which a project must compile again: the pinned version from npm.

use std::path::PathBuf;

use crate::client::or_skip;
use crate::package::Package;

const PACKAGE: Package = Package { name: "typescript", version: "5.9.3", folder: "typescript" };

/// The compiler for a test, as a program for Node, or `None` when it cannot be had, after one line on stderr that says so.
pub fn compiler_or_skip() -> Option<PathBuf> {
    or_skip("TypeScript", PACKAGE.obtain().map(|folder| folder.join("node_modules/typescript/bin/tsc")))
}
