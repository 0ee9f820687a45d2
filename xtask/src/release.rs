//! `cargo xtask release`: a Linux binary that needs nothing of the machine it runs on, with its checksum and its size.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{Outcome, workspace};

/// Build a static Linux binary into target/dist, with its checksum
#[derive(Debug, clap::Args)]
pub(crate) struct ReleaseArgs {
    /// The target, where the best that can be built here is not wanted
    #[arg(long, value_name = "TRIPLE")]
    target: Option<String>,
}

pub(crate) fn run(args: &ReleaseArgs) -> Outcome {
    let target = match &args.target {
        Some(target) => target.clone(),
        None => best_target()?,
    };
    let binary = build(&target)?;
    let bytes = fs::read(&binary)?;
    if let Some(interpreter) = interpreter(&bytes) {
        return Err(format!(
            "{} is not static: it is started by {interpreter}. Is a static libc there (libc6-dev, or musl-tools)?",
            binary.display()
        )
        .into());
    }
    try_out(&binary)?;
    let version = output(Command::new(&binary).arg("--version"))?;
    let number = version.split_whitespace().nth(1).ok_or("the binary does not tell its version")?;
    let dist = workspace::root().join("target/dist");
    fs::create_dir_all(&dist)?;
    let name = format!("lockstep-{number}-{target}");
    fs::copy(&binary, dist.join(&name))?;
    let sum = output(Command::new("sha256sum").arg(&name).current_dir(&dist))?;
    fs::write(dist.join(format!("{name}.sha256")), &sum)?;
    println!("{}\n{} bytes, static: target/dist/{name}\n{}", version.trim(), bytes.len(), sum.trim());
    Ok(())
}

/// musl where its compiler is, since the program contains C; else glibc, linked in.
fn best_target() -> Result<String, Box<dyn std::error::Error>> {
    let arch = std::env::consts::ARCH;
    let musl = format!("{arch}-unknown-linux-musl");
    let installed = output(Command::new("rustc").args(["--print", "target-libdir", "--target", &musl]))?;
    let has_compiler = Command::new("musl-gcc").arg("--version").output().is_ok();
    let is_there = has_compiler && Path::new(installed.trim()).is_dir();
    Ok(if is_there { musl } else { format!("{arch}-unknown-linux-gnu") })
}

fn build(target: &str) -> Result<PathBuf, Box<dyn std::error::Error>> {
    let mut cargo = Command::new("cargo");
    cargo.args(["build", "--release", "--locked", "--package", "lockstep-cli", "--target", target]);
    cargo.env("RUSTFLAGS", "-C target-feature=+crt-static").current_dir(workspace::root());
    if !cargo.status()?.success() {
        return Err(format!("the build for {target} failed").into());
    }
    Ok(workspace::root().join("target").join(target).join("release/lockstep"))
}

/// Sets up a project with it and has it check that: what is only in a release, no test of a debug build has seen.
fn try_out(binary: &Path) -> Outcome {
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

fn output(command: &mut Command) -> Result<String, Box<dyn std::error::Error>> {
    let output = command.output().map_err(|error| format!("{command:?}: {error}"))?;
    if !output.status.success() {
        let said = [output.stdout, output.stderr].concat();
        return Err(format!("{command:?}: {}", String::from_utf8_lossy(&said)).into());
    }
    Ok(String::from_utf8(output.stdout)?)
}

/// The loader that a 64-bit ELF file asks for; a static one asks for none.
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
    fn a_program_that_needs_a_loader_is_told_from_one_that_does_not() {
        // This test itself is linked as programs usually are.
        let own = fs::read(std::env::current_exe().unwrap()).unwrap();
        assert!(interpreter(&own).is_some_and(|loader| loader.starts_with('/')), "{:?}", interpreter(&own));
        assert_eq!(interpreter(b"no program"), None);
    }
}
