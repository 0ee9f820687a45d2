//! An edit: a file before and after.

use std::sync::Arc;

use crate::change::{SymbolChange, What, compare};
use crate::entity::{Aliases, Entity, entities};
use crate::facts::{Definition, Facts, Reach};
use crate::language::{self, Language};
use crate::overlay::Overlay;
use crate::world::World;

/// One changed file.
#[derive(Debug, Clone)]
pub struct Edit {
    /// Where it is; where it is gone, where it was.
    pub path: String,
    /// Where it was before, if that is another place.
    pub former: Option<String>,
    /// What it was.
    pub before: Before,
    /// What it is, where that is not what the world has: another revision, a patch. `None` where it is gone, or the world
    /// has it.
    pub after: After,
}

/// What a file is after an edit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum After {
    /// As the world has it.
    Present,
    /// This.
    Text(Arc<str>),
    /// Gone.
    Gone,
}

/// What a file was before an edit.
#[derive(Debug, Clone)]
pub enum Before {
    /// It did not exist.
    Absent,
    /// This text.
    Text(Arc<str>),
    /// These facts; the text is no longer known.
    Facts(Arc<Facts>),
    /// Nobody knows. Everything in the file counts as changed.
    Unknown,
}

/// What happened to a file as a whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileChange {
    /// It is new.
    Created,
    /// It is gone.
    Deleted,
    /// It is in another place.
    Renamed {
        /// Where it was.
        from: String,
    },
    /// Its content is another one.
    Modified,
}

impl FileChange {
    /// One word for people and programs.
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
    /// What happened to the file as a whole.
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

    /// Whether the file is no longer where others look for it.
    pub(super) fn is_moved(&self) -> bool {
        self.former.is_some() || self.after == After::Gone
    }

    /// The facts of the former content, and the content where it is known; `None` where there was no file.
    pub(super) fn former_content(&self, world: &dyn World) -> Option<(Arc<Facts>, Option<Arc<str>>)> {
        match &self.before {
            Before::Absent => None,
            Before::Text(text) => {
                let facts = Arc::new(language::facts(self.former_path(), text));
                Some((facts, Some(Arc::clone(text))))
            }
            Before::Facts(facts) => Some((Arc::clone(facts), None)),
            // What is gone and was never seen is still missed by who leads to it.
            Before::Unknown if self.after == After::Gone => {
                Some((Arc::new(Facts::none(Language::of(self.former_path()))), None))
            }
            Before::Unknown => match &self.after {
                After::Text(text) => {
                    Some((Arc::new(language::facts(&self.path, text)), Some(Arc::clone(text))))
                }
                _ => {
                    let file = world.find(&self.path)?;
                    // What nobody can look into is still led to.
                    let unseen = || Arc::new(Facts::none(Language::of(&self.path)));
                    Some((world.facts(file).unwrap_or_else(unseen), world.text(file)))
                }
            },
        }
    }

    pub(super) fn present_facts(&self, world: &dyn World) -> Option<Arc<Facts>> {
        match &self.after {
            After::Gone => None,
            After::Text(text) => Some(Arc::new(language::facts(&self.path, text))),
            After::Present => world.facts(world.find(&self.path)?),
        }
    }

    /// What the file is known by now. `before` is the world with its former content.
    pub(super) fn present_entities(&self, before: &Overlay<'_>, aliases: &Aliases) -> Vec<Entity> {
        match &self.after {
            After::Gone => Vec::new(),
            After::Text(text) => entities(&self.path, Some(text), aliases),
            After::Present => entities(&self.path, before.present_text(&self.path).as_deref(), aliases),
        }
    }

    /// What it says now, where that can be known. `before` is the world with its former content.
    pub(super) fn present_text(&self, before: &Overlay<'_>) -> Option<Arc<str>> {
        match &self.after {
            After::Gone => None,
            After::Text(text) => Some(Arc::clone(text)),
            After::Present => before.present_text(&self.path),
        }
    }

    /// Whether the content is another one. What is unknown may be.
    pub(super) fn is_other_text(&self, before: &Overlay<'_>, former: Option<&str>) -> bool {
        let present = self.present_text(before);
        matches!(self.before, Before::Unknown) || former.is_none() || present.as_deref() != former
    }

    /// What happened to the definitions of the former content.
    pub(super) fn symbol_changes(&self, old: &Facts, new: Option<&Facts>) -> Vec<SymbolChange> {
        let removed = |change: SymbolChange| SymbolChange { what: What::Removed, ..change };
        match (&self.before, new) {
            (Before::Unknown, _) => Self::everything_inside(old),
            (_, None) if self.after == After::Gone => {
                Self::everything_inside(old).into_iter().map(removed).collect()
            }
            // It is there, but nobody can look into it.
            (_, None) => Self::everything_inside(old),
            (_, Some(new)) if is_repackaged(old, new) => repackaged(compare(old, new), old, new),
            (_, Some(new)) => compare(old, new),
        }
    }

    /// Whether the content is another one that could not be read in whole, before or after, so that what changed is not known.
    pub(super) fn is_unread(
        &self,
        before: &Overlay<'_>,
        was: (&Facts, Option<&str>),
        is: Option<&Facts>,
    ) -> bool {
        let (old, Some(former)) = was else { return false };
        let Some(new) = is.filter(|new| old.problems > 0 || new.problems > 0) else { return false };
        let present = self.present_text(before);
        present.is_some_and(|text| !language::rules(new.language).reads_alike(former, &text))
    }

    /// Every definition that others can name, with only its inside changed.
    pub(super) fn everything_inside(old: &Facts) -> Vec<SymbolChange> {
        let reachable = old.definitions.iter().filter(|definition| definition.reach > Reach::File);
        reachable.map(|was| SymbolChange { was: was.clone(), what: What::Body }).collect()
    }
}

/// Whether a file says that it belongs to another package than before: then everything in it has another full name.
pub(super) fn is_repackaged(old: &Facts, new: &Facts) -> bool {
    old.language == new.language && old.package != new.package
}

/// What a file defines outside types goes by another full name, whatever else became of it.
fn repackaged(mut changes: Vec<SymbolChange>, old: &Facts, new: &Facts) -> Vec<SymbolChange> {
    let known = |changes: &[SymbolChange], was: &Definition| {
        changes.iter().position(|it| it.was.line == was.line && it.was.name == was.name)
    };
    let named = |was: &&Definition| was.container.is_none() && was.reach > Reach::File;
    for was in old.definitions.iter().filter(named) {
        let package = new.package.as_deref().unwrap_or_default();
        let full =
            [package, &was.name].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(".");
        let change = SymbolChange { was: was.clone(), what: What::Renamed(full.into()) };
        match known(&changes, was) {
            Some(at) if matches!(changes[at].what, What::Removed | What::Renamed(_)) => {}
            Some(at) => changes[at] = change,
            None => changes.push(change),
        }
    }
    changes.sort_by_key(|change| change.was.line);
    changes
}
