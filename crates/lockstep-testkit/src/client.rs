//! The real client for tests: finding it, or installing the pinned version with npm.
//!
//! It is installed once per version into a cache outside any repository and reused by every later run, also
//! by several processes at once. Package scripts are not run: the platform's package carries the binary as it is.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::env;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

pub use lockstep_rehearsal::client::{ClientBinary, NEWEST, VERSIONS};
use lockstep_rehearsal::process_group::{ExitReason, ProcessGroup};
use lockstep_text::error_chain;

/// The variable that names a client's binary to use instead of the pinned one.
pub const CLIENT_VAR: &str = "LOCKSTEP_CLIENT";
/// The variable that names the folder in which clients are installed.
pub const CACHE_VAR: &str = "LOCKSTEP_CLIENT_CACHE";
/// The variable that, set to `1`, makes a missing client a failed test instead of a skipped one.
pub const REQUIRE_VAR: &str = "LOCKSTEP_REQUIRE_CLIENT";

/// The binary is about 250 MB; slow lines exist.
const INSTALL_LIMIT: Duration = Duration::from_secs(540);

thread_local! {
    /// The version that the test of this thread is about.
    static VERSION_OF_TEST: Cell<&'static str> = const { Cell::new(NEWEST) };
}

/// Makes two tests of each function: one with each pinned version of the client.
#[macro_export]
macro_rules! on_each_client {
    ($($test:ident),+ $(,)?) => {
        $(
            mod $test {
                #[test]
                fn newest() {
                    $crate::client::with_version($crate::client::VERSIONS[0], super::$test);
                }

                #[test]
                fn older() {
                    $crate::client::with_version($crate::client::VERSIONS[1], super::$test);
                }
            }
        )+
    };
}

/// Runs a test for a version of the client.
pub fn with_version(version: &'static str, test: impl FnOnce()) {
    VERSION_OF_TEST.set(version);
    test();
    VERSION_OF_TEST.set(NEWEST);
}

pub fn version_of_test() -> &'static str {
    VERSION_OF_TEST.get()
}

/// The reason why there is no client.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// The named binary is of no use. This is a mistake to correct, not a reason to skip.
    #[error("{CLIENT_VAR} names {0}, which is not an executable file")]
    BadOverride(PathBuf),
    /// No variable defines the cache directory.
    #[error("no folder for the client: set {CACHE_VAR}, XDG_CACHE_HOME or HOME")]
    NoCache,
    #[error("npm is not on PATH; install Node.js, or set {CLIENT_VAR} to a claude binary")]
    NoNpm,
    /// npm ran and failed: offline, a full disk, a version that the registry does not have.
    #[error("npm could not install {0}")]
    Npm(String),
    /// npm installed the package, but no binary for this platform came with it, or it does not start.
    #[error("there is no working binary for this machine: {0}")]
    NoBinary(String),
    /// The cache could not be used.
    #[error("cannot use {path} for the client")]
    Cache { path: PathBuf, source: io::Error },
}

/// Returns the client that the environment names, else this version, installed if need be.
pub fn obtain_version(version: &str) -> Result<ClientBinary, ClientError> {
    obtain_in(version, |name| env::var_os(name).filter(|value| !value.is_empty()))
}

/// [`obtain_version`] with the environment as a function.
fn obtain_in(version: &str, var: impl Fn(&str) -> Option<OsString>) -> Result<ClientBinary, ClientError> {
    if let Some(program) = var(CLIENT_VAR).map(PathBuf::from) {
        return if is_program(&program) {
            Ok(ClientBinary::at(program))
        } else {
            Err(ClientError::BadOverride(program))
        };
    }
    let cache = cache_folder(&var).ok_or(ClientError::NoCache)?;
    let home = cache.join(version);
    if let Some(program) = binary_in(&home) {
        return Ok(ClientBinary::at(program));
    }
    install(&cache, version, var("PATH"))
}

/// Returns the client for a test, of the version that [`with_version`] names, otherwise the newest tested
/// one. `None` if it is not available, after one line on stderr.
///
/// Panics instead if `LOCKSTEP_REQUIRE_CLIENT=1`, or if `LOCKSTEP_CLIENT` names something that is no
/// client.
pub fn find_client_or_skip() -> Option<ClientBinary> {
    ok_or_skip_test("real client", obtain_version(version_of_test()))
}

/// Returns the obtained value, or `None` after one line on stderr. Panics if it is required.
pub fn ok_or_skip_test<T>(what: &str, obtained: Result<T, ClientError>) -> Option<T> {
    let required = env::var_os(REQUIRE_VAR).is_some_and(|value| value == "1");
    match obtained {
        Ok(found) => Some(found),
        Err(error) if required || matches!(error, ClientError::BadOverride(_)) => {
            panic!("the {what} is required: {}", error_chain(&error))
        }
        Err(error) => {
            // Past the test's capture: a skip must be seen.
            let _ = writeln!(io::stderr(), "SKIPPED {what}: {}", error_chain(&error));
            None
        }
    }
}

