//! Links the program so that it starts fast.
//!
//! Clients start a hook for every tool call and wait for it. Finding, mapping and relocating shared libraries,
//! and relocating the tables of fifteen grammars, is most of a hook's time (see docs/benchmarks/hooks.md).
//! If the machine has its C library as static archives, the program is linked with them, still
//! position-independent, and its relocations are packed. If something is missing, the program is linked
//! normally and works the same.
//!
//! The program uses no name service, locale or plugin, which a static C library would have to load.

use std::env;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The archives that replace the shared libraries of Rust's standard library.
const ARCHIVES: [&str; 7] =
    ["libc.a", "libm.a", "librt.a", "libpthread.a", "libutil.a", "libdl.a", "libgcc_eh.a"];

/// The start file of a position-independent program without a loader.
const START: &str = "rcrt1.o";

/// An empty archive in place of the unwinder's shared library, which `libgcc_eh.a` contains.
const EMPTY: (&str, &[u8]) = ("libgcc_s.a", b"!<arch>\n");

/// The first version of the GNU C library that supports packed relocations.
const PACKED: (u32, u32) = (2, 36);

/// Prints the linker arguments for cargo.
pub(crate) fn link() -> io::Result<()> {
    println!("cargo:rerun-if-env-changed=CC");
    let is = |name: &str, value: &str| env::var(name).is_ok_and(|found| found == value);
    // The compiler and the library that are checked below are those of the build machine.
    let native = env::var("HOST").is_ok_and(|host| is("TARGET", &host));
    let gnu = is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu");
    let asked =
        env::var("CARGO_CFG_TARGET_FEATURE").is_ok_and(|all| all.split(',').any(|part| part == "crt-static"));
    if !native || !gnu || asked {
        return Ok(());
    }
    if is("CARGO_CFG_TARGET_ARCH", "x86_64") && compiler_has(START).is_some() {
        link_statically()?;
    }
    if library_version().is_some_and(|version| version >= PACKED) {
        println!("cargo:rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
    }
    Ok(())
}

/// A folder that is searched first and has archives only: the linker takes what it finds first, whatever was asked for.
fn link_statically() -> io::Result<()> {
    let Some(archives) = ARCHIVES.iter().map(|name| compiler_has(name)).collect::<Option<Vec<_>>>() else {
        return Ok(());
    };
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    let folder = out.join("archives");
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    fs::create_dir(&folder)?;
    for (name, archive) in ARCHIVES.iter().zip(archives) {
        fs::copy(archive, folder.join(name))?;
    }
    fs::write(folder.join(EMPTY.0), EMPTY.1)?;
    for argument in [
        &format!("-L{}", folder.display()),
        "-static-pie",
        // Each of the two needs the other, which matters to linkers that look once.
        "-Wl,--start-group",
        "-lc",
        "-lgcc_eh",
        "-Wl,--end-group",
    ] {
        println!("cargo:rustc-link-arg-bins={argument}");
    }
    Ok(())
}

/// Returns the path of a file that the C compiler finds, or `None`.
fn compiler_has(name: &str) -> Option<PathBuf> {
    let compiler = env::var("CC").unwrap_or_else(|_| "cc".to_owned());
    let output = Command::new(compiler).arg(format!("-print-file-name={name}")).output().ok()?;
    let path = String::from_utf8(output.stdout).ok()?;
    // A name without a folder means that there is none.
    Some(Path::new(path.trim())).filter(|path| path.is_absolute() && path.exists()).map(Path::to_owned)
}

fn library_version() -> Option<(u32, u32)> {
    let output = Command::new("getconf").arg("GNU_LIBC_VERSION").output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let (major, minor) = text.trim().strip_prefix("glibc ")?.split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}
