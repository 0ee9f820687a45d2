//! What a value is: its type as it is written somewhere, followed through declarations, fields and results.

use super::names::{Query, Symbol};
use super::{full_name, is_type};
use crate::facts::{Definition, DefinitionKind, Shape};
use crate::resolve::path_of;
use crate::world::FileId;

/// How far a chain of values is followed.
const MAX_STEPS: usize = 24;

/// How C++ writes what something points to, and the member that decides it.
const POINTED: &str = "->";
const POINTS: &str = "operator->";

/// What a value is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Value {
    /// Of a type of the project, with what its type holds.
    Of(Symbol, Vec<Value>),
    /// Of a type that is not the project's, with what that holds.
    Outside(Vec<Value>),
    /// A type or package itself, by its path; or a name that may be one.
    Path(Box<str>),
    /// It was not found out.
    Unknown,
}

/// Where a shape stands.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place<'a> {
    pub(crate) file: FileId,
    /// The definition's container: the type or namespace around it.
    pub(crate) container: Option<&'a str>,
}

impl Query<'_> {
    /// What a shape is worth.
    pub(crate) fn value(&self, place: Place<'_>, shape: &Shape) -> Value {
        if self.steps.get() >= MAX_STEPS {
            return Value::Unknown;
        }
        self.steps.set(self.steps.get() + 1);
        let value = self.evaluate(place, shape);
        self.steps.set(self.steps.get() - 1);
        value
    }

    fn evaluate(&self, place: Place<'_>, shape: &Shape) -> Value {
        match shape {
            Shape::Of(name) => self.written(place, name, Vec::new()),
            Shape::Applied(head, held) => {
                let held: Vec<Value> = held.iter().map(|held| self.value(place, held)).collect();
                match self.value(place, head) {
                    Value::Of(symbol, _) => Value::Of(symbol, held),
                    Value::Outside(_) => Value::Outside(held),
                    other => other,
                }
            }
            Shape::Name(path) => self.named(place, path),
            Shape::Itself => {
                self.itself(place).map_or(Value::Unknown, |symbol| Value::Of(symbol, Vec::new()))
            }
            Shape::Parent => {
                let parents = self.itself(place).map(|symbol| self.parents(symbol)).unwrap_or_default();
                parents.first().map_or(Value::Unknown, |symbol| Value::Of(*symbol, Vec::new()))
            }
            Shape::Member(of, name) => self.member(self.value(place, of), place, name),
            Shape::Call(callee) => self.called(place, callee),
            Shape::Element(of) => match self.value(place, of) {
                // A pointer may be a list of what it points to.
                Value::Of(symbol, held) if held.is_empty() && self.packages.includes() => {
                    Value::Of(symbol, held)
                }
                Value::Of(_, held) | Value::Outside(held) => {
                    held.into_iter().next_back().unwrap_or(Value::Unknown)
                }
                _ => Value::Unknown,
            },
            Shape::Awaited(of) => self.value(place, of),
            _ => Value::Unknown,
        }
    }

    /// A value of the type that is written so.
    fn written(&self, place: Place<'_>, name: &str, held: Vec<Value>) -> Value {
        let Some(symbol) = self.type_of(place.file, place.container, name) else {
            let simple = name.rsplit('.').next().unwrap_or(name);
            let open = is_parameter(name) || self.may_be_ours(place.file, name) && self.is_widespread(simple);
            return if open { Value::Unknown } else { Value::Outside(held) };
        };
        // An alias is what it stands for.
        match self.definition(symbol).and_then(|definition| definition.gives.clone().zip(Some(definition))) {
            Some((gives, definition)) => {
                let container = definition.container.as_deref();
                self.value(Place { file: symbol.file, container }, &gives)
            }
            None => Value::Of(symbol, held),
        }
    }

    /// Whether a type that was not found may be one of the project: no language has it built in, and no import says where it is from.
    fn may_be_ours(&self, file: FileId, name: &str) -> bool {
        let first = name.split('.').next().unwrap_or(name);
        let bound = |view: &super::names::View| view.bindings.names.iter().any(|it| &*it.local == first);
        !self.packages.built_in().contains(&name) && !self.view(file).is_some_and(|view| bound(&view))
    }

    /// The member that a path of a type and a name means.
    fn static_member(&self, place: Place<'_>, path: &str) -> Option<Symbol> {
        let (before, name) = path.rsplit_once('.')?;
        let class = self.type_of(place.file, place.container, before)?;
        self.members(class, name).first().copied()
    }

    /// What a name is worth that is no local variable.
    fn named(&self, place: Place<'_>, path: &str) -> Value {
        if self.type_of(place.file, place.container, path).is_some() {
            return Value::Path(path.into());
        }
        if path.contains('.') {
            let member = self.static_member(place, path);
            return member.map_or(Value::Path(path.into()), |member| self.given(member));
        }
        let field = self.itself(place).map(|symbol| self.members(symbol, path)).unwrap_or_default();
        let found = field.first().copied();
        let found = found.or_else(|| self.top(place, path)).or_else(|| self.opened_member(place, path));
        match found {
            Some(symbol) => self.given(symbol),
            None => Value::Path(path.into()),
        }
    }

    /// The function, variable or constant outside types that a name means.
    fn top(&self, place: Place<'_>, path: &str) -> Option<Symbol> {
        let view = self.view(place.file)?;
        let bound = view.bindings.names.iter().find(|bound| &*bound.local == path);
        let name = bound.map_or(path, |bound| bound.full.as_str());
        let name = name.rsplit('.').next().unwrap_or(name);
        let files = self.world.containing(name);
        if files.len() > 200 {
            return None;
        }
        for file in files {
            let Some(other) = self.view(file) else { continue };
            let top = |it: &Definition| matches!(it.kind, DefinitionKind::Function | DefinitionKind::Value);
            let named = |it: &Definition| top(it) && &*it.name == name;
            for (at, definition) in other.facts.definitions.iter().enumerate().filter(|(_, it)| named(it)) {
                let full = full_name(&other.package, definition);
                if self.means(&view, place.container, path, &full) && self.sees(place.file, file) {
                    return Some(Symbol { file, at });
                }
            }
        }
        None
    }

    /// The member that a name means of a type that the file opens: `using static`, `import static T.*`.
    fn opened_member(&self, place: Place<'_>, name: &str) -> Option<Symbol> {
        let view = self.view(place.file)?;
        view.bindings.globs.iter().find_map(|glob| {
            let types = self.types_named(glob.rsplit('.').next().unwrap_or(glob));
            let class = types.iter().find(|symbol| self.full(**symbol).as_deref() == Some(glob))?;
            self.own_members(*class, name).first().copied()
        })
    }

    /// What a definition gives.
    fn given(&self, symbol: Symbol) -> Value {
        let Some(definition) = self.definition(symbol) else { return Value::Unknown };
        let place = Place { file: symbol.file, container: definition.container.as_deref() };
        definition.gives.as_ref().map_or(Value::Unknown, |gives| self.value(place, gives))
    }

    fn member(&self, of: Value, place: Place<'_>, name: &str) -> Value {
        if name == POINTED {
            return self.pointed(of);
        }
        match of {
            Value::Of(symbol, _) => match self.members(symbol, name).first() {
                Some(member) => self.given(*member),
                None => Value::Unknown,
            },
            Value::Path(path) => {
                let longer = format!("{path}.{name}");
                if let Some(symbol) = self.type_of(place.file, place.container, &path)
                    && let Some(member) = self.members(symbol, name).first()
                {
                    return match self.definition(*member).filter(is_type).is_some() {
                        true => Value::Path(longer.into()),
                        false => self.given(*member),
                    };
                }
                self.top(place, &longer).map_or(Value::Path(longer.into()), |symbol| self.given(symbol))
            }
            // What a collection gives out is what it holds.
            Value::Outside(held) if !held.is_empty() => Value::Outside(held),
            _ => Value::Unknown,
        }
    }

    /// What `->` gives: of an object that stands for a pointer what it holds, of a plain pointer itself.
    fn pointed(&self, of: Value) -> Value {
        match of {
            Value::Of(symbol, held) => match self.members(symbol, POINTS).is_empty() {
                true => Value::Of(symbol, held),
                false => held.into_iter().next().unwrap_or(Value::Unknown),
            },
            Value::Outside(held) => held.into_iter().next().unwrap_or(Value::Outside(Vec::new())),
            other => other,
        }
    }

    fn called(&self, place: Place<'_>, callee: &Shape) -> Value {
        match callee {
            Shape::Name(path) => {
                if let Some(symbol) = self.type_of(place.file, place.container, path) {
                    return Value::Of(symbol, Vec::new());
                }
                let own = self.itself(place).map(|symbol| self.members(symbol, path)).unwrap_or_default();
                let found = own.first().copied();
                let found =
                    found.or_else(|| self.static_member(place, path)).or_else(|| self.top(place, path));
                let found = found.or_else(|| self.opened_member(place, path));
                found.map_or(Value::Unknown, |symbol| self.given(symbol))
            }
            Shape::Member(of, name) => match self.value(place, of) {
                Value::Path(path) => {
                    let longer = format!("{path}.{name}");
                    let class = self.type_of(place.file, place.container, &path);
                    // `T.new`, `T.shared` and the like give a value of the type.
                    if matches!(&**name, "new" | "init")
                        && let Some(symbol) = class
                    {
                        return Value::Of(symbol, Vec::new());
                    }
                    if let Some(symbol) = self.type_of(place.file, place.container, &longer) {
                        return Value::Of(symbol, Vec::new());
                    }
                    self.member(Value::Path(path), place, name)
                }
                Value::Outside(_) => Value::Unknown,
                of => self.member(of, place, name),
            },
            _ => Value::Unknown,
        }
    }

    /// The type around a place.
    pub(crate) fn itself(&self, place: Place<'_>) -> Option<Symbol> {
        let mut container = place.container?;
        loop {
            if let Some(symbol) = self.type_of(place.file, Some(container), container) {
                return Some(symbol);
            }
            container = container.rsplit_once('.')?.0;
        }
    }

    /// What a type extends, as far as it is the project's. All parts of the type count.
    pub(crate) fn parents(&self, class: Symbol) -> Vec<Symbol> {
        let (Some(definition), Some(full)) = (self.definition(class), self.full(class)) else {
            return Vec::new();
        };
        let types = self.types_named(&definition.name);
        let parts =
            types.iter().copied().filter(|part| *part != class && self.full(*part).as_ref() == Some(&full));
        let mut parents = Vec::new();
        for part in std::iter::once(class).chain(parts) {
            let Some(definition) = self.definition(part) else { continue };
            let container = definition.container.as_deref();
            // What is mixed in inside the type may stand in it.
            let inside = path_of(&definition);
            let find = |name: &str| {
                let around = self.type_of(part.file, container, name);
                around.or_else(|| self.type_of(part.file, Some(&inside), name))
            };
            parents.extend(
                definition.extends.iter().filter_map(|name| find(name)).filter(|parent| *parent != class),
            );
        }
        parents
    }

    /// Everything that a type extends, itself first.
    pub(crate) fn ancestors(&self, class: Symbol) -> Vec<Symbol> {
        let mut found = vec![class];
        let mut at = 0;
        while let Some(class) = found.get(at).copied().filter(|_| at < 40) {
            let parents = self.parents(class).into_iter().filter(|parent| !found.contains(parent));
            let parents: Vec<Symbol> = parents.collect();
            found.extend(parents);
            at += 1;
        }
        found
    }

    /// The members of a type with a name: its own, else those of what it extends. All parts of the type count, wherever
    /// they are written.
    pub(crate) fn members(&self, class: Symbol, name: &str) -> Vec<Symbol> {
        let own = |class: Symbol| Some(self.own_members(class, name)).filter(|own| !own.is_empty());
        self.ancestors(class).into_iter().find_map(own).unwrap_or_default()
    }

    pub(super) fn own_members(&self, class: Symbol, name: &str) -> Vec<Symbol> {
        let (Some(full), Some(view)) = (self.full(class), self.view(class.file)) else { return Vec::new() };
        let look = |file: FileId, package: &str, definitions: &[Definition]| -> Vec<Symbol> {
            let held = |it: &Definition| {
                let whole = full_name(package, it);
                whole.strip_suffix(name).and_then(|holder| holder.strip_suffix('.')) == Some(&full)
            };
            let wanted = |it: &Definition| &*it.name == name && it.container.is_some() && held(it);
            let all = definitions.iter().enumerate();
            all.filter(|(_, it)| wanted(it)).map(|(at, _)| Symbol { file, at }).collect()
        };
        let own = look(class.file, &view.package, &view.facts.definitions);
        if !own.is_empty() {
            return own;
        }
        let others = self.world.containing(name).into_iter().take(200).filter(|file| *file != class.file);
        let view_of = |file| self.view(file).map(|view| (file, view));
        others
            .filter_map(view_of)
            .flat_map(|(file, view)| look(file, &view.package, &view.facts.definitions))
            .collect()
    }
}

/// Whether a name is the kind that type parameters have.
fn is_parameter(name: &str) -> bool {
    let mut letters = name.chars();
    let first = letters.next().is_some_and(char::is_uppercase);
    first
        && letters
            .next()
            .is_none_or(|second| name.starts_with('T') && second.is_uppercase() || second.is_ascii_digit())
}
