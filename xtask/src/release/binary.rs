//! The released binary: built with the `dist` profile, static on Linux, and tried once.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::target::Target;
use crate::metadata::Metadata;
use crate::{XtaskResult, workspace};

/// A built binary of a target.
pub(super) struct Built {
    pub(super) target: Target,
    pub(super) bytes: Vec<u8>,
}

/// Builds the binary for a target, or for the best one of this machine.
pub(super) fn build(target: Option<&str>) -> XtaskResult<Built> {
    let triple = match target {
        Some(target) => target.to_owned(),
        None => best_target()?,
    };
    let target = Target::parse(&triple)?;
    let binary = compile(workspace::root(), &Metadata::load(&[])?.target_directory, &triple)?;
    let bytes = fs::read(&binary)?;
    if let Some(interpreter) = interpreter(&bytes).filter(|_| triple.contains("linux")) {
        return Err(format!(
            "{} is not static: it is started by {interpreter}. Is a static libc there (libc6-dev, or musl-tools)?",
            binary.display()
        )
        .into());
    }
    try_out(&binary)?;
    Ok(Built { target, bytes })
}

/// Builds the same commit again in a clone in another directory. It must give the same bytes.
pub(super) fn check_reproducible(built: &Built) -> XtaskResult {
    let mut status = workspace::command("git");
    status.args(["status", "--porcelain", "--untracked-files=no"]);
    if !workspace::output(status)?.is_empty() {
        return Err("the working tree has changes, and the second build is one of the last commit: commit them, or omit --check-reproducible".into());
    }
    let folder = tempfile::tempdir()?;
    let clone = folder.path().join("another-directory");
    let mut git = workspace::command("git");
    git.args(["clone", "--quiet", "--shared"]).arg(workspace::root()).arg(&clone);
    workspace::output(git)?;
    let second = fs::read(compile(&clone, &clone.join("target"), built.target.triple())?)?;
    match first_difference(&built.bytes, &second) {
        None => {
            println!("two builds in different directories give the same {} bytes", second.len());
            Ok(())
        }
        Some(at) => Err(format!(
            "two builds of {} differ from byte {at} on: {} and {} bytes",
            built.target,
            built.bytes.len(),
            second.len()
        )
        .into()),
    }
}

fn first_difference(first: &[u8], second: &[u8]) -> Option<usize> {
    let differs = first.iter().zip(second).position(|(a, b)| a != b);
    differs.or((first.len() != second.len()).then(|| first.len().min(second.len())))
}

/// Returns the musl target if its C compiler is installed (the program contains C), otherwise static glibc.
fn best_target() -> XtaskResult<String> {
    let arch = std::env::consts::ARCH;
    let musl = format!("{arch}-unknown-linux-musl");
    let installed = output(Command::new("rustc").args(["--print", "target-libdir", "--target", &musl]))?;
    let has_compiler = Command::new("musl-gcc").arg("--version").output().is_ok();
    let is_there = has_compiler && Path::new(installed.trim()).is_dir();
    Ok(if is_there { musl } else { format!("{arch}-unknown-linux-gnu") })
}

fn compile(root: &Path, target_directory: &Path, target: &str) -> XtaskResult<PathBuf> {
    let mut cargo = Command::new("cargo");
    cargo.args(["build", "--profile", "dist", "--locked", "--package", "lockstep-cli", "--target", target]);
    // Two builds in different directories give the same bytes: the paths of the sources are not part of the binary.
    let home = std::env::var("CARGO_HOME").or_else(|_| std::env::var("HOME").map(|home| home + "/.cargo"))?;
    let (sources, outputs) = (root.display().to_string(), target_directory.display().to_string());
    let names = [(&sources, "/lockstep"), (&home, "/cargo"), (&outputs, "/target")];
    let map = |option: &str| names.map(|(from, to)| format!("{option}={from}={to}")).join(" ");
    let mut flags = format!("-Ctarget-feature=+crt-static {}", map("--remap-path-prefix"));
    if target.ends_with("-linux-gnu") {
        // Every start of the program applies its relocations. Packed, they take a twentieth of the space.
        flags += " -Clink-arg=-Wl,-z,pack-relative-relocs";
    }
    let c_flags = std::env::var("CFLAGS").unwrap_or_default();
    cargo.env("RUSTFLAGS", flags).env("CFLAGS", format!("{c_flags} {}", map("-ffile-prefix-map")));
    cargo.env("CARGO_TARGET_DIR", target_directory).current_dir(root);
    if !cargo.status()?.success() {
        return Err(format!("the build for {target} failed").into());
    }
    Ok(target_directory.join(target).join("dist/lockstep"))
}

/// Runs `init`, `impact`, `doctor` and `uninstall` with the binary: no test has run this build before.
fn try_out(binary: &Path) -> XtaskResult {
    let folder = tempfile::tempdir()?;
    let (bin, home, project) =
        (folder.path().join("bin"), folder.path().join("home"), folder.path().join("project"));
    [&bin, &home, &project].into_iter().try_for_each(fs::create_dir)?;
    let program = bin.join("lockstep");
    fs::copy(binary, &program)?;
    output(Command::new("git").args(["init", "--quiet"]).current_dir(&project))?;
    let path = format!("{}:{}", bin.display(), std::env::var("PATH")?);
    for arguments in
        [&["init", "--client", "claude"][..], &["impact"], &["doctor"], &["uninstall", "--purge"]]
    {
        let mut command = Command::new(&program);
        command
            .args(arguments)
            .current_dir(&project)
            .env("HOME", &home)
            .env("PATH", &path)
            .env("TMPDIR", &home);
        output(&mut command)?;
    }
    Ok(())
}

fn output(command: &mut Command) -> XtaskResult<String> {
    let output = command.output().map_err(|error| format!("{command:?}: {error}"))?;
    if !output.status.success() {
        let stdout = [output.stdout, output.stderr].concat();
        return Err(format!("{command:?}: {}", String::from_utf8_lossy(&stdout)).into());
    }
    Ok(String::from_utf8(output.stdout)?)
}

/// Returns the loader requested by a 64-bit ELF file, or `None` for a static one.
fn interpreter(elf: &[u8]) -> Option<String> {
    const PT_INTERP: u32 = 3;
    let word = |at: usize, len: usize| {
        let bytes = elf.get(at..at + len)?;
        Some(bytes.iter().rev().fold(0_u64, |value, byte| value << 8 | u64::from(*byte)) as usize)
    };
    let (table, size, count) = (word(32, 8)?, word(54, 2)?, word(56, 2)?);
    let header = (0..count).map(|n| table + n * size).find(|at| word(*at, 4) == Some(PT_INTERP as usize))?;
    let (from, len) = (word(header + 8, 8)?, word(header + 32, 8)?);
    Some(String::from_utf8_lossy(elf.get(from..from + len)?).trim_end_matches('\0').to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_loader_of_a_dynamically_linked_program() {
        // This test program is linked dynamically.
        let own = fs::read(std::env::current_exe().unwrap()).unwrap();
        assert!(interpreter(&own).is_some_and(|loader| loader.starts_with('/')), "{:?}", interpreter(&own));
        assert_eq!(interpreter(b"no program"), None);
    }

    #[test]
    fn builds_are_compared_up_to_their_ends() {
        assert_eq!(first_difference(b"same", b"same"), None);
        assert_eq!(first_difference(b"same", b"sane"), Some(2));
        assert_eq!(first_difference(b"same", b"same, and more"), Some(4));
    }
}
