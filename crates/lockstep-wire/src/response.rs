//! The reply of a hook process to its client.

/// Bytes for standard output and standard error, and the exit code.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct HookResponse {
    pub stdout: String,
    /// Standard error; only a client that reads a reason from there gets one.
    pub stderr: String,
    pub code: u8,
}

impl HookResponse {
    /// The client continues as if no hook had run.
    pub fn silent() -> Self {
        Self::default()
    }

    pub(crate) fn json(value: &serde_json::Value) -> Self {
        Self { stdout: format!("{value}\n"), ..Self::default() }
    }
}
