//! Limits of clients at the start of a session, as data. They were measured on the named versions, unless a
//! comment states otherwise.

use crate::text_length::LengthUnit;

/// Scope of the limit if there are several hook entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LimitScope {
    PerEntry,
    /// All entries share one limit.
    Shared,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClientLimits {
    /// The client, as `lockstep hook` calls it.
    pub client: &'static str,
    /// The size that arrives in full from one hook entry.
    pub entry: usize,
    /// The size of a part, slightly smaller.
    pub part: usize,
    pub unit: LengthUnit,
    /// The effect of additional entries.
    pub entries: LimitScope,
}

impl ClientLimits {
    /// The limits of Claude Code.
    ///
    /// 2.1.197: 10,000 arrive, 10,001 become a file and a preview; five entries of 9,900 all arrive.
    pub const CLAUDE: Self = limits("claude", 10_000, 9_500, LengthUnit::Utf16, LimitScope::PerEntry);

    /// Encodes the limits for the key of a cached part.
    pub(super) fn fingerprint(&self) -> String {
        let Self { client, entry, part, unit, entries } = self;
        let unit = match unit {
            LengthUnit::Utf16 => "utf16",
            LengthUnit::Bytes => "bytes",
        };
        let entries = match entries {
            LimitScope::PerEntry => "separate",
            LimitScope::Shared => "joined",
        };
        format!("{client} {entry} {part} {unit} {entries}")
    }

    pub fn of(client: &str) -> Option<&'static Self> {
        LIMITS.iter().find(|limits| limits.client == client)
    }
}

const fn limits(
    client: &'static str,
    entry: usize,
    part: usize,
    unit: LengthUnit,
    entries: LimitScope,
) -> ClientLimits {
    ClientLimits { client, entry, part, unit, entries }
}

pub const LIMITS: [ClientLimits; 7] = [
    ClientLimits::CLAUDE,
    // 0.166.0: 9 KB arrive in full; more is cut to about 10 KB. Several entries were not measured.
    limits("codex", 9_000, 8_800, LengthUnit::Bytes, LimitScope::Shared),
    // 0.61.0: 43 KB arrive; the limit was not found.
    limits("gemini", 43_000, 9_500, LengthUnit::Bytes, LimitScope::Shared),
    // 1.18.33: no limit was seen.
    limits("opencode", 43_000, 9_500, LengthUnit::Bytes, LimitScope::Shared),
    // 1.0.102: 10 KB over all entries, by its source.
    limits("copilot", 10_000, 9_500, LengthUnit::Bytes, LimitScope::Shared),
    // 0.24.4: no limit was seen.
    limits("qwen", 43_000, 9_500, LengthUnit::Bytes, LimitScope::Shared),
    // 3.0.65: 50 KB, by its source.
    limits("cline", 50_000, 9_500, LengthUnit::Bytes, LimitScope::Shared),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_fit_entries_and_clients_are_there_once() {
        for (at, limits) in LIMITS.iter().enumerate() {
            assert!(limits.part < limits.entry);
            assert!(LIMITS[..at].iter().all(|other| other.client != limits.client));
        }
        assert_eq!(ClientLimits::of("claude").unwrap().entry, 10_000);
    }
}
