//! Data for programs: `--format json` and `--format yaml`.

use clap::ValueEnum;
use serde::Serialize;

/// The values of `--format`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum OutputFormat {
    /// For people
    #[default]
    Text,
    /// For programs
    Json,
    /// For programs
    Yaml,
    /// Markdown, for models: where a command has a report; else as text
    Md,
    /// `file:line:column: severity: message`, for editors: `impact` only
    Gcc,
    /// SARIF 2.1.0, for code scanning: `impact` only
    Sarif,
}

impl OutputFormat {
    /// Returns true for formats that only have a form for findings in files.
    pub(crate) fn is_for_findings(self) -> bool {
        matches!(self, Self::Gcc | Self::Sarif)
    }

    /// `data` in this format, ending in a newline; `None` for text, which each command writes itself.
    pub(crate) fn render(self, data: &impl Serialize) -> Option<String> {
        let plain = "our own data is maps with text keys, lists and scalars";
        match self {
            Self::Text | Self::Md | Self::Gcc | Self::Sarif => None,
            Self::Json => Some(serde_json::to_string_pretty(data).expect(plain) + "\n"),
            Self::Yaml => {
                let yaml = serde_saphyr::to_string(data).expect(plain);
                Some(if yaml.ends_with('\n') { yaml } else { yaml + "\n" })
            }
        }
    }
}
