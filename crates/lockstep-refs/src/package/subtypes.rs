//! The types that inherit the members of a type, and the files that may have values of them.

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::rc::Rc;

use super::is_type;
use super::names::{Query, Symbol, View};
use super::search_target::MAX_FILES;
use crate::facts::{Declaration, Definition, Shape};
use crate::limits::Limit;
use crate::world::FileId;

/// More subtypes than this are not followed.
const MAX_SUBTYPES: usize = 300;

/// A type and every type that inherits its members.
#[derive(Default)]
pub(super) struct Subtypes {
    owner: Option<Symbol>,
    pub(super) types: BTreeSet<Symbol>,
    pub(super) names: BTreeSet<Box<str>>,
    /// A type may be written in several parts, which have the same full name.
    pub(super) full_names: BTreeSet<Rc<str>>,
    mentioning: OnceCell<Vec<FileId>>,
    receiving: OnceCell<Vec<FileId>>,
}

impl Query<'_> {
    /// Returns a type and the types that extend it. Those that have their own `constructor` of this name are left out.
    pub(super) fn subtypes(&self, owner: Symbol, constructor: Option<&str>) -> Rc<Subtypes> {
        // In other languages, the targets of the query decide which types are found.
        if constructor.is_some() || !self.finds_packages_by_path() {
            return Rc::new(self.find_subtypes(owner, constructor));
        }
        self.once(
            |results| results.subtypes.borrow().get(&owner).cloned(),
            || Rc::new(self.find_subtypes(owner, None)),
            |results, found| drop(results.subtypes.borrow_mut().insert(owner, found)),
        )
    }

    fn find_subtypes(&self, owner: Symbol, constructor: Option<&str>) -> Subtypes {
        let mut found = Subtypes { owner: Some(owner), ..Subtypes::default() };
        let mut open = vec![owner];
        while let Some(class) = open.pop() {
            if !found.types.insert(class) {
                continue;
            }
            if found.types.len() > MAX_SUBTYPES {
                Limit::Subtypes.reach();
                continue;
            }
            let Some(definition) = self.definition(class) else { continue };
            let has_own = |name| class != owner && !self.own_members(class, name).is_empty();
            if constructor.is_some_and(has_own) {
                found.types.remove(&class);
                continue;
            }
            self.ask_about(class.file);
            found.names.insert(definition.name.clone());
            found.full_names.extend(self.full(class));
            for file in self.declaring(&definition.name, Declaration::Subtype).iter().copied() {
                let Some(view) = self.view(file) else { continue };
                for (at, heir) in
                    view.facts.definitions.iter().enumerate().filter(|(_, candidate)| is_type(candidate))
                {
                    let symbol = Symbol { file, at };
                    let may_extend =
                        heir.extends.iter().any(|name| self.may_be(&view, name, &definition.name));
                    if may_extend && self.extends(symbol, class) {
                        open.push(symbol);
                    }
                }
            }
        }
        found
    }

    fn extends(&self, heir: Symbol, class: Symbol) -> bool {
        let full = self.full(class);
        self.parents(heir).into_iter().any(|parent| parent == class || self.full(parent) == full)
    }

    /// Returns false if a path of a file certainly means no type of this name.
    fn may_be(&self, view: &View, path: &str, name: &str) -> bool {
        let last = path.rsplit('.').next().unwrap_or(path);
        last == name || self.bindings(view).names.iter().any(|bound| &*bound.local == last)
    }

    /// Returns the names by which a file may get a value of a type without naming it: functions and fields of that type.
    fn givers(&self, owner: &Definition) -> Vec<Box<str>> {
        let gives = |definition: &&Definition| match &definition.gives {
            Some(Shape::Of(path)) => path.rsplit('.').next() == Some(&*owner.name),
            _ => false,
        };
        let files = Limit::first(self.containing(&owner.name), MAX_FILES).into_iter();
        let views = files.filter_map(|file| self.view(file));
        let names = |view: Rc<View>| {
            let giving = view.facts.definitions.iter().filter(gives);
            giving.map(|definition| definition.name.clone()).collect::<Vec<_>>()
        };
        views.flat_map(names).collect()
    }
}

impl Subtypes {
    /// The files that name one of the types, sorted.
    pub(super) fn mentioning(&self, query: &Query<'_>) -> &[FileId] {
        self.mentioning.get_or_init(|| {
            sorted(self.names.iter().flat_map(|name| query.candidates(name).to_vec()).collect())
        })
    }

    /// The files that may get a value of the type without naming it, sorted.
    pub(super) fn receiving(&self, query: &Query<'_>) -> &[FileId] {
        self.receiving.get_or_init(|| {
            let owner = self.owner.and_then(|owner| query.definition(owner));
            let givers = owner.map(|owner| query.givers(&owner)).unwrap_or_default();
            sorted(givers.iter().flat_map(|name| query.containing(name)).collect())
        })
    }
}

fn sorted(mut files: Vec<FileId>) -> Vec<FileId> {
    files.sort_unstable();
    files.dedup();
    files
}
