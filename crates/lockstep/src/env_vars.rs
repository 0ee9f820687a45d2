//! Every environment variable the program reads, declared once; the reference page is made from this.

/// An environment variable.
#[derive(Debug, Clone, Copy)]
pub struct EnvVar {
    /// Its name.
    pub name: &'static str,
    /// What it does.
    pub doc: &'static str,
}

impl EnvVar {
    /// Its value, where it is set and not empty.
    pub fn get(&self) -> Option<std::ffi::OsString> {
        std::env::var_os(self.name).filter(|value| !value.is_empty())
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
    /// Where Claude Code keeps its files, where that is not `~/.claude`; its task lists are read there.
    CLAUDE_CONFIG_DIR
    /// The project directory a client names to its hooks. The search for `lockstep.toml` begins there.
    CLAUDE_PROJECT_DIR
    /// The repository, where git starts the program in a hook.
    GIT_DIR
    /// What is being committed, where git starts the program in a hook.
    GIT_INDEX_FILE
    /// The user's directory, where a client has settings of the user's own.
    HOME
    /// The group of the cascade that an agent works for; set by `lockstep cascade run`, with LOCKSTEP_FILES (its files, one a line,
    /// relative to the project's root) and LOCKSTEP_FILES_LIST (a file with the same).
    LOCKSTEP_GROUP
    /// A fixed present moment with a time zone, such as `2026-02-14T15:30:42+09:00[Asia/Tokyo]`, instead of the clock; for
    /// tests and reproducible output.
    LOCKSTEP_NOW
    /// No colour in the output, whatever its value.
    NO_COLOR
    /// Where programs are looked for.
    PATH
    /// The time in the header of a session cache that a command builds, in seconds since 1970, instead of the present one.
    SOURCE_DATE_EPOCH
    /// The directory of the journals where `[journal] dir` does not name one; `/tmp` where unset.
    TMPDIR
    /// The time zone of timestamps, where it is not the system's.
    TZ
}
