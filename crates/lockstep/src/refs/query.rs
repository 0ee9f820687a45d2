//! Answers to `lockstep refs`: the references to a name, from a name, and to names that no longer exist.

use std::path::Path;
use std::time::Duration;

use lockstep_index::index::{Index, IndexProgress};
use lockstep_refs::limits::Limits;
use schemars::JsonSchema;
use serde::Serialize;

use crate::command_output::CommandOutput;
use crate::error::{CommandError, CommandErrorKind, CommandResult};
use crate::impact::deadline::Deadline;
use crate::refs::dangling::DanglingReferences;
use crate::refs::references::{Places, ReferenceLocation};
use crate::refs::suggestion::similar_names;
use crate::refs::target::{Group, ReferenceTarget};
use crate::refs::text;
use crate::refs::undefined;
use crate::workspace::Workspace;

/// The default time limit of a search.
pub(crate) const TIME_LIMIT: Duration = Duration::from_secs(10);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum ReferenceDirection {
    #[default]
    In,
    /// References that the file or the symbol makes.
    Out,
    /// References to something that no longer exists.
    Dangling,
}

/// An entity with the queried name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct DefinitionGroup {
    /// The location: `path:line`, or a path.
    pub(crate) at: String,
    /// The name that refers to this one only.
    pub(crate) narrow: String,
    /// The number of places that reference it.
    pub(crate) references: usize,
}

/// References that were found, and how reliable the answer is.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub(crate) struct ReferencesOutput {
    /// The queried name.
    pub(crate) sought: String,
    /// The definitions of a symbol, or the file itself.
    pub(crate) defined: Vec<String>,
    /// The entities with the queried name, each with the number of its references.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) definitions: Vec<DefinitionGroup>,
    /// True if nothing in the project defines the name: `references` are then the places that use it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) undefined: bool,
    /// The last definition of an undefined name that git has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) formerly: Option<String>,
    /// The places, by file.
    pub(crate) references: Vec<ReferenceLocation>,
    /// The number of omitted references between files of the requested directory.
    #[serde(skip_serializing_if = "is_zero")]
    pub(crate) inside: usize,
    /// The number of imports that could not be resolved.
    pub(crate) unresolved: usize,
    /// The number of times each limit of the search was reached: references may be missing.
    #[serde(skip_serializing_if = "Limits::is_empty")]
    #[schemars(with = "std::collections::BTreeMap<String, u64>")]
    pub(crate) limits: Limits,
    /// True if the answer matches the files on disk.
    pub(crate) fresh: bool,
    /// The revision of the index.
    pub(crate) revision: String,
    /// When the index was last changed.
    pub(crate) time: String,
    /// The number of files that could not be read.
    pub(crate) unseen_files: usize,
    /// True if the time limit was reached before every file was checked.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) truncated: bool,
    #[serde(skip)]
    pub(crate) direction: ReferenceDirection,
}

fn is_zero(n: &usize) -> bool {
    *n == 0
}

/// The result of a search, without the freshness of the index.
enum Search {
    Defined(Vec<Group>, Places),
    Undefined(Vec<ReferenceLocation>, bool),
    Unknown(Vec<String>),
}

impl ReferencesOutput {
    /// Finds the references to `name` in the tree of `directory`, or the references that it makes.
    pub(crate) fn of(
        directory: &Path,
        name: &str,
        direction: ReferenceDirection,
        limit: Duration,
        progress: &dyn IndexProgress,
    ) -> CommandResult<Self> {
        let progress: &dyn IndexProgress = &Deadline::within(limit, progress);
        let tree = Workspace::discover(directory)?;
        let (index, search) = tree.query_index(
            progress,
            |_| true,
            |index| {
                let is_over = || progress.is_out_of_time() || progress.is_cancelled() || index.is_outdated();
                search(&tree, index, directory, name, direction, &is_over)
            },
        )?;
        let found = Self { sought: name.to_owned(), direction, ..Self::default() };
        let found = match search {
            Search::Defined(groups, places) => found.with_places(&groups, places),
            Search::Undefined(references, truncated) => {
                let formerly = tree.former_definition(name);
                Self { undefined: true, formerly, references, truncated, ..found }
            }
            Search::Unknown(similar) => return Err(unknown(name, &similar)),
        };
        let truncated = found.truncated || index.has_expired() || index.skipped() > 0;
        Ok(Self { truncated, ..found.with_index_basis(index) })
    }

