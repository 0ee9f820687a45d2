//! Data for programs: `--format json` and `--format yaml`.

use clap::ValueEnum;
use serde::Serialize;

/// The values of `--format`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum Format {
    /// For people
    #[default]
    Text,
    /// For programs
    Json,
    /// For programs
    Yaml,
    /// Markdown, for models: where a command has a report; else as text
    Md,
}

impl Format {
    /// `data` in this format, ending in a newline; `None` for text, which each command writes itself.
    pub(crate) fn render(self, data: &impl Serialize) -> Option<String> {
        let plain = "our own data is maps with text keys, lists and scalars";
        match self {
            Self::Text | Self::Md => None,
            Self::Json => Some(serde_json::to_string_pretty(data).expect(plain) + "\n"),
            Self::Yaml => {
                let yaml = serde_saphyr::to_string(data).expect(plain);
                Some(if yaml.ends_with('\n') { yaml } else { yaml + "\n" })
            }
        }
    }
}
