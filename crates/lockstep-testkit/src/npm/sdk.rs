//! The official MCP SDK: a client that others wrote, for tests of an MCP server.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use super::NpmPackage;
use crate::client::{ClientError, ok_or_skip_test};

/// The version that tests use.
const PACKAGE: NpmPackage =
    NpmPackage { name: "@modelcontextprotocol/sdk", version: "1.32.2", folder: "mcp-sdk" };

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct McpSdk {
    folder: PathBuf,
}

impl McpSdk {
    /// The SDK, installed if need be.
    pub fn obtain() -> Result<Self, ClientError> {
        runs_node()?;
        Ok(Self { folder: PACKAGE.obtain()? })
    }

    /// Returns the SDK for a test. `None` if it is not available, after one line on stderr.
    pub fn obtain_or_skip() -> Option<Self> {
        ok_or_skip_test("MCP SDK", Self::obtain())
    }

    pub fn modules(&self) -> PathBuf {
        self.folder.join("node_modules")
    }
}

fn runs_node() -> Result<(), ClientError> {
    let run = Command::new("node").arg("--version").stdin(Stdio::null()).output();
    run.map(drop).map_err(|error| ClientError::NoBinary(format!("node does not start: {error}")))
}
