//! The files that `init` wrote and that are still as it wrote them.

use std::path::{Path, PathBuf};

use lockstep_config::FILE_NAME;
use lockstep_setup::install_record::InstallRecord;
use lockstep_store::StateDir;

use super::Installation;

/// The files of one project that Lockstep itself wrote. A change to them is not the user's.
#[derive(Debug)]
pub(crate) struct OwnFiles {
    root: PathBuf,
    installation: Installation,
}

impl OwnFiles {
    /// Reads the installation record of the project at `root`. Without a usable record, only the state
    /// directory is Lockstep's.
    pub(crate) fn load(root: &Path) -> Self {
        let installation = Installation::load(&StateDir::for_project(root)).unwrap_or_default();
        Self { root: root.to_owned(), installation }
    }

    /// Returns true if the file at `path`, relative to the root, is Lockstep's own and was not edited since.
    pub(crate) fn contains(&self, path: &str) -> bool {
        if path.strip_prefix(StateDir::NAME).is_some_and(|rest| rest.starts_with('/')) {
            return true;
        }
        let known = &self.installation;
        if known.cache.as_deref() == Some(path) {
            return true;
        }
        let record = match path {
            FILE_NAME => known.configuration.as_ref(),
            _ => known.settings.get(path).or_else(|| known.plugin.get(path)),
        };
        record.is_some_and(|record| self.is_as_written(path, record))
    }

    fn is_as_written(&self, path: &str, record: &InstallRecord) -> bool {
        lockstep_fs::read_to_string(self.root.join(path)).is_ok_and(|text| record.matches(&text))
    }
}
