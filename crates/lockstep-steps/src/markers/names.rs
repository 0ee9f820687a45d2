//! The names of the markers, and the correction of misspelt names.

/// A marker that Lockstep reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MarkerKind {
    /// Asks for the check.
    Validation,
    /// Names the command that made the prompt.
    Origin,
    StepFile,
    Agent,
    Command,
}

impl MarkerKind {
    pub const ALL: [Self; 5] = [Self::Validation, Self::Origin, Self::StepFile, Self::Agent, Self::Command];

    /// The key of the marker in the configuration.
    pub fn key(self) -> &'static str {
        match self {
            Self::Validation => "validation",
            Self::Origin => "origin",
            Self::StepFile => "step_file",
            Self::Agent => "agent",
            Self::Command => "command",
        }
    }

    fn default_name(self) -> &'static str {
        match self {
            Self::Validation => "DES-VALIDATION",
            Self::Origin => "DES-ORIGIN",
            Self::StepFile => "DES-STEP-FILE",
            Self::Agent => "DES-AGENT",
            Self::Command => "DES-COMMAND",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MarkerNames([String; 5]);

impl Default for MarkerNames {
    fn default() -> Self {
        Self(MarkerKind::ALL.map(|kind| kind.default_name().to_owned()))
    }
}

impl MarkerNames {
    /// Gives a marker another name.
    #[must_use]
    pub fn with(mut self, kind: MarkerKind, name: &str) -> Self {
        name.clone_into(&mut self.0[kind as usize]);
        self
    }

    pub fn get(&self, kind: MarkerKind) -> &str {
        &self.0[kind as usize]
    }

    /// The marker of a name, spelt exactly.
    pub fn kind(&self, name: &str) -> Option<MarkerKind> {
        MarkerKind::ALL.into_iter().find(|kind| self.get(*kind) == name)
    }

    /// Returns the marker that a misspelt name probably means. `DES-VALIDATION` decides whether anything is
    /// validated, so more spellings are accepted for it: two wrong letters, and another ending with the value
    /// `required`.
    pub(super) fn intended_marker(&self, name: &str, value: Option<&str>) -> Option<&str> {
        let spelt = |c: char| if c == '_' || c.is_whitespace() { '-' } else { c.to_ascii_uppercase() };
        let name: String = name.trim().chars().map(spelt).collect();
        let validation = self.get(MarkerKind::Validation);
        if value == Some("required") && name.starts_with(&validation[..validation.len() / 2]) {
            return Some(validation);
        }
        let near = |kind: MarkerKind| {
            let known = self.get(kind);
            let distance = if kind == MarkerKind::Validation { 2 } else { 1 };
            // Without a colon, the value is a part of the name.
            let begins = value.is_none()
                && name.strip_prefix(known).is_some_and(|rest| !rest.starts_with(char::is_alphanumeric));
            begins || (name.len() <= known.len() + 3 && strsim::damerau_levenshtein(&name, known) <= distance)
        };
        MarkerKind::ALL.into_iter().find(|kind| near(*kind)).map(|kind| self.get(kind))
    }

    /// Returns true if a name begins like the project's markers: `DES-` by default.
    pub(super) fn has_prefix(&self, name: &str) -> bool {
        let family = self.get(MarkerKind::Validation).split_inclusive('-').next().unwrap_or_default();
        family.ends_with('-') && name.len() > family.len() && name.starts_with(family)
    }
}
