//! The definition whose references are searched, with the facts about its owner that decide them.

use foldhash::HashSet;

use super::super::macros::is_given;
use super::super::modules::Project;
use super::super::names::Entity;
use super::super::standard;
use super::super::values::Ty;
use crate::facts::{Definition, DefinitionKind, Facts};
use crate::world::FileId;

/// The searched definition.
pub(super) struct Goal<'a> {
    pub(super) file: FileId,
    pub(super) symbol: &'a Definition,
    /// The definition, and its alternatives under other conditions.
    pub(super) items: Vec<u32>,
    /// Its owner, if it is a member.
    pub(super) owner: Option<(FileId, u32)>,
    pub(super) owner_name: Box<str>,
    pub(super) owner_is_interface: bool,
    /// Set if a macro generates it for a given type.
    pub(super) made: bool,
    /// Set if the project has no other definition of its name.
    pub(super) unique: bool,
    /// Set if its owner dereferences to a type that has such a method too.
    pub(super) covered: bool,
    /// Set if no ordinary build has it.
    pub(super) left_out: bool,
    /// Set if other types depend on it: it has type parameters, or numbers are combined with it (`2.0 *
    /// point`). Without it the compiler may fail to infer those types, and then reports every use, regardless
    /// of re-exports.
    pub(super) tells_others: bool,
    /// The files that name its owner.
    pub(super) mentioning: HashSet<FileId>,
}

impl<'a> Goal<'a> {
    pub(super) fn new(
        project: &Project<'_>,
        file: FileId,
        facts: &Facts,
        symbol: &'a Definition,
    ) -> Option<Self> {
        let same = |other: &Definition| {
            other.name == symbol.name && other.kind == symbol.kind && other.container == symbol.container
        };
        let items: Vec<u32> =
            (0..).zip(&facts.definitions).filter(|(_, other)| same(other)).map(|(index, _)| index).collect();
        if items.is_empty() {
            return None;
        }
        let owner = if symbol.container.is_some() { project.owner(file, symbol) } else { None };
        let owner_name = owner.and_then(|(file, index)| {
            Some(project.sheet(file)?.facts.definitions.get(index as usize)?.name.clone())
        });
        let owner_is_interface =
            owner.is_some_and(|(file, index)| project.kind(file, index) == Some(DefinitionKind::Interface));
        let mut goal = Self {
            file,
            symbol,
            items,
            owner,
            owner_name: owner_name.unwrap_or_default(),
            owner_is_interface,
            made: symbol.container.as_deref().is_some_and(is_given),
            unique: false,
            covered: false,
            left_out: project.is_left_out(file, symbol.line),
            tells_others: symbol.kind == DefinitionKind::Type
                && (gives_to_numbers(facts) || takes_types(project, file, symbol)),
            mentioning: HashSet::default(),
        };
        if goal.is_member() {
            goal.unique = goal.is_unique(project);
            goal.covered = goal.is_covered(project);
            if !goal.owner_name.is_empty() {
                goal.mentioning = project.containing(&goal.owner_name).into_iter().collect();
            }
        }
        Some(goal)
    }

    /// Returns true if it is a type alias.
    pub(super) fn is_alias(&self) -> bool {
        self.symbol.kind == DefinitionKind::Type && self.symbol.gives.is_some() && self.owner.is_none()
    }

    /// Returns true if it is accessed through its owner.
    pub(super) fn is_member(&self) -> bool {
        self.owner.is_some() || self.made
    }

    pub(super) fn is(&self, entity: &Entity) -> bool {
        matches!(entity, Entity::Item(file, index) if *file == self.file && self.items.contains(index))
    }

    fn is_covered(&self, project: &Project<'_>) -> bool {
        let Some((file, index)) = self.owner.filter(|_| self.symbol.kind == DefinitionKind::Method) else {
            return false;
        };
        match project.dereferenced(&Ty::Own(file, index, Vec::new()), 0) {
            Some(Ty::Own(file, index, _)) => {
                project.members(file, index, &self.symbol.name).all().next().is_some()
            }
            Some(Ty::Outside(name, _)) => standard::has_method(&name, &self.symbol.name),
            Some(Ty::Slice(_)) => standard::has_method("[]", &self.symbol.name),
            _ => false,
        }
    }

    fn is_unique(&self, project: &Project<'_>) -> bool {
        for file in project.defining(&self.symbol.name) {
            let Some(sheet) = project.sheet(file) else { continue };
            for index in sheet.defined(&self.symbol.name) {
                let definition = &sheet.facts.definitions[*index as usize];
                let member = matches!(definition.kind, DefinitionKind::Method | DefinitionKind::Field);
                let twin = file == self.file && definition.container == self.symbol.container;
                if member && definition.extends.is_empty() && !twin {
                    return false;
                }
            }
        }
        true
    }
}

/// Returns true if a type has type parameters.
fn takes_types(project: &Project<'_>, file: FileId, symbol: &Definition) -> bool {
    let Some(text) = project.world.text(file) else { return false };
    let first = symbol.line.saturating_sub(1) as usize;
    let lines = text.lines().skip(first).take((symbol.end_line.saturating_sub(symbol.line) + 1) as usize);
    let behind_name =
        lines.into_iter().find_map(|line| line.split_once(&*symbol.name)).map(|(_, after)| after);
    let parameters = behind_name.and_then(|after| after.strip_prefix('<'));
    parameters.is_some_and(|list| {
        let names = list.split(['>', ':', '=']).next().unwrap_or(list);
        names.split(',').any(|name| name.trim().starts_with(char::is_uppercase))
    })
}

/// Returns true if a file implements operators for numbers.
fn gives_to_numbers(facts: &Facts) -> bool {
    facts.implementations.iter().any(|implementation| {
        let operator =
            implementation.interface.as_deref().map(|path| path.rsplit("::").next().unwrap_or(path));
        matches!(&*implementation.of, "f64" | "f32")
            && matches!(operator, Some("Add" | "Sub" | "Mul" | "Div"))
    })
}
