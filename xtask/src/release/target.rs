//! A target platform and its names in the package managers.

use std::fmt;

use crate::XtaskResult;

/// A platform that packages are made for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Target(&'static Platform);

#[derive(Debug, PartialEq, Eq)]
struct Platform {
    /// The triple of the released binary; other triples of the same platform are packed under their own name.
    triple: &'static str,
    npm_os: &'static str,
    npm_cpu: &'static str,
    debian: Option<&'static str>,
    /// The platform tags of a wheel. A static program runs with every C library.
    wheel: &'static str,
}

const PLATFORMS: [Platform; 8] = [
    linux("x86_64-unknown-linux-musl", "x64", "amd64", LINUX_X86),
    linux("x86_64-unknown-linux-gnu", "x64", "amd64", LINUX_X86),
    linux("aarch64-unknown-linux-musl", "arm64", "arm64", LINUX_ARM),
    linux("aarch64-unknown-linux-gnu", "arm64", "arm64", LINUX_ARM),
    other("x86_64-apple-darwin", "darwin", "x64", "macosx_10_12_x86_64"),
    other("aarch64-apple-darwin", "darwin", "arm64", "macosx_11_0_arm64"),
    other("x86_64-pc-windows-msvc", "win32", "x64", "win_amd64"),
    other("aarch64-pc-windows-msvc", "win32", "arm64", "win_arm64"),
];

const LINUX_X86: &str = "manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_1_x86_64";
const LINUX_ARM: &str = "manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64";

const fn linux(
    triple: &'static str,
    npm_cpu: &'static str,
    debian: &'static str,
    wheel: &'static str,
) -> Platform {
    Platform { triple, npm_os: "linux", npm_cpu, debian: Some(debian), wheel }
}

const fn other(
    triple: &'static str,
    npm_os: &'static str,
    npm_cpu: &'static str,
    wheel: &'static str,
) -> Platform {
    Platform { triple, npm_os, npm_cpu, debian: None, wheel }
}

impl Target {
    pub(super) fn parse(triple: &str) -> XtaskResult<Self> {
        let found = PLATFORMS.iter().find(|platform| platform.triple == triple);
        let known = || PLATFORMS.map(|platform| platform.triple).join(", ");
        Ok(Self(found.ok_or_else(|| format!("no packages are made for {triple}, only for {}", known()))?))
    }

    pub(super) fn triple(&self) -> &'static str {
        self.0.triple
    }

    /// The file name of the program.
    pub(super) fn program(&self) -> &'static str {
        if self.0.npm_os == "win32" { "lockstep.exe" } else { "lockstep" }
    }

    /// The operating system and the processor in npm's words.
    pub(super) fn npm(&self) -> (&'static str, &'static str) {
        (self.0.npm_os, self.0.npm_cpu)
    }

    /// Every platform in npm's words, each once.
    pub(super) fn all_npm() -> Vec<(&'static str, &'static str)> {
        let mut all = PLATFORMS.map(|platform| (platform.npm_os, platform.npm_cpu)).to_vec();
        all.sort_unstable();
        all.dedup();
        all
    }

    pub(super) fn debian(&self) -> Option<&'static str> {
        self.0.debian
    }

    pub(super) fn wheel(&self) -> &'static str {
        self.0.wheel
    }
}

impl fmt::Display for Target {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.triple())
    }
}
