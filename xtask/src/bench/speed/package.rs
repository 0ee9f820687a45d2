//! The largest packages that were found in registries: real names, real sizes. Fetched with each registry's own client into the
//! user's cache, outside the repository.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::synthetic_repo::SyntheticRepo;
use crate::{XtaskResult, workspace};

/// A package at one version, with what is asked about it.
pub(super) struct RegistryPackage {
    registry: Registry,
    pub(super) name: &'static str,
    pub(super) version: &'static str,
    /// A file, and a name in it that others use.
    file: &'static str,
    symbol: &'static str,
    /// Names to search for besides.
    others: &'static [&'static str],
}

enum Registry {
    Npm,
    PyPi,
}

/// One with many bytes, one with many files.
pub(super) const PACKAGES: [RegistryPackage; 2] = [
    RegistryPackage {
        registry: Registry::PyPi,
        name: "pulumi-azure-native",
        version: "3.29.0",
        file: "pulumi_azure_native/compute/_enums.py",
        symbol: "ExtendedLocationTypes",
        others: &["CachingTypes", "DeleteOptions", "EncryptionType", "VirtualMachine", "get_version"],
    },
    RegistryPackage {
        registry: Registry::Npm,
        name: "@mui/icons-material",
        version: "9.5.0",
        // Every icon imports it.
        file: "utils/createSvgIcon.mjs",
        symbol: "default",
        others: &["createSvgIcon", "ZoomOut", "Wifi", "Unarchive", "SvgIcon"],
    },
];

/// Packages of hand-written code with many references: queries about them are the most expensive.
pub(super) const REAL: [RegistryPackage; 2] = [
    RegistryPackage {
        registry: Registry::Npm,
        name: "effect",
        version: "4.1.0",
        file: "src/Order.ts",
        symbol: "makeReducer",
        others: &[],
    },
    RegistryPackage {
        registry: Registry::PyPi,
        name: "sqlalchemy",
        version: "2.1.8",
        file: "lib/sqlalchemy/orm/query.py",
        symbol: "Query",
        others: &[],
    },
];

impl RegistryPackage {
    /// Unpacks it, fetched if it is not in the cache yet.
    pub(super) fn unpack(&self, root: &Path) -> XtaskResult<SyntheticRepo> {
        let archive = self.fetch()?;
        let mut tar = Command::new("tar");
        tar.arg("xzf").arg(&archive).arg("--strip-components=1").arg("-C").arg(root);
        workspace::output(tar)?;
        let (mut files, mut bytes) = (0, 0);
        let mut folders = vec![root.to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder)? {
                let entry = entry?;
                match entry.file_type()?.is_dir() {
                    true => folders.push(entry.path()),
                    false => (files, bytes) = (files + 1, bytes + entry.metadata()?.len()),
                }
            }
        }
        let names = self.others.iter().map(|name| (*name).to_owned()).collect();
        Ok(SyntheticRepo {
            file: self.file.to_owned(),
            function: self.symbol.to_owned(),
            files,
            bytes,
            names,
        })
    }

    fn fetch(&self) -> XtaskResult<PathBuf> {
        let home = std::env::var_os("HOME").ok_or("without HOME there is no place for packages")?;
        let name = self.name.trim_start_matches('@').replace('/', "-");
        let dir =
            PathBuf::from(home).join(".cache/lockstep/packages").join(format!("{name}-{}", self.version));
        if let Some(known) = archive(&dir) {
            return Ok(known);
        }
        fs::create_dir_all(&dir)?;
        let mut client = match self.registry {
            Registry::Npm => {
                let mut npm = workspace::command("npm");
                npm.args(["pack", "--silent", "--pack-destination"]).arg(&dir);
                npm.arg(format!("{}@{}", self.name, self.version));
                npm
            }
            Registry::PyPi => {
                let mut pip = workspace::command("python3");
                // Packages that the build needs may be binary: to compile them takes minutes.
                pip.args(["-m", "pip", "download", "-q", "--no-deps", "--no-binary", self.name, "-d"])
                    .arg(&dir);
                pip.arg(format!("{}=={}", self.name, self.version));
                pip
            }
        };
        client.current_dir(&dir);
        workspace::output(client)?;
        archive(&dir).ok_or_else(|| format!("{} was not fetched", self.name).into())
    }
}

fn archive(dir: &Path) -> Option<PathBuf> {
    let mut entries = fs::read_dir(dir).ok()?.flatten().map(|entry| entry.path());
    entries.find(|path| path.extension().is_some_and(|extension| extension == "gz" || extension == "tgz"))
}
