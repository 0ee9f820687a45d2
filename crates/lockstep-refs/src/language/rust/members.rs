//! Members: the members of a type of the project by name, in any file.

use std::rc::Rc;

use super::modules::{Module, Project};
use super::names::{Entity, Provisional};
use super::values::Ty;
use crate::facts::{Definition, DefinitionKind, Reach, Shape};
use crate::memo::Entry;
use crate::world::FileId;

#[derive(Debug, Default)]
pub(super) struct Members {
    /// Own members: fields, variants, inherent methods, and declarations of a trait.
    own: Vec<(FileId, u32)>,
    implemented: Vec<(FileId, u32)>,
}

impl Members {
    pub(super) fn all(&self) -> impl Iterator<Item = (FileId, u32)> {
        self.own.iter().chain(&self.implemented).copied()
    }
}

impl Project<'_> {
    /// The members of that name of a type, a trait or a variant.
    pub(super) fn members(&self, file: FileId, index: u32, name: &str) -> Rc<Members> {
        let key = (file, index, Box::from(name));
        let memory = &*self.memory;
        match memory.members.borrow().get(&key) {
            Some(Entry::Known(members)) => return Rc::clone(members),
            // Traits and aliases that go round end here.
            Some(Entry::Open(position)) => {
                memory.progress.meet(*position);
                return Rc::default();
            }
            None => {}
        }
        let computation = memory.progress.begin();
        let first_provisional = memory.count_provisional();
        memory.members.borrow_mut().insert(key.clone(), Entry::Open(computation.position));
        let members = Rc::new(self.find_members(file, index, name));
        let is_complete = memory.progress.end(&computation);
        if !is_complete {
            memory.note_provisional(Provisional::Members(key.clone()));
        }
        memory.members.borrow_mut().insert(key, Entry::Known(Rc::clone(&members)));
        if is_complete || memory.progress.is_idle() {
            memory.forget_provisional(first_provisional);
        }
        members
    }

    fn find_members(&self, file: FileId, index: u32, name: &str) -> Members {
        let mut members = Members::default();
        let Some(sheet) = self.sheet(file) else { return members };
        let Some(of) = sheet.facts.definitions.get(index as usize) else { return members };
        if of.gives.is_some() && of.kind == DefinitionKind::Type {
            return self.members_of_alias(file, of, name);
        }
        if !matches!(of.kind, DefinitionKind::Type | DefinitionKind::Interface | DefinitionKind::Variant) {
            return members;
        }
        let container = inner(of.container.as_deref(), &of.name);
        for at in sheet.defined(name) {
            let definition = &sheet.facts.definitions[*at as usize];
            if definition.container.as_deref() == Some(&container) {
                members.add(file, *at, definition);
            }
        }
        match of.kind {
            DefinitionKind::Interface if members.own.is_empty() => {
                for parent in &of.extends {
                    let module = self.module_of(file, of);
                    for (file, index) in self.interfaces(&module, parent) {
                        members.own.extend(self.members(file, index, name).own.iter().copied());
                    }
                }
            }
            DefinitionKind::Type => self.members_elsewhere((file, index), &of.name, name, &mut members),
            _ => {}
        }
        members
    }

    fn members_of_alias(&self, file: FileId, of: &Definition, name: &str) -> Members {
        let mut members = Members::default();
        if let Some((file, index)) = self.stands_for(file, of) {
            let found = self.members(file, index, name);
            members.own.extend(&found.own);
            members.implemented.extend(&found.implemented);
        }
        members
    }

    /// Returns the type of the project that is the target of an alias.
    fn stands_for(&self, file: FileId, alias: &Definition) -> Option<(FileId, u32)> {
        let Some(Shape::Of(text)) = alias.gives.as_ref().filter(|_| alias.kind == DefinitionKind::Type)
        else {
            return None;
        };
        let module = self.module_of(file, alias);
        match self.value(&self.type_of(&module, &Shape::Of(text.clone()))) {
            Ty::Own(file, index, _) => Some((file, index)),
            _ => None,
        }
    }

    /// Adds members from implementations in other modules and files.
    fn members_elsewhere(&self, of: (FileId, u32), type_name: &str, name: &str, members: &mut Members) {
        for file in self.containing(&format!("{type_name} {name}")) {
            if !self.world.may_define(file, name) {
                continue;
            }
            let Some(sheet) = self.sheet(file) else { continue };
            for at in sheet.defined(name) {
                let definition = &sheet.facts.definitions[*at as usize];
                let known = members.all().any(|known| known == (file, *at));
                let belongs = self.belongs(file, definition, type_name);
                if known || !(belongs || self.belongs_to_alias(file, definition)) {
                    continue;
                }
                match self.owner(file, definition) {
                    Some(owner) if owner == of => members.add(file, *at, definition),
                    None if belongs => members.add(file, *at, definition),
                    _ => {}
                }
            }
        }
    }

    fn belongs(&self, file: FileId, definition: &Definition, type_name: &str) -> bool {
        let Some(sheet) = self.sheet(file) else { return false };
        sheet.split(definition.container.as_deref()).1 == Some(type_name)
    }

    /// Returns true if a member belongs to a type through an alias in the same file: `impl Alias { … }`.
    fn belongs_to_alias(&self, file: FileId, definition: &Definition) -> bool {
        let Some(sheet) = self.sheet(file) else { return false };
        let Some(name) = sheet.split(definition.container.as_deref()).1 else { return false };
        let mut named = sheet.defined(name).iter().map(|at| &sheet.facts.definitions[*at as usize]);
        named.any(|candidate| candidate.kind == DefinitionKind::Type && candidate.gives.is_some())
    }

    pub(super) fn module_of(&self, file: FileId, definition: &Definition) -> Module {
        self.module_at(file, definition.container.as_deref())
    }

    pub(super) fn module_at(&self, file: FileId, container: Option<&str>) -> Module {
        let inline = self.sheet(file).and_then(|sheet| sheet.split(container).0.map(Rc::from));
        Module { file, inline }
    }

    /// Returns the type, trait or variant that has a member.
    pub(super) fn owner(&self, file: FileId, definition: &Definition) -> Option<(FileId, u32)> {
        let sheet = self.sheet(file)?;
        let (_, rest) = sheet.split(definition.container.as_deref());
        let rest = rest?;
        let module = self.module_of(file, definition);
        let mut parts = rest.split('.');
        let mut owner = self.type_named(&module, parts.next()?)?;
        if let Some(named) = self.sheet(owner.0).filter(|_| owner.0 == file) {
            let alias = named.facts.definitions.get(owner.1 as usize);
            owner = alias.and_then(|alias| self.stands_for(owner.0, alias)).unwrap_or(owner);
        }
        for part in parts {
            let found = self.members(owner.0, owner.1, part);
            owner = found.all().next()?;
        }
        Some(owner)
    }

    fn type_named(&self, module: &Module, name: &str) -> Option<(FileId, u32)> {
        let found = self.resolve(module, name);
        let items: Vec<(FileId, u32)> = found
            .iter()
            .filter_map(|found| match found.entity {
                Entity::Item(file, index) => Some((file, index)),
                _ => None,
            })
            .collect();
        let is_type = |(file, index): &(FileId, u32)| {
            self.kind(*file, *index)
                .is_some_and(|kind| matches!(kind, DefinitionKind::Type | DefinitionKind::Interface))
        };
        items.into_iter().find(is_type)
    }

    /// Returns a function that a type of ours has from a trait outside, as `Options::parse`: its result is mostly the type, or a
    /// result of it.
    pub(super) fn derived(&self, module: &Module, path: &str) -> Option<Ty> {
        let (owner, name) = path.rsplit_once("::")?;
        let found = self.resolve(module, owner);
        let is_function = name.starts_with(|c: char| c.is_ascii_lowercase());
        found.iter().filter(|_| is_function).find_map(|found| match &found.entity {
            Entity::Item(file, index) if self.kind(*file, *index) == Some(DefinitionKind::Type) => {
                Some(Ty::Function(Box::new(Ty::Own(*file, *index, Vec::new()))))
            }
            _ => None,
        })
    }

    pub(super) fn kind(&self, file: FileId, index: u32) -> Option<DefinitionKind> {
        Some(self.sheet(file)?.facts.definitions.get(index as usize)?.kind)
    }

    /// The traits that a path names.
    pub(super) fn interfaces(&self, module: &Module, path: &str) -> Vec<(FileId, u32)> {
        let found = self.resolve(module, path);
        found
            .iter()
            .filter_map(|found| match found.entity {
                Entity::Item(file, index) => Some((file, index)),
                _ => None,
            })
            .filter(|(file, index)| self.kind(*file, *index) == Some(DefinitionKind::Interface))
            .collect()
    }

    /// Returns the trait that a member implements, if it is one of the project.
    pub(super) fn interface_of(&self, file: FileId, definition: &Definition) -> Vec<(FileId, u32)> {
        let module = self.module_of(file, definition);
        definition.extends.iter().flat_map(|path| self.interfaces(&module, path)).collect()
    }

    /// The methods of that name that traits of the project declare.
    pub(super) fn provided(&self, name: &str) -> Rc<[(FileId, u32)]> {
        if let Some(known) = self.memory.provided.borrow().get(name) {
            return Rc::clone(known);
        }
        let provided: Rc<[(FileId, u32)]> = self.find_provided(name).into();
        self.memory.provided.borrow_mut().insert(name.into(), Rc::clone(&provided));
        provided
    }

    fn find_provided(&self, name: &str) -> Vec<(FileId, u32)> {
        let mut found = Vec::new();
        for file in self.defining(name) {
            let Some(sheet) = self.sheet(file) else { continue };
            for index in sheet.defined(name) {
                let definition = &sheet.facts.definitions[*index as usize];
                if definition.kind != DefinitionKind::Method || definition.reach == Reach::File {
                    continue;
                }
                let owner = self.owner(file, definition);
                let of_trait = owner
                    .is_some_and(|(file, index)| self.kind(file, index) == Some(DefinitionKind::Interface));
                if of_trait {
                    found.push((file, *index));
                }
            }
        }
        found
    }

    /// The types that implement a trait, by their last names as written; `*` for every type.
    pub(super) fn implementing(&self, file: FileId, index: u32) -> Rc<[Box<str>]> {
        if let Some(known) = self.memory.implementing.borrow().get(&(file, index)) {
            return Rc::clone(known);
        }
        let mut types: Vec<Box<str>> = Vec::new();
        let name = self.sheet(file).map(|sheet| sheet.facts.definitions[index as usize].name.clone());
        let name = name.unwrap_or_default();
        for other in self.defining(&name) {
            let Some(sheet) = self.sheet(other) else { continue };
            for implementation in &sheet.facts.implementations {
                let Some(interface) = &implementation.interface else { continue };
                if interface.rsplit("::").next() == Some(&*name) {
                    types.push(last_name(&implementation.of).into());
                }
            }
        }
        let types: Rc<[Box<str>]> = types.into();
        self.memory.implementing.borrow_mut().insert((file, index), Rc::clone(&types));
        types
    }
}

impl Members {
    fn add(&mut self, file: FileId, index: u32, definition: &Definition) {
        if definition.extends.is_empty() || definition.kind == DefinitionKind::Interface {
            self.own.push((file, index));
        } else {
            self.implemented.push((file, index));
        }
    }
}

/// Returns the name of a written type under which its implementations are found.
pub(super) fn last_name(text: &str) -> &str {
    let end = text.find(['<', '[', '(', '+']).unwrap_or(text.len());
    if end == 0 {
        return if text.starts_with('[') { "[]" } else { text };
    }
    let path = &text[..end];
    path.rsplit("::").next().unwrap_or(path)
}

fn inner(container: Option<&str>, name: &str) -> String {
    container.map_or(name.to_owned(), |container| format!("{container}.{name}"))
}
