//! Which of several hook entries for a session's start this process is.

use std::str::FromStr;

/// `--part K/N`: the K-th of N entries. Without it, the only one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HookPart {
    /// Starts at 1.
    pub number: usize,
    /// The number of registered entries.
    pub of: usize,
}

impl Default for HookPart {
    fn default() -> Self {
        Self { number: 1, of: 1 }
    }
}

impl HookPart {
    /// Returns true if this entry does the work that is done once per event.
    pub fn is_first(self) -> bool {
        self.number == 1
    }
}

impl FromStr for HookPart {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parsed = text
            .split_once('/')
            .and_then(|(number, of)| Some(Self { number: number.parse().ok()?, of: of.parse().ok()? }));
        parsed
            .filter(|part| (1..=part.of).contains(&part.number))
            .ok_or_else(|| format!("`{text}` is no part; write K/N, such as 2/5"))
    }
}

/// The arguments of `lockstep hook claude` for each of `of` entries.
pub(crate) fn hook_arguments(of: usize) -> Vec<String> {
    match of {
        0 | 1 => vec![String::new()],
        of => (1..=of).map(|number| format!(" --part {number}/{of}")).collect(),
    }
}

/// Returns the part of a registered command; the only one if the command does not name it.
pub(crate) fn part_of_command(command: &str) -> HookPart {
    let mut words = command.split_whitespace().skip_while(|word| *word != "--part").skip(1);
    // The plugin's commands go on behind it.
    words.next().and_then(|word| word.trim_end_matches(';').parse().ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_come_back_from_their_commands() {
        for of in 1..=12 {
            let parts: Vec<HookPart> = hook_arguments(of)
                .iter()
                .map(|arguments| part_of_command(&format!("lockstep hook claude{arguments}")))
                .collect();
            assert_eq!(parts.len(), of);
            assert!(parts.iter().zip(1..).all(|(part, number)| *part == HookPart { number, of }));
        }
    }

    #[test]
    fn invalid_part_is_refused() {
        for text in ["", "1", "0/3", "4/3", "1/0", "a/b", "1/2/3", "-1/2"] {
            assert!(text.parse::<HookPart>().is_err(), "{text}");
        }
        assert_eq!("2/5".parse(), Ok(HookPart { number: 2, of: 5 }));
    }
}
