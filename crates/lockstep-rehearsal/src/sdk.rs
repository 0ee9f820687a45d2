//! The official MCP SDK: a client that others wrote, for tests of an MCP server.
//!
//! Like the real client it is installed once, at a pinned version, into a cache outside any repository.

use std::env;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::client::{ClientError, cache_folder, npm_install, or_skip};

/// The version that tests use.
pub const VERSION: &str = "1.32.2";
/// Its npm package.
pub const PACKAGE: &str = "@modelcontextprotocol/sdk";

/// The installed SDK.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sdk {
    folder: PathBuf,
}

impl Sdk {
    /// The SDK, installed if need be.
    pub fn obtain() -> Result<Self, ClientError> {
        let var = |name: &str| env::var_os(name).filter(|value| !value.is_empty());
        runs_node()?;
        let cache = cache_folder(&var).ok_or(ClientError::NoCache)?;
        let folder = cache.join(format!("mcp-sdk-{VERSION}"));
        if !is_there(&folder) {
            install(&cache, &folder, var("PATH"))?;
        }
        Ok(Self { folder })
    }

    /// The SDK for a test, or `None` when it cannot be had, after one line on stderr that says so.
    pub fn obtain_or_skip() -> Option<Self> {
        or_skip("MCP SDK", Self::obtain())
    }

    /// Its `node_modules`.
    pub fn modules(&self) -> PathBuf {
        self.folder.join("node_modules")
    }
}

fn is_there(folder: &Path) -> bool {
    folder.join("node_modules").join(PACKAGE).join("package.json").is_file()
}

fn runs_node() -> Result<(), ClientError> {
    let run = Command::new("node").arg("--version").stdin(Stdio::null()).output();
    run.map(drop).map_err(|error| ClientError::NoBinary(format!("node does not start: {error}")))
}

/// Beside its final place, then renamed: what is found is whole. The lock spares the second of two processes its own download.
fn install(cache: &Path, folder: &Path, path: Option<OsString>) -> Result<(), ClientError> {
    let at = |source: io::Error| ClientError::Cache { path: cache.to_owned(), source };
    fs::create_dir_all(cache).map_err(at)?;
    let lock = File::create(cache.join(format!("mcp-sdk-{VERSION}.lock"))).map_err(at)?;
    lock.lock().map_err(at)?;
    if is_there(folder) {
        return Ok(());
    }
    let staging = tempfile::Builder::new().prefix("mcp-sdk.").tempdir_in(cache).map_err(at)?;
    npm_install(staging.path(), path, &format!("{PACKAGE}@{VERSION}"))?;
    fs::rename(staging.path(), folder).map_err(at)?;
    drop(staging.keep());
    Ok(())
}