/// Returns the directory in which clients are installed.
pub fn cache_folder(var: &impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let in_cache = |base: PathBuf| base.join("lockstep/clients");
    var(CACHE_VAR)
        .map(PathBuf::from)
        .or_else(|| var("XDG_CACHE_HOME").map(PathBuf::from).filter(|path| path.is_absolute()).map(in_cache))
        .or_else(|| var("HOME").map(|home| in_cache(Path::new(&home).join(".cache"))))
}

/// Returns the npm package with the binary for this platform. The package that selects a platform needs a
/// newer Node than many machines have; with an older Node it silently installs an older version.
fn platform_package() -> String {
    let system = if env::consts::OS == "macos" { "darwin" } else { env::consts::OS };
    let processor = match env::consts::ARCH {
        "x86_64" => "x64",
        "aarch64" => "arm64",
        other => other,
    };
    format!("@anthropic-ai/claude-code-{system}-{processor}")
}

/// The installed binary: one platform's package is installed, so there is one at most.
fn binary_in(home: &Path) -> Option<PathBuf> {
    let packages = fs::read_dir(home.join("node_modules/@anthropic-ai")).ok()?;
    let programs = packages.filter_map(|package| Some(package.ok()?.path().join("claude")));
    programs.into_iter().find(|program| is_program(program))
}

fn is_program(path: &Path) -> bool {
    lockstep_fs::is_executable(path) && fs::metadata(path).is_ok_and(|found| found.len() > 0)
}

/// Installs next to the final path and renames, so that a partial installation is never found. The lock only
/// saves the second of two processes the download.
fn install(cache: &Path, version: &str, path: Option<OsString>) -> Result<ClientBinary, ClientError> {
    let home = &cache.join(version);
    let at = |path: &Path| {
        let path = path.to_owned();
        move |source| ClientError::Cache { path, source }
    };
    fs::create_dir_all(cache).map_err(at(cache))?;
    let lock_path = cache.join(format!("{version}.lock"));
    let lock = File::create(&lock_path).map_err(at(&lock_path))?;
    lock.lock().map_err(at(&lock_path))?;
    if let Some(program) = binary_in(home) {
        return Ok(ClientBinary::at(program));
    }
    let staging =
        tempfile::Builder::new().prefix(&format!("{version}.")).tempdir_in(cache).map_err(at(cache))?;
    npm_install(staging.path(), path, &format!("{}@{version}", platform_package()))?;
    let program = binary_in(staging.path())
        .ok_or_else(|| ClientError::NoBinary("npm installed none; the platform may be unsupported".into()))?;
    check_version(&program, version)?;
    File::open(&program).and_then(|file| file.sync_all()).map_err(at(&program))?;
    match fs::rename(staging.path(), home) {
        Ok(()) => drop(staging.keep()),
        // A directory without a binary is in the way, perhaps from a version with another layout.
        Err(source) => return Err(ClientError::Cache { path: home.to_owned(), source }),
    }
    binary_in(home)
        .map(ClientBinary::at)
        .ok_or_else(|| ClientError::NoBinary("it vanished after installing".into()))
}

pub fn npm_install(folder: &Path, path: Option<OsString>, package: &str) -> Result<(), ClientError> {
    // Without a network npm tries for a minute; dozens of tests need not wait for it one after the other.
    static FAILED: Mutex<BTreeMap<(String, Option<OsString>), String>> = Mutex::new(BTreeMap::new());
    let failed = || FAILED.lock().unwrap_or_else(PoisonError::into_inner);
    let key = (package.to_owned(), path.clone());
    if let Some(why) = failed().get(&key) {
        return Err(ClientError::Npm(why.clone()));
    }
    let done = npm_install_once(folder, path, package);
    if let Err(ClientError::Npm(why)) = &done {
        failed().insert(key, why.clone());
    }
    done
}

fn npm_install_once(folder: &Path, path: Option<OsString>, package: &str) -> Result<(), ClientError> {
    let log_path = folder.join("npm.log");
    let cache_error = |source| ClientError::Cache { path: log_path.clone(), source };
    let log = File::create(&log_path).map_err(cache_error)?;
    let mut npm = Command::new("npm");
    npm.arg("install").arg("--prefix").arg(folder);
    npm.args(["--ignore-scripts", "--include=optional", "--no-audit", "--no-fund", "--loglevel=error"]);
    npm.arg(package);
    // Otherwise npm would use the settings of the project in which we were started.
    npm.current_dir(folder).stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
    if let Some(path) = path {
        npm.env("PATH", path);
    }
    let ended = match ProcessGroup::spawn(npm) {
        Ok(group) => group.wait(INSTALL_LIMIT).map_err(cache_error)?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(ClientError::NoNpm),
        Err(error) => return Err(ClientError::Npm(format!("{package}: {error}"))),
    };
    match ended {
        ExitReason::Exited(status) if status.success() => Ok(()),
        ExitReason::Exited(status) => {
            Err(ClientError::Npm(format!("{package}: {status}; {}", first_lines(&log_path))))
        }
        ExitReason::TimeLimit => {
            Err(ClientError::Npm(format!("{package}: it took more than {} s", INSTALL_LIMIT.as_secs())))
        }
    }
}

