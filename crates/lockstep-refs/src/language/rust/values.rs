//! Types of values, from declarations and results of the project.

use super::modules::{Module, Project};
use super::names::Entity;
use super::standard;
use crate::facts::{Definition, DefinitionKind, Shape};
use crate::limits::Limit;
use crate::world::FileId;

/// The known type of a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Ty {
    Unknown,
    /// A type, trait or variant of the project, with its arguments.
    Own(FileId, u32, Vec<Ty>),
    /// A type outside the project, by its last name; `_` if even that is unknown.
    Outside(Box<str>, Vec<Ty>),
    Tuple(Vec<Ty>),
    Slice(Box<Ty>),
    /// Any type with these traits.
    Bounds(Vec<Ty>),
    /// Something that can be called, with its result.
    Function(Box<Ty>),
}

/// The maximum number of steps along chains and aliases.
const MOST_STEPS: usize = 32;

/// The context of a written type: its module, the arguments for `$0`, the type of `Self`.
#[derive(Clone, Copy)]
struct Place<'a> {
    module: &'a Module,
    arguments: &'a [Ty],
    itself: Option<&'a Ty>,
    steps: usize,
}

impl Project<'_> {
    /// The type of an expression in a module.
    pub(super) fn type_of(&self, module: &Module, shape: &Shape) -> Ty {
        self.shape(module, shape, 0)
    }

    /// Returns true if a chain is followed no further. Then the results on it are not complete.
    fn is_cut(&self, steps: usize) -> bool {
        let is_cut = steps > MOST_STEPS;
        if is_cut {
            Limit::Steps.reach();
            self.memory.progress.cut();
        }
        is_cut
    }

    fn shape(&self, module: &Module, shape: &Shape, steps: usize) -> Ty {
        if self.is_cut(steps) {
            return Ty::Unknown;
        }
        match shape {
            Shape::Name(path) => self.path_type(module, path, steps),
            Shape::Of(text) => self.written_type(module, text, steps),
            Shape::Call(inner) => match self.callee(module, inner, steps) {
                Ty::Function(result) => *result,
                // A tuple struct or variant that is built.
                own @ Ty::Own(..) => own,
                _ => Ty::Unknown,
            },
            Shape::Member(inner, name) => {
                let of = self.shape(module, inner, steps + 1);
                self.member_type(module, &of, name, false, steps)
            }
            Shape::Applied(operator, both) => self.operated(module, operator, both, steps),
            _ => Ty::Unknown,
        }
    }

    /// Returns the result of an operator, from the implementation of a type of the project for any operand.
    fn operated(&self, module: &Module, operator: &Shape, both: &[Shape], steps: usize) -> Ty {
        let (Shape::Name(operator), [left, right]) = (operator, both) else {
            return self.shape(module, operator, steps + 1);
        };
        let left = self.value(&self.shape(module, left, steps + 1));
        let (of, method) = match left {
            Ty::Own(..) => (left, standard::operator_method(operator)),
            // `2.0 * point` mostly has the type of `point * 2.0`.
            Ty::Outside(..) => match self.value(&self.shape(module, right, steps + 1)) {
                right @ Ty::Own(..) => (right, None),
                _ => (left, None),
            },
            _ => return left,
        };
        let Some(method) = method else { return of };
        let mut results = self.results(&of, method, steps);
        results.dedup();
        match results.len() {
            0 => of,
            1 => results.remove(0),
            _ => Ty::Bounds(results),
        }
    }

    /// Returns the results of methods that a type implements for several traits.
    fn results(&self, of: &Ty, method: &str, steps: usize) -> Vec<Ty> {
        let Ty::Own(file, index, _) = of else { return Vec::new() };
        let each = |name: &str| -> Vec<Ty> {
            let members = self.members(*file, *index, name);
            members.all().map(|(file, index)| self.item_type(file, index, Some(of), steps + 1)).collect()
        };
        let mut results = each(method);
        // Its name does not show which `Output` is meant.
        if results.len() > 1 {
            results.extend(each("Output"));
        }
        let result = |ty: Ty| if let Ty::Function(result) = ty { *result } else { ty };
        results.into_iter().map(result).map(|ty| self.value(&ty)).filter(|ty| *ty != Ty::Unknown).collect()
    }

    /// Returns the callee: of a field and a method with one name, the method.
    fn callee(&self, module: &Module, shape: &Shape, steps: usize) -> Ty {
        if let Shape::Applied(function, arguments) = shape
            && let [argument] = arguments.as_slice()
        {
            return self.callee_of(module, function, argument, steps);
        }
        let Shape::Member(inner, name) = shape else { return self.shape(module, shape, steps + 1) };
        let of = self.shape(module, inner, steps + 1);
        self.member_type(module, &of, name, true, steps)
    }

    /// Returns a function that is called with a type argument. If it does not declare a type of the project,
    /// its result is mostly that type, or a result of it.
    fn callee_of(&self, module: &Module, function: &Shape, argument: &Shape, steps: usize) -> Ty {
        let callee = self.shape(module, function, steps + 1);
        let given = match &callee {
            Ty::Function(result) => self.value(result),
            Ty::Own(..) => return callee,
            _ => Ty::Unknown,
        };
        let argument = self.value(&self.shape(module, argument, steps + 1));
        match (given, argument) {
            (Ty::Unknown | Ty::Outside(..), argument @ Ty::Own(..)) => Ty::Function(Box::new(argument)),
            _ => callee,
        }
    }

    fn written_type(&self, module: &Module, text: &str, steps: usize) -> Ty {
        let key = (module.clone(), Box::from(text));
        if let Some(known) = self.memory.types.borrow().get(&key) {
            return known.clone();
        }
        let computation = self.memory.progress.begin();
        let ty = self.parse(text, Place { module, arguments: &[], itself: None, steps });
        let is_complete = self.memory.progress.end(&computation);
        // From the first step on, a limit cuts the same type short in the same way.
        if is_complete || computation.position == 0 && steps == 0 {
            self.memory.types.borrow_mut().insert(key, ty.clone());
        }
        ty
    }

    /// Returns the type of a path as a value.
    fn path_type(&self, module: &Module, path: &str, steps: usize) -> Ty {
        let found = self.resolve(module, path);
        let items = found.iter().filter_map(|found| match &found.entity {
            Entity::Item(file, index) => Some((*file, *index)),
            _ => None,
        });
        for (file, index) in items {
            let ty = self.item_type(file, index, None, steps);
            if ty != Ty::Unknown {
                return ty;
            }
        }
        let outside = found.iter().any(|found| found.entity == Entity::Outside);
        match outside || found.is_empty() {
            true => self.derived(module, path).unwrap_or_else(|| standard::external_type(path, outside)),
            false => Ty::Unknown,
        }
    }

    /// Returns the type of a definition as a value, accessed through a value of type `of` if it is a member.
    fn item_type(&self, file: FileId, index: u32, of: Option<&Ty>, steps: usize) -> Ty {
        let Some(sheet) = self.sheet(file) else { return Ty::Unknown };
        let Some(definition) = sheet.facts.definitions.get(index as usize) else { return Ty::Unknown };
        match definition.kind {
            DefinitionKind::Type | DefinitionKind::Interface if definition.gives.is_none() => {
                Ty::Own(file, index, Vec::new())
            }
            DefinitionKind::Variant => Ty::Own(file, index, Vec::new()),
            DefinitionKind::Function | DefinitionKind::Method => {
                Ty::Function(Box::new(self.declared_type(file, definition, of, steps)))
            }
            DefinitionKind::Value | DefinitionKind::Field | DefinitionKind::Type => {
                self.declared_type(file, definition, of, steps)
            }
            _ => Ty::Unknown,
        }
    }

    /// Returns the declared type of a definition.
    fn declared_type(&self, file: FileId, definition: &Definition, of: Option<&Ty>, steps: usize) -> Ty {
        let text = match &definition.gives {
            Some(Shape::Of(text)) => text,
            Some(_) => return Ty::Unknown,
            None => return Ty::Outside("()".into(), Vec::new()),
        };
        let module = self.module_of(file, definition);
        let owner = self.owner(file, definition).map(|(file, index)| Ty::Own(file, index, Vec::new()));
        let arguments = match of {
            Some(Ty::Own(_, _, arguments)) => arguments.as_slice(),
            _ => &[],
        };
        // For a type outside the project, only our trait's declaration is known.
        let itself = match of {
            Some(Ty::Outside(..) | Ty::Slice(_)) => owner.as_ref().or(of),
            of => of.or(owner.as_ref()),
        };
        self.parse(text, Place { module: &module, arguments, itself, steps: steps + 1 })
    }

    /// Returns the type of a member of a value; special members represent operators.
    fn member_type(&self, module: &Module, of: &Ty, name: &str, called: bool, steps: usize) -> Ty {
        let of = self.value(of);
        if let Some((method, argument)) = name.split_once("::<") {
            return self.applied_member(module, &of, method, argument, steps);
        }
        if let Some(method) = name.strip_prefix('|').and_then(|name| name.strip_suffix('|')) {
            return match &of {
                Ty::Own(..) => self.iterated(&of, steps),
                _ => closure_argument(&of, method),
            };
        }
        match (&of, name) {
            (Ty::Unknown, _) => Ty::Unknown,
            (_, "await" | "*") => of,
            (Ty::Own(..) | Ty::Bounds(_), "?" | "for" | "[]" | "Err") => match name {
                "?" => of,
                "for" => self.iterated(&of, steps),
                _ => Ty::Unknown,
            },
            (_, "?" | "for" | "[]") => match (&of, name) {
                (Ty::Outside(map, arguments), "[]") if &**map == "HashMap" || &**map == "BTreeMap" => {
                    arguments.get(1).cloned().unwrap_or(Ty::Unknown)
                }
                _ => standard::element(&of),
            },
            (Ty::Outside(_, arguments), "Err") => arguments.get(1).cloned().unwrap_or(Ty::Unknown),
            (Ty::Tuple(parts), name) if name.parse::<usize>().is_ok() => {
                name.parse::<usize>().ok().and_then(|at| parts.get(at).cloned()).unwrap_or(Ty::Unknown)
            }
            (Ty::Own(..), _) => self.own_member_type(&of, name, called, steps),
            (Ty::Bounds(bounds), _) => bounds
                .iter()
                .map(|bound| self.member_type(module, bound, name, called, steps + 1))
                .find(|ty| *ty != Ty::Unknown)
                .unwrap_or(Ty::Unknown),
            (Ty::Slice(inner), _) => self.foreign_member_type(&of, "Vec", &[(**inner).clone()], name, steps),
            (Ty::Outside(kind, arguments), _) => self.foreign_member_type(&of, kind, arguments, name, steps),
            _ => Ty::Unknown,
        }
    }

    /// Returns the result of an outside type's method: the standard one, unless a trait of ours adds it.
    fn foreign_member_type(&self, of: &Ty, kind: &str, arguments: &[Ty], name: &str, steps: usize) -> Ty {
        if self.is_cut(steps) {
            return Ty::Unknown;
        }
        let known = standard::method(kind, arguments, name);
        if standard::is_common_method(name) || !known.as_ref().is_none_or(standard::is_nameless) {
            return function(known);
        }
        match *self.provided(name) {
            [] => function(known),
            [(file, index)] => self.item_type(file, index, Some(of), steps + 1),
            _ => Ty::Unknown,
        }
    }

    /// Returns the result of a method with a type argument: the declared one, or that of the argument.
    fn applied_member(&self, module: &Module, of: &Ty, name: &str, argument: &str, steps: usize) -> Ty {
        if let Ty::Own(file, index, _) = of
            && self.members(*file, *index, name).all().next().is_some()
        {
            return self.own_member_type(of, name, true, steps);
        }
        match standard::turbofish(name, argument) {
            Some(result) => Ty::Function(Box::new(self.written_type(module, &result, steps))),
            None => self.member_type(module, of, name, true, steps),
        }
    }

    /// Returns the element type of a loop over a value of ours: the `Item` of its iterator.
    fn iterated(&self, of: &Ty, steps: usize) -> Ty {
        let Ty::Own(file, index, _) = of else { return Ty::Unknown };
        let members = self.members(*file, *index, "Item");
        let item = members.all().next();
        item.map_or(Ty::Unknown, |(file, index)| self.item_type(file, index, Some(of), steps + 1))
    }

    fn own_member_type(&self, of: &Ty, name: &str, called: bool, steps: usize) -> Ty {
        if self.is_cut(steps) {
            return Ty::Unknown;
        }
        let Ty::Own(file, index, _) = of else { return Ty::Unknown };
        let members = self.members(*file, *index, name);
        let fits = |(file, index): &(FileId, u32)| {
            (self.kind(*file, *index) == Some(DefinitionKind::Method)) == called
        };
        if let Some((file, index)) = members.all().find(fits).or_else(|| members.all().next()) {
            return self.item_type(file, index, Some(of), steps + 1);
        }
        if let Some(target) = self.dereferenced(of, steps) {
            return self.member_type(&Module::of_file(*file), &target, name, called, steps + 1);
        }
        match name {
            // Methods of wrapped values, and pin-project's projection, which has the same fields.
            "unwrap" | "expect" | "clone" | "as_ref" | "as_mut" | "borrow" | "borrow_mut"
            | "unwrap_or_default" | "to_owned" | "unwrap_or_else" | "unwrap_or" | "lock" | "by_ref"
            | "into_iter" | "ok_or" | "ok_or_else" | "map_err" | "get_mut" | "get_ref" | "default"
            | "project" | "project_ref" => Ty::Function(Box::new(of.clone())),
            _ => match self.iterated(of, steps) {
                Ty::Unknown => match *self.provided(name) {
                    [(file, index)] => self.item_type(file, index, Some(of), steps + 1),
                    _ => Ty::Unknown,
                },
                // Methods that the standard library provides for every iterator.
                item => function(standard::method("Iterator", &[item], name)),
            },
        }
    }

    /// Returns the deref target of a type of ours.
    pub(super) fn dereferenced(&self, of: &Ty, steps: usize) -> Option<Ty> {
        if self.is_cut(steps) {
            return None;
        }
        let Ty::Own(file, index, _) = of else { return None };
        let members = self.members(*file, *index, "Target");
        let (file, index) = members.all().next()?;
        let target = self.value(&self.item_type(file, index, Some(of), steps + 1));
        (target != Ty::Unknown && target != *of).then_some(target)
    }

    /// Returns a type without the wrappers that methods see through.
    pub(super) fn value(&self, ty: &Ty) -> Ty {
        let mut ty = ty.clone();
        for _ in 0..8 {
            ty = match ty {
                Ty::Outside(name, arguments) if standard::is_transparent(&name) => {
                    arguments.into_iter().next().unwrap_or(Ty::Unknown)
                }
                other => return other,
            };
        }
        ty
    }

    fn parse(&self, text: &str, place: Place<'_>) -> Ty {
        if self.is_cut(place.steps) {
            return Ty::Unknown;
        }
        let mut rest = text;
        self.parse_bounds(&mut rest, place)
    }

    fn parse_bounds(&self, rest: &mut &str, place: Place<'_>) -> Ty {
        let mut parts = vec![self.parse_one(rest, place)];
        while let Some(after) = rest.strip_prefix('+') {
            *rest = after;
            parts.push(self.parse_one(rest, place));
        }
        if parts.len() > 1 {
            return Ty::Bounds(parts);
        }
        parts.pop().unwrap_or(Ty::Unknown)
    }

    fn parse_list(&self, rest: &mut &str, end: char, place: Place<'_>) -> Vec<Ty> {
        let mut list = Vec::new();
        loop {
            if let Some(after) = rest.strip_prefix(end) {
                *rest = after;
                return list;
            }
            if let Some(after) = rest.strip_prefix(',') {
                *rest = after;
                continue;
            }
            let before = rest.len();
            list.push(self.parse_bounds(rest, place));
            if rest.len() == before {
                // Not a plain form.
                *rest = "";
                return list;
            }
        }
    }

    fn parse_one(&self, rest: &mut &str, place: Place<'_>) -> Ty {
        if let Some(after) = rest.strip_prefix('(') {
            *rest = after;
            let parts = self.parse_list(rest, ')', place);
            return if parts.is_empty() { Ty::Outside("()".into(), Vec::new()) } else { Ty::Tuple(parts) };
        }
        if let Some(after) = rest.strip_prefix('[') {
            *rest = after;
            let inner = self.parse_list(rest, ']', place).pop().unwrap_or(Ty::Unknown);
            return Ty::Slice(Box::new(inner));
        }
        let end = rest.find(['<', '>', ',', '+', '(', ')', '[', ']']).unwrap_or(rest.len());
        let (path, after) = rest.split_at(end);
        *rest = after;
        let arguments = match rest.strip_prefix('<') {
            Some(after) => {
                *rest = after;
                self.parse_list(rest, '>', place)
            }
            None => Vec::new(),
        };
        match path {
            "_" | "" => Ty::Unknown,
            "fn" => Ty::Function(Box::new(arguments.into_iter().next().unwrap_or(Ty::Unknown))),
            "Self" => place.itself.cloned().unwrap_or(Ty::Unknown),
            _ => match path.strip_prefix('$') {
                Some(position) => self.argument(position, place),
                None => self.parse_path(path, arguments, place),
            },
        }
    }

    /// Returns the type argument at a position, or its default.
    fn argument(&self, position: &str, place: Place<'_>) -> Ty {
        let (position, default) =
            position.split_once('?').map_or((position, None), |(at, or)| (at, Some(or)));
        let given = position.parse::<usize>().ok().and_then(|at| place.arguments.get(at));
        match (given, default) {
            (Some(given), _) => given.clone(),
            (None, Some(default)) => self.parse_path(default, Vec::new(), place),
            (None, None) => Ty::Unknown,
        }
    }

    fn parse_path(&self, path: &str, arguments: Vec<Ty>, place: Place<'_>) -> Ty {
        let last = path.rsplit("::").next().unwrap_or(path);
        if let Some(member) = path.strip_prefix("Self::") {
            let of = place.itself.cloned().unwrap_or(Ty::Unknown);
            return self.member_type(place.module, &of, member, false, place.steps + 1);
        }
        let found = self.resolve(place.module, path);
        for found in found.iter() {
            let Entity::Item(file, index) = found.entity else { continue };
            let Some(sheet) = self.sheet(file) else { continue };
            let definition = &sheet.facts.definitions[index as usize];
            match (definition.kind, &definition.gives) {
                (DefinitionKind::Type, Some(Shape::Of(text))) => {
                    let module = self.module_of(file, definition);
                    let place = Place {
                        module: &module,
                        arguments: &arguments,
                        itself: None,
                        steps: place.steps + 1,
                    };
                    return self.parse(text, place);
                }
                (DefinitionKind::Type | DefinitionKind::Interface, _) => {
                    return Ty::Own(file, index, arguments);
                }
                _ => {}
            }
        }
        let outside = found.iter().any(|found| found.entity == Entity::Outside);
        if outside || (found.is_empty() && standard::is_prelude(path)) {
            return Ty::Outside(last.into(), arguments);
        }
        Ty::Unknown
    }
}

fn function(result: Option<Ty>) -> Ty {
    result.map_or(Ty::Unknown, |result| Ty::Function(Box::new(result)))
}

/// Returns the parameter type of a closure that is passed to a method of a value.
fn closure_argument(of: &Ty, method: &str) -> Ty {
    match (of, method) {
        (Ty::Outside(name, arguments), "map_err" | "unwrap_or_else" | "or_else")
            if name.ends_with("Result") =>
        {
            arguments.get(1).cloned().unwrap_or(Ty::Unknown)
        }
        (Ty::Outside(..) | Ty::Slice(_), _) => standard::element(of),
        _ => Ty::Unknown,
    }
}
