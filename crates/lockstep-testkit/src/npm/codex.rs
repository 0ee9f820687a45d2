//! Codex, the other client that cascades have a preset for: the pinned version from npm, set up to speak with a scripted model.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::NpmPackage;
use crate::client::{ClientError, ok_or_skip_test};
use lockstep_rehearsal::ScriptedModel;

/// The version that rehearsals use.
const PACKAGE: NpmPackage = NpmPackage { name: "@openai/codex", version: "0.166.0", folder: "codex" };

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodexBinary {
    program: PathBuf,
}

impl CodexBinary {
    /// Returns Codex for a test. `None` if it is not available, after one line on stderr.
    pub fn obtain_or_skip() -> Option<Self> {
        ok_or_skip_test("real Codex", Self::obtain())
    }

    /// Codex, installed if need be.
    pub fn obtain() -> Result<Self, ClientError> {
        let codex = Self { program: PACKAGE.obtain()?.join("node_modules/.bin/codex") };
        if !codex.program.exists() {
            return Err(ClientError::NoBinary("npm installed no `codex`".into()));
        }
        if !codex.has_sandbox() {
            return Err(ClientError::NoBinary(
                "its sandbox does not work here, so that it runs no command".into(),
            ));
        }
        Ok(codex)
    }

    /// Returns its program, which Node runs.
    pub fn program(&self) -> &Path {
        &self.program
    }

    /// Returns true if its sandbox works on this machine. Without it, Codex refuses every command.
    fn has_sandbox(&self) -> bool {
        let probe = Command::new(&self.program).args(["sandbox", "--", "true"]).stdin(Stdio::null()).output();
        probe.is_ok_and(|probe| probe.status.success())
    }

    /// Writes the settings of a private home (the variable `CODEX_HOME`), so that Codex uses only `model`.
    pub fn write_config(home: &Path, model: &ScriptedModel) -> io::Result<()> {
        fs::create_dir_all(home)?;
        let url = model.base_url();
        let settings = format!(
            "model = \"scripted\"\nmodel_provider = \"rehearsal\"\ncheck_for_update_on_startup = false\n\n\
             [analytics]\nenabled = false\n\n\
             [model_providers.rehearsal]\nname = \"rehearsal\"\nbase_url = \"{url}/v1\"\n\
             wire_api = \"responses\"\nrequires_openai_auth = false\n"
        );
        fs::write(home.join("config.toml"), settings)
    }
}