    /// Finds references to something that no longer exists, as far as the time allows.
    pub(crate) fn dangling(
        directory: &Path,
        limit: Duration,
        progress: &dyn IndexProgress,
    ) -> CommandResult<Self> {
        let progress: &dyn IndexProgress = &Deadline::within(limit, progress);
        let is_over = || progress.is_out_of_time() || progress.is_cancelled();
        let tree = Workspace::discover(directory)?;
        let index = tree.open_index(progress)?;
        let DanglingReferences { found, unresolved, truncated } = tree.dangling(&index, &is_over)?;
        let truncated = truncated || index.has_expired() || index.skipped() > 0;
        let sought = "what no longer exists".to_owned();
        let direction = ReferenceDirection::Dangling;
        Ok(Self { sought, direction, references: found, unresolved, truncated, ..Self::default() }
            .with_index_basis(index))
    }

    fn with_places(self, groups: &[Group], places: Places) -> Self {
        let Places { found, unresolved, inside, is_partial, limits } = places;
        let definitions = groups.iter().enumerate().map(|(at, group)| DefinitionGroup {
            at: group.at.clone(),
            narrow: group.narrow.clone(),
            references: found
                .iter()
                .filter(|candidate| candidate.definition.is_none_or(|which| which == at))
                .count(),
        });
        let line = |group: &Group| match group.at.contains(':') || group.at.ends_with('/') {
            true => group.at.clone(),
            false => format!("{}:1", group.at),
        };
        Self {
            defined: groups.iter().map(line).collect(),
            definitions: definitions.collect(),
            references: found,
            unresolved,
            limits,
            inside,
            truncated: is_partial,
            ..self
        }
    }

    /// Adds the state of the index, which must be read last.
    fn with_index_basis(self, mut index: Index) -> Self {
        let basis = crate::workspace::index::index_basis(&index);
        // The facts that were parsed for this answer are saved for the next one, if possible.
        let _ = index.persist_facts();
        let lockstep_refs::report::IndexState { fresh, revision, time, unseen } = basis;
        Self { fresh, revision, time, unseen_files: unseen, ..self }
    }
}

fn search(
    tree: &Workspace,
    index: &Index,
    directory: &Path,
    name: &str,
    direction: ReferenceDirection,
    is_over: &dyn Fn() -> bool,
) -> Search {
    let sought: ReferenceTarget = tree.resolve_target(index, directory, name);
    if !sought.is_empty() {
        let places = match direction {
            ReferenceDirection::Out => sought.outgoing_references(index, &tree.aliases(), is_over),
            _ => sought.referrers(index, is_over),
        };
        let may_be_former = direction == ReferenceDirection::In && !is_over();
        if !(may_be_former && is_unlinked_heading(name, &sought.groups, &places)) {
            return Search::Defined(sought.groups, places);
        }
        let mut found = undefined::uses(index, name, is_over);
        if found.is_empty() {
            return Search::Defined(sought.groups, places);
        }
        undefined::sort(&mut found);
        return Search::Undefined(found, is_over());
    }
    if is_over() || index.skipped() > 0 {
        let places = Places { is_partial: true, ..Places::default() };
        return Search::Defined(Vec::new(), places);
    }
    let mut found = match direction {
        ReferenceDirection::Out => Vec::new(),
        _ => undefined::uses(index, name, is_over),
    };
    undefined::sort(&mut found);
    match found.is_empty() {
        true => {
            let former = tree.names_before_edits();
            Search::Unknown(similar_names(index, name, &former, &tree.aliases(), is_over))
        }
        false => Search::Undefined(found, is_over()),
    }
}

/// Returns true if a name with dashes is only the anchor of headings without links: it may also be the former
/// name of a skill or agent whose heading was kept.
fn is_unlinked_heading(name: &str, groups: &[Group], places: &Places) -> bool {
    let is_heading = |group: &Group| group.at.rsplit_once(':').is_some_and(|(path, _)| path.ends_with(".md"));
    let is_name = name.contains('-') && !name.contains(['/', '#', ':', '.']);
    is_name && places.found.is_empty() && !places.is_partial && groups.iter().all(is_heading)
}

impl CommandOutput for ReferencesOutput {
    fn text(&self) -> String {
        text::render(self, true, None)
    }
}

fn unknown(name: &str, similar: &[String]) -> CommandError {
    let is_line =
        |(_, line): (&str, &str)| !line.is_empty() && line.bytes().all(|byte| byte.is_ascii_digit());
    let is_file = undefined::is_path(name) || name.rsplit_once(':').is_some_and(is_line);
    let kind = if is_file { CommandErrorKind::Store } else { CommandErrorKind::Usage };
    let error = CommandError::new(kind, format!("nothing in this tree is called {name:?}"));
    let error = match similar {
        [] => error,
        names => {
            let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
            error.hint(format!("a similar name: {}", names.join(", ")))
        }
    };
    error.hint(
        "give a path, a place (`file:12`, `file.md#slug`, `file.py:NAME`), a module (`crate::a`, `pkg.mod`, `./x`), a symbol \
         (`Type.method` for a member), a package of the project, or the name of a skill or agent",
    )
}