/// Returns the first lines of npm's output, short enough for one line.
fn first_lines(log: &Path) -> String {
    let text = fs::read(log).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default();
    let lines = text.lines().map(|line| line.trim_start_matches("npm error").trim());
    lines.filter(|line| !line.is_empty()).take(4).collect::<Vec<_>>().join(" | ")
}

fn check_version(program: &Path, version: &str) -> Result<(), ClientError> {
    let no_binary = |why: String| ClientError::NoBinary(why);
    let output = Command::new(program)
        .arg("--version")
        .stdin(Stdio::null())
        .output()
        .map_err(|error| no_binary(format!("it does not start: {error}")))?;
    let version_output = String::from_utf8_lossy(&output.stdout);
    if version_output.starts_with(version) {
        Ok(())
    } else {
        Err(no_binary(format!("it says its version is {version_output:?}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(pairs: &[(&'static str, PathBuf)]) -> impl Fn(&str) -> Option<OsString> {
        |name| pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| value.clone().into_os_string())
    }

    fn program(path: &Path, script: &str) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, script).unwrap();
        lockstep_fs::set_mode(path, 0o755).unwrap();
    }

    /// Creates an npm that installs a client whose binary is a shell script.
    fn working_npm(folder: &Path) {
        let script = format!(
            "#!/bin/sh\necho run >> {folder}/runs\nd=$3/node_modules/@anthropic-ai/claude-code-any\nmkdir -p $d\n\
             printf '#!/bin/sh\\necho {NEWEST} test\\n' > $d/claude\nchmod +x $d/claude\n",
            folder = folder.display()
        );
        program(&folder.join("npm"), &script);
    }

    fn path_with(folder: &Path) -> PathBuf {
        PathBuf::from(format!("{}:/usr/bin:/bin", folder.display()))
    }

    #[test]
    fn the_named_binary_is_used_and_a_wrong_one_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let named = folder.path().join("claude");
        let named_only = [(CLIENT_VAR, named.clone())];
        assert!(matches!(obtain_in(NEWEST, environment(&named_only)), Err(ClientError::BadOverride(_))));
        program(&named, "#!/bin/sh\n");
        assert_eq!(obtain_in(NEWEST, environment(&named_only)).unwrap().program(), named);
    }

    #[test]
    fn without_npm_or_without_success_the_reason_is_typed_and_nothing_is_left() {
        let (cache, tools) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let pairs = [(CACHE_VAR, cache.path().to_owned()), ("PATH", tools.path().to_owned())];
        assert!(matches!(obtain_in(NEWEST, environment(&pairs)), Err(ClientError::NoNpm)));

        program(
            &tools.path().join("npm"),
            "#!/bin/sh\necho 'npm error ENOTFOUND the registry' >&2\nexit 1\n",
        );
        let error = obtain_in(NEWEST, environment(&pairs)).unwrap_err();
        assert!(matches!(&error, ClientError::Npm(why) if why.contains("ENOTFOUND the registry")), "{error}");

        // A failed installation is not tried again.
        program(&tools.path().join("npm"), "#!/bin/sh\n");
        assert!(matches!(obtain_in(NEWEST, environment(&pairs)), Err(ClientError::Npm(_))));
        let other = tempfile::tempdir().unwrap();
        program(&other.path().join("npm"), "#!/bin/sh\n");
        let pairs = [(CACHE_VAR, cache.path().to_owned()), ("PATH", other.path().to_owned())];
        assert!(matches!(obtain_in(NEWEST, environment(&pairs)), Err(ClientError::NoBinary(_))));

        let left: Vec<_> =
            fs::read_dir(cache.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(left, [OsString::from(format!("{NEWEST}.lock"))]);
        assert!(matches!(obtain_in(NEWEST, environment(&[])), Err(ClientError::NoCache)));
    }

    #[test]
    fn many_at_once_install_once_and_share() {
        let (cache, tools) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        working_npm(tools.path());
        let pairs = [("XDG_CACHE_HOME", cache.path().to_owned()), ("PATH", path_with(tools.path()))];
        let programs: Vec<_> = std::thread::scope(|scope| {
            let obtain = || obtain_in(NEWEST, environment(&pairs)).unwrap().program().to_owned();
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(obtain)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        let home = cache.path().join("lockstep/clients").join(NEWEST);
        assert!(programs.iter().all(|program| program.starts_with(&home) && *program == programs[0]));
        assert_eq!(fs::read_to_string(tools.path().join("runs")).unwrap(), "run\n");
    }
}
