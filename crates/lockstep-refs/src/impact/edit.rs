//! An edit: a file before and after.

use std::sync::Arc;

use crate::definition_diff::{DefinitionChangeKind, SymbolChange, compare};
use crate::entity::{Aliases, Entity, entities};
use crate::facts::{Definition, Facts, Reach};
use crate::language::{self, Language};
use crate::memo::Memo;
use crate::overlay::Overlay;
use crate::world::World;

/// One changed file.
#[derive(Debug, Clone)]
pub struct Edit {
    /// The present path; for a deleted file, the former one.
    pub path: String,
    /// The former path, if it differs.
    pub former: Option<String>,
    /// The former content.
    pub before: Before,
    /// The present content, if it is not that of the world: another revision, a patch.
    pub after: After,
}

/// The content of a file after an edit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum After {
    /// The world's content.
    Present,
    Text(Arc<str>),
    /// The file was deleted.
    Gone,
}

/// The content of a file before an edit.
#[derive(Debug, Clone)]
pub enum Before {
    /// The file did not exist.
    Absent,
    Text(Arc<str>),
    /// These facts; the text is no longer known.
    Facts(Arc<Facts>),
    /// Unknown. Everything in the file counts as changed.
    Unknown,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileChange {
    Created,
    Deleted,
    Renamed {
        /// The former path.
        from: String,
    },
    Modified,
}

impl FileChange {
    /// Returns one word for people and programs.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Deleted => "deleted",
            Self::Renamed { .. } => "renamed",
            Self::Modified => "modified",
        }
    }
}

impl Edit {
    /// Returns the kind of change of the file.
    pub fn change(&self) -> FileChange {
        match (&self.former, &self.before, &self.after) {
            (_, _, After::Gone) => FileChange::Deleted,
            (Some(from), ..) => FileChange::Renamed { from: from.clone() },
            (None, Before::Absent, _) => FileChange::Created,
            _ => FileChange::Modified,
        }
    }

    pub(super) fn former_path(&self) -> &str {
        self.former.as_deref().unwrap_or(&self.path)
    }

    /// Returns true if the file is no longer at its former path.
    pub(super) fn is_moved(&self) -> bool {
        self.former.is_some() || self.after == After::Gone
    }

    /// Returns the facts of the former content, and the content if it is known. `None` if there was no file.
    pub(super) fn former_content(&self, world: &dyn World) -> Option<(Arc<Facts>, Option<Arc<str>>)> {
        match &self.before {
            Before::Absent => None,
            Before::Text(text) => {
                let facts = Memo::parses(world).facts(self.former_path(), text);
                Some((facts, Some(Arc::clone(text))))
            }
            Before::Facts(facts) => Some((Arc::clone(facts), None)),
            // A deleted file with an unknown content may still be referenced.
            Before::Unknown if self.after == After::Gone => {
                Some((Arc::new(Facts::none(Language::of(self.former_path()))), None))
            }
            Before::Unknown => match &self.after {
                After::Text(text) => {
                    Some((Memo::parses(world).facts(&self.path, text), Some(Arc::clone(text))))
                }
                _ => {
                    let file = world.find(&self.path)?;
                    // An unreadable file may still be referenced.
                    let unseen = || Arc::new(Facts::none(Language::of(&self.path)));
                    Some((world.facts(file).unwrap_or_else(unseen), world.text(file)))
                }
            },
        }
    }

    /// The facts of the present content. `after` has every file as the edits leave it.
    pub(super) fn present_facts(&self, after: &dyn World) -> Option<Arc<Facts>> {
        match &self.after {
            After::Gone => None,
            After::Present | After::Text(_) => after.facts(after.find(&self.path)?),
        }
    }

    /// Returns the present names of the file. `before` is the world with its former content.
    pub(super) fn present_entities(&self, before: &Overlay<'_>, aliases: &Aliases) -> Vec<Entity> {
        match &self.after {
            After::Gone => Vec::new(),
            After::Text(text) => entities(&self.path, Some(text), aliases),
            After::Present => entities(&self.path, before.present_text(&self.path).as_deref(), aliases),
        }
    }

