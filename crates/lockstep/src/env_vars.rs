//! Every environment variable the program reads, declared once; the reference page is made from this.

use std::path::PathBuf;

/// An environment variable.
#[derive(Debug, Clone, Copy)]
pub struct EnvVar {
    pub name: &'static str,
    /// The effect, for the reference page.
    pub doc: &'static str,
}

impl EnvVar {
    /// Returns the value if it is set and not empty.
    pub fn get(&self) -> Option<std::ffi::OsString> {
        let value = |name| std::env::var_os(name).filter(|value| !value.is_empty());
        // Only Unix shells set HOME on Windows.
        let is_home = cfg!(windows) && self.name == "HOME";
        value(self.name).or_else(|| value("USERPROFILE").filter(|_| is_home))
    }
}

macro_rules! env_vars {
    ($($(#[doc = $doc:literal])+ $name:ident)*) => {
        $(
            $(#[doc = $doc])+
            pub const $name: EnvVar = EnvVar { name: stringify!($name), doc: concat!($($doc),+) };
        )*

        /// Every variable.
        pub const ALL: &[EnvVar] = &[$($name),*];
    };
}

env_vars! {
    /// The session of the client that runs the command, where `--session` does not name one.
    CLAUDE_CODE_SESSION_ID
    /// Set in what Claude Code runs: the writer of the task is then the agent that a hook saw, and not a person.
    CLAUDECODE
    /// The directory of Claude Code's own files, if it is not `~/.claude`: settings of the user, plugins and task lists.
    CLAUDE_CONFIG_DIR
    /// The project directory a client names to its hooks. The search for `lockstep.toml` begins there.
    CLAUDE_PROJECT_DIR
    /// The repository, where git starts the program in a hook.
    GIT_DIR
    /// The index of the pending commit, if git starts the program in a hook.
    GIT_INDEX_FILE
    /// The user's directory, where a client has settings of the user's own.
    HOME
    /// The group of the cascade that an agent works for; set by `lockstep cascade run`, with the group's files, relative to the project's
    /// root: LOCKSTEP_FILES_LIST0 (a file with all names, each ended by NUL), LOCKSTEP_FILES_LIST (a file with the names, one a line, without
    /// those that have control characters) and LOCKSTEP_FILES (the names that are single words for a shell).
    LOCKSTEP_GROUP
    /// A fixed present moment with a time zone, such as `2026-02-14T15:30:42+09:00[Asia/Tokyo]`, instead of the clock; only
    /// in builds for tests, a released program ignores it.
    LOCKSTEP_NOW
    /// No colour in the output, whatever its value.
    NO_COLOR
    /// The directories of programs.
    PATH
    /// The time in the header of a session cache that a command builds, in seconds since 1970, instead of the present one.
    SOURCE_DATE_EPOCH
    /// The directory of the journals where `[journal] dir` does not name one; `/tmp` where unset.
    TMPDIR
    /// The time zone of timestamps, if it is not the system's.
    TZ
    /// The directory of the user's caches, if it is not `~/.cache`; `lockstep` in it has the indexes of repositories without
    /// `lockstep.toml`.
    XDG_CACHE_HOME
    /// The directory of the user's configuration, if it is not `~/.config`; `lockstep/config.toml` in it is
    /// read.
    XDG_CONFIG_HOME
    /// The directory of the user's state, if it is not `~/.local/state`; Lockstep's is `lockstep` in it.
    XDG_STATE_HOME
}

/// The directory of the client's own files: `CLAUDE_CONFIG_DIR`, else `~/.claude`.
pub(crate) fn client_directory() -> Option<PathBuf> {
    let home = || HOME.get().map(|home| PathBuf::from(home).join(".claude"));
    CLAUDE_CONFIG_DIR.get().map(PathBuf::from).or_else(home)
}
