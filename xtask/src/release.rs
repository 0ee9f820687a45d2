//! `cargo xtask release`: the binary, and every package that carries it, with checksums and a bill of materials.
//!
//! Packages are functions of the binary, the files of the repository and one time. Equal inputs give equal bytes.

mod archive;
mod bill_of_materials;
mod binary;
mod debian;
mod homebrew;
mod npm;
mod payload;
mod target;
#[cfg(test)]
mod tests;
mod wheel;

use std::fs;
use std::path::{Path, PathBuf};

use crate::metadata::Metadata;
use crate::{XtaskResult, workspace};
use archive::{Entry, sha256, tar_gz};
use payload::Payload;
use target::Target;

/// Build a static binary and pack it: tarball, npm, wheel, Debian package, Homebrew formula, checksums and SBOM
#[derive(Debug, clap::Args)]
pub(crate) struct ReleaseArgs {
    /// Build for this target instead of the best one available
    #[arg(long, value_name = "TRIPLE", conflicts_with = "binary")]
    target: Option<String>,
    /// Pack this binary of a target instead of building one; several targets can be packed together
    #[arg(long, value_name = "TRIPLE=FILE")]
    binary: Vec<String>,
    /// Build a second time in another directory, and fail unless both builds have the same bytes
    #[arg(long, conflicts_with = "binary")]
    check_reproducible: bool,
    /// Directory for the packages, instead of target/packages
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// The URL of the directory that the packages will be published in, for the Homebrew formula; by default its own directory
    #[arg(long, value_name = "URL", default_value = "file://#{__dir__}")]
    base_url: String,
    /// Maintainer of the Debian package
    #[arg(
        long,
        value_name = "NAME <ADDRESS>",
        default_value = "The Lockstep authors <lockstep@example.org>"
    )]
    maintainer: String,
}

/// A file of the release.
struct Package {
    name: String,
    bytes: Vec<u8>,
}

/// The inputs of all packages.
struct Release {
    version: String,
    /// Seconds since 1970: the time of every entry.
    time: u64,
    maintainer: String,
}

pub(crate) fn run(args: &ReleaseArgs) -> XtaskResult {
    let binaries = binaries(args)?;
    let out = match &args.out {
        Some(out) => std::path::absolute(out)?,
        None => Metadata::load(&[])?.target_directory.join("packages"),
    };
    let release = Release {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        time: source_date()?,
        maintainer: args.maintainer.clone(),
    };
    let mut packages = pack(&release, &binaries, &args.base_url)?;
    for (target, _) in &binaries {
        let name = format!("lockstep-{}-{target}.cdx.json", release.version);
        packages.push(Package { name, bytes: bill_of_materials::render(target.triple(), release.time)? });
    }
    write(&out, packages)
}

/// The binaries to pack: those named, or the one built here.
fn binaries(args: &ReleaseArgs) -> XtaskResult<Vec<(Target, Vec<u8>)>> {
    if args.binary.is_empty() {
        let built = binary::build(args.target.as_deref())?;
        if args.check_reproducible {
            binary::check_reproducible(&built)?;
        }
        return Ok(vec![(built.target, built.bytes)]);
    }
    let named = args.binary.iter().map(|named| {
        let (triple, file) = named.split_once('=').ok_or("--binary is TRIPLE=FILE")?;
        let bytes = fs::read(file).map_err(|error| format!("{file}: {error}"))?;
        Ok((Target::parse(triple)?, bytes))
    });
    named.collect()
}

/// Returns `SOURCE_DATE_EPOCH`, or else the time of the last commit.
fn source_date() -> XtaskResult<u64> {
    if let Ok(set) = std::env::var("SOURCE_DATE_EPOCH") {
        return Ok(set.parse().map_err(|error| format!("SOURCE_DATE_EPOCH={set}: {error}"))?);
    }
    let mut git = workspace::command("git");
    git.args(["log", "-1", "--format=%ct"]);
    Ok(String::from_utf8(workspace::output(git)?)?.trim().parse()?)
}

/// Makes every package that depends on binaries only.
fn pack(release: &Release, binaries: &[(Target, Vec<u8>)], url: &str) -> XtaskResult<Vec<Package>> {
    let payload = Payload::new()?;
    let mut packages = Vec::new();
    for (target, binary) in binaries {
        packages.push(tarball(release, target, binary, &payload)?);
        packages.push(npm::platform_package(release, target, binary)?);
        packages.push(wheel::wheel(release, target, binary, &payload)?);
        if let Some(architecture) = target.debian() {
            packages.push(debian::package(release, architecture, binary, &payload)?);
        }
    }
    packages.push(npm::main_package(release, &payload)?);
    packages.push(homebrew::formula(release, &packages, url));
    packages
        .push(Package { name: "install.sh".to_owned(), bytes: fs::read(packaging().join("install.sh"))? });
    Ok(packages)
}

/// The directory of the repository with the sources of packages.
fn packaging() -> PathBuf {
    workspace::root().join("packaging")
}

/// The tree that the installer and the Homebrew formula unpack.
fn tarball(release: &Release, target: &Target, binary: &[u8], payload: &Payload) -> XtaskResult<Package> {
    let folder = format!("lockstep-{}-{target}", release.version);
    let mut entries = vec![Entry::program(format!("bin/{}", target.program()), binary.to_vec())];
    entries.extend(payload.shared("share/zsh/site-functions"));
    entries.extend(payload.licences(""));
    for entry in &mut entries {
        entry.path = format!("{folder}/{}", entry.path);
    }
    Ok(Package { name: format!("{folder}.tar.gz"), bytes: tar_gz(entries, release.time)? })
}

/// Writes the packages and their checksums, and removes files of earlier releases.
fn write(out: &Path, mut packages: Vec<Package>) -> XtaskResult {
    packages.sort_by(|a, b| a.name.cmp(&b.name));
    fs::create_dir_all(out)?;
    let sums: String =
        packages.iter().map(|package| format!("{}  {}\n", sha256(&package.bytes), package.name)).collect();
    packages.push(Package { name: "SHA256SUMS".to_owned(), bytes: sums.into_bytes() });
    for old in fs::read_dir(out)?.filter_map(Result::ok).filter(|old| old.path().is_file()) {
        fs::remove_file(old.path())?;
    }
    for Package { name, bytes } in &packages {
        fs::write(out.join(name), bytes)?;
        println!("{:>11}  {name}", bytes.len());
    }
    println!("in {}", out.display());
    Ok(())
}