    /// Returns the present text, if it is known. `before` is the world with its former content.
    pub(super) fn present_text(&self, before: &Overlay<'_>) -> Option<Arc<str>> {
        match &self.after {
            After::Gone => None,
            After::Text(text) => Some(Arc::clone(text)),
            After::Present => before.present_text(&self.path),
        }
    }

    /// Returns true if more than line ends and blanks at the ends of lines changed. An unknown content counts as changed.
    pub(super) fn is_other_text(&self, before: &Overlay<'_>, former: Option<&str>) -> bool {
        let present = self.present_text(before);
        let is_alike = |old: &str, new: &str| {
            let lines = |text| str::trim_end(text).lines().map(str::trim_end);
            lines(old).eq(lines(new))
        };
        let both = former.zip(present.as_deref());
        matches!(self.before, Before::Unknown) || !both.is_some_and(|(old, new)| is_alike(old, new))
    }

    /// Returns the changes of the former content's definitions.
    pub(super) fn symbol_changes(&self, old: &Facts, new: Option<&Facts>) -> Vec<SymbolChange> {
        let removed = |change: SymbolChange| SymbolChange { what: DefinitionChangeKind::Removed, ..change };
        match (&self.before, new) {
            (Before::Unknown, _) => Self::everything_inside(old),
            (_, None) if self.after == After::Gone => {
                Self::everything_inside(old).into_iter().map(removed).collect()
            }
            // The file exists, but cannot be read.
            (_, None) => Self::everything_inside(old),
            (_, Some(new)) if is_repackaged(old, new) => repackaged(compare(old, new), old, new),
            (_, Some(new)) => compare(old, new),
        }
    }

    /// Returns true if the content changed and could not be parsed completely, before or after, so that the
    /// change is unknown.
    pub(super) fn is_unread(
        &self,
        before: &Overlay<'_>,
        was: (&Facts, Option<&str>),
        is: Option<&Facts>,
    ) -> bool {
        let (old, Some(former)) = was else { return false };
        let Some(new) = is.filter(|new| old.problems > 0 || new.problems > 0) else { return false };
        let present = self.present_text(before);
        present.is_some_and(|text| !language::rules(new.language).same_tokens(former, &text))
    }

    /// Returns every visible definition, as if only its body had changed.
    pub(super) fn everything_inside(old: &Facts) -> Vec<SymbolChange> {
        let reachable = old.definitions.iter().filter(|definition| definition.reach > Reach::File);
        reachable
            .map(|was| SymbolChange { was: was.clone(), what: DefinitionChangeKind::BodyChanged })
            .collect()
    }
}

/// Returns true if a file declares another package than before: then everything in it has another full name.
pub(super) fn is_repackaged(old: &Facts, new: &Facts) -> bool {
    old.language == new.language && old.package != new.package
}

/// Marks the definitions outside types as renamed, because their full names changed.
fn repackaged(mut changes: Vec<SymbolChange>, old: &Facts, new: &Facts) -> Vec<SymbolChange> {
    let known = |changes: &[SymbolChange], was: &Definition| {
        changes.iter().position(|change| change.was.line == was.line && change.was.name == was.name)
    };
    let named = |was: &&Definition| was.container.is_none() && was.reach > Reach::File;
    for was in old.definitions.iter().filter(named) {
        let package = new.package.as_deref().unwrap_or_default();
        let full =
            [package, &was.name].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(".");
        let change = SymbolChange { was: was.clone(), what: DefinitionChangeKind::Renamed(full.into()) };
        match known(&changes, was) {
            Some(at)
                if matches!(
                    changes[at].what,
                    DefinitionChangeKind::Removed | DefinitionChangeKind::Renamed(_)
                ) => {}
            Some(at) => changes[at] = change,
            None => changes.push(change),
        }
    }
    changes.sort_by_key(|change| change.was.line);
    changes
}
