//! Other programs that tests drive, as pinned npm packages: Codex, the MCP SDK and the TypeScript compiler.
//!
//! They are in the cache that rehearsals share: installed once, outside any repository, and reused by every
//! later run, also by several processes at once.

mod codex;
mod sdk;
mod typescript;

use std::env;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use crate::client::{ClientError, cache_folder, npm_install};

pub use codex::CodexBinary;
pub use sdk::McpSdk;
pub use typescript::compiler_or_skip;

/// A package at a version, and the folder of the cache that it gets.
#[derive(Debug, Clone, Copy)]
struct NpmPackage {
    name: &'static str,
    version: &'static str,
    folder: &'static str,
}

impl NpmPackage {
    /// The folder that it is installed in, with its `node_modules`.
    fn obtain(self) -> Result<PathBuf, ClientError> {
        let var = |name: &str| env::var_os(name).filter(|value| !value.is_empty());
        let cache = cache_folder(&var).ok_or(ClientError::NoCache)?;
        let folder = cache.join(format!("{}-{}", self.folder, self.version));
        if !self.is_in(&folder) {
            self.install(&cache, &folder, var("PATH"))?;
        }
        Ok(folder)
    }

    fn is_in(self, folder: &Path) -> bool {
        folder.join("node_modules").join(self.name).join("package.json").is_file()
    }

    /// Installs next to the final path and renames, so that a partial installation is never found. The lock
    /// saves the second of two processes the download.
    fn install(self, cache: &Path, folder: &Path, path: Option<OsString>) -> Result<(), ClientError> {
        let Self { name, version, folder: short } = self;
        let at = |source: io::Error| ClientError::Cache { path: cache.to_owned(), source };
        fs::create_dir_all(cache).map_err(at)?;
        let lock = File::create(cache.join(format!("{short}-{version}.lock"))).map_err(at)?;
        lock.lock().map_err(at)?;
        if self.is_in(folder) {
            return Ok(());
        }
        let staging = tempfile::Builder::new().prefix(&format!("{short}.")).tempdir_in(cache).map_err(at)?;
        npm_install(staging.path(), path, &format!("{name}@{version}"))?;
        fs::rename(staging.path(), folder).map_err(at)?;
        drop(staging.keep());
        Ok(())
    }
}
