//! Content that no longer parses: nothing is known about the definitions there.

use super::hunks::Hunks;
use crate::definition_diff::{DefinitionChangeKind, SymbolChange};
use crate::facts::{Definition, Facts};

/// A parser may stumble so many lines away from the definition: an empty line separates definitions.
const NEAR: u32 = 2;

/// The places that the parser could read before a change and cannot read after it.
pub(super) struct Unparsed {
    /// `None` if the former text is unknown.
    hunks: Option<Hunks>,
    places: Vec<(u32, u32)>,
}

impl Unparsed {
    pub(super) fn new(old: &Facts, new: &Facts, texts: Option<(&str, &str)>) -> Self {
        let Some((before, now)) = texts else {
            let places = if new.problems > old.problems { new.unread.clone() } else { Vec::new() };
            return Self { hunks: None, places };
        };
        if new.unread.is_empty() {
            return Self { hunks: None, places: Vec::new() };
        }
        let hunks = Hunks::between(before, now);
        let was_unread = |place: &(u32, u32)| {
            let (first, last) = hunks.to_old(*place);
            old.unread.iter().any(|pair| pair.0 <= last && first <= pair.1)
        };
        let places = new.unread.iter().filter(|pair| !was_unread(pair)).copied().collect();
        Self { hunks: Some(hunks), places }
    }

    /// The first line that does not parse.
    ///
    /// A parser may stumble before the changed line, which it then includes, or only behind it.
    pub(super) fn first_line(&self) -> Option<u32> {
        let (first, last) = *self.places.first()?;
        let Some(hunks) = &self.hunks else { return Some(first) };
        if hunks.ends_before(first) {
            return Some(first - 1);
        }
        Some(hunks.first_new().filter(|line| (first..=last).contains(line)).unwrap_or(first))
    }

    /// Replaces the apparent changes of definitions where the new content does not parse.
    pub(super) fn hide(&self, changes: &mut [SymbolChange]) {
        if self.places.is_empty() {
            return;
        }
        for change in changes.iter_mut().filter(|change| self.covers(&change.was)) {
            change.what = DefinitionChangeKind::Unknown;
        }
    }

    fn covers(&self, was: &Definition) -> bool {
        let Some(hunks) = &self.hunks else { return true };
        let lines = (was.line, was.end_line.max(was.line));
        if !hunks.touches_old(lines.0, lines.1) {
            // Its text is unchanged: it only seems to differ because of a syntax error elsewhere.
            return true;
        }
        let (first, last) = hunks.to_new(lines);
        self.places
            .iter()
            .any(|place| place.0 <= last.saturating_add(NEAR) && first <= place.1.saturating_add(NEAR))
    }
}
