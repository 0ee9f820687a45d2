//! Type annotations: the names they use, and the shapes of their values.

use tree_sitter::Node;

use super::Walk;
use crate::facts::{ImportForm, OBJECT, PREDICATE, Role, Shape};
use crate::scope::{either, member, union};
use crate::syntax::children;

impl<'t> Walk<'t> {
    /// Walks a type. Returns the shape of its values.
    pub(super) fn annotation(&mut self, node: Node<'t>) -> Shape {
        if !self.found.descend() {
            return Shape::Unknown;
        }
        let shape = self.type_shape(node);
        self.found.ascend();
        shape
    }

    fn type_shape(&mut self, node: Node<'t>) -> Shape {
        match node.kind() {
            "type_annotation"
            | "parenthesized_type"
            | "readonly_type"
            | "optional_type"
            | "rest_type"
            | "asserts_annotation"
            | "type_predicate_annotation" => {
                node.named_child(0).map_or(Shape::Unknown, |child| self.annotation(child))
            }
            "type_predicate" | "asserts" => {
                let mut shape = Shape::Unknown;
                for part in children(node) {
                    if part.kind() != "identifier" && part.kind() != "this" {
                        shape = self.annotation(part);
                    }
                }
                match node.kind() == "type_predicate" && self.is_about_first(node) {
                    true => Shape::Applied(Box::new(Shape::Of(PREDICATE.into())), vec![shape]),
                    false => Shape::Of("boolean".into()),
                }
            }
            "predefined_type" => match self.found.text(node) {
                "any" | "unknown" => Shape::Untyped,
                name => Shape::Of(name.into()),
            },
            "type_identifier" | "identifier" => self.type_name(node),
            "nested_type_identifier" => self.nested(node),
            "member_expression" | "call_expression" => match self.taken_type(node, Role::Type) {
                Some(path) => Shape::Of(path.into()),
                None => Shape::Unknown,
            },
            "this_type" | "this" => Shape::Itself,
            "generic_type" => {
                let head = node.child_by_field_name("name").or_else(|| node.named_child(0));
                let head = head.map_or(Shape::Unknown, |head| self.annotation(head));
                let list = children(node).into_iter().find(|child| child.kind() == "type_arguments");
                let arguments = list.map(children).unwrap_or_default();
                let keys = arguments.get(1).copied().filter(|_| head == Shape::Of("Pick".into()));
                let arguments: Vec<_> =
                    arguments.into_iter().map(|argument| self.annotation(argument)).collect();
                if let (Some(keys), Some(of)) = (keys, arguments.first()) {
                    self.picked(keys, of);
                }
                generic(head, arguments)
            }
            "union_type" | "intersection_type" => {
                let parts: Vec<_> = children(node).into_iter().map(|child| self.annotation(child)).collect();
                union(parts)
            }
            "array_type" => {
                let item = node.named_child(0).map_or(Shape::Unknown, |child| self.annotation(child));
                Shape::Applied(Box::new(Shape::Of("Array".into())), vec![item])
            }
            "tuple_type" => {
                let parts = children(node).into_iter().map(|child| self.annotation(child)).collect();
                Shape::Applied(Box::new(Shape::Of("tuple".into())), parts)
            }
            "tuple_parameter" | "optional_tuple_parameter" => node
                .child_by_field_name("type")
                .map_or(Shape::Unknown, |annotation| self.annotation(annotation)),
            "function_type" => self.callable(node, None),
            "literal_type" => Shape::Of("string".into()),
            "template_literal_type" => {
                self.type_parts(node);
                Shape::Of("string".into())
            }
            "lookup_type" => {
                let parts = children(node);
                let of = parts.first().map_or(Shape::Unknown, |parts| self.annotation(*parts));
                match parts.get(1) {
                    Some(key) if key.kind() == "literal_type" => {
                        let name = self.string(*key);
                        if let Some(string) = key.named_child(0).and_then(|child| child.named_child(0)) {
                            self.found.use_name(string, Role::Type, Some(of.clone()), None);
                        }
                        member(of, name)
                    }
                    Some(key) => {
                        self.annotation(*key);
                        member(of, "@item")
                    }
                    None => Shape::Unknown,
                }
            }
            "type_query" => {
                let module = node.named_child(0).and_then(|child| self.taken_type(child, Role::Value));
                let value = match (module, node.named_child(0)) {
                    (Some(path), _) => Shape::Name(path.into()),
                    (None, Some(value)) => self.queried(value),
                    (None, None) => Shape::Unknown,
                };
                for part in children(node).into_iter().filter(|child| child.kind() == "type_arguments") {
                    self.type_arguments(part);
                }
                value
            }
            "object_type" => self.object_type(node),
            "conditional_type" => {
                self.conditional_type(node);
                Shape::Unknown
            }
            _ => {
                self.type_parts(node);
                Shape::Unknown
            }
        }
    }

    /// The value whose type is asked for: `typeof value`. It only has to exist.
    fn queried(&mut self, value: Node<'t>) -> Shape {
        let before = self.found.facts.uses.len();
        let shape = self.expression(value);
        if let Some(used) =
            self.found.facts.uses[before..].last_mut().filter(|usage| usage.role == Role::Value)
        {
            used.role = Role::Type;
        }
        shape
    }

    /// Records members that are picked from a type by name: `'a' | 'b'`.
    fn picked(&mut self, keys: Node<'t>, of: &Shape) {
        if !self.found.descend() {
            return;
        }
        match keys.kind() {
            "union_type" | "parenthesized_type" => {
                for part in children(keys) {
                    self.picked(part, of);
                }
            }
            "literal_type" => {
                if let Some(name) = keys.named_child(0).and_then(|child| child.named_child(0)) {
                    self.found.use_name(name, Role::Type, Some(of.clone()), None);
                }
            }
            _ => {}
        }
        self.found.ascend();
    }

    /// Walks a conditional type: in the true branch, a tested parameter also has the constraint.
    fn conditional_type(&mut self, node: Node<'t>) {
        let (asked, extended) = (node.child_by_field_name("left"), node.child_by_field_name("right"));
        for part in [asked, extended].into_iter().flatten() {
            self.annotation(part);
        }
        let met = node.child_by_field_name("consequence");
        let known = match (asked.and_then(alone), extended.and_then(alone)) {
            (Some(asked), Some(extended)) => self.also_extends(asked, extended),
            _ => None,
        };
        if let Some(met) = met {
            self.annotation(met);
        }
        if let Some((at, name, known)) = known {
            self.generics[at].insert(name, known);
        }
        if let Some(otherwise) = node.child_by_field_name("alternative") {
            self.annotation(otherwise);
        }
    }

    /// Adds a constraint to a parameter. Returns its scope, its name and its previous shape.
    fn also_extends(&mut self, parameter: Node<'t>, extended: Node<'t>) -> Option<(usize, Box<str>, Shape)> {
        if parameter.kind() != "type_identifier" {
            return None;
        }
        let name = self.found.text(parameter);
        let at = self.generics.iter().rposition(|scope| scope.contains_key(name))?;
        let extended = self.quietly(|walk| walk.annotation(extended));
        let known = self.generics[at].get(name)?.clone();
        self.generics[at].insert(name.into(), either([extended, known.clone()]));
        Some((at, name.into(), known))
    }

    /// Returns the shape of an anonymous object type: its properties.
    fn object_type(&mut self, node: Node<'t>) -> Shape {
        let mut properties = Vec::new();
        let mut is_plain = true;
        for part in children(node) {
            let name = part.child_by_field_name("name").filter(|name| name.kind() == "property_identifier");
            let name = name.map(|name| Shape::Of(self.found.text(name).into()));
            match (part.kind(), name, part.child_by_field_name("type")) {
                ("property_signature", Some(name), Some(of)) => {
                    properties.extend([name, self.annotation(of)])
                }
                ("method_signature", Some(name), _) => properties.extend([name, self.callable(part, None)]),
                ("comment", ..) => {}
                _ => {
                    is_plain = false;
                    self.type_part(part);
                }
            }
        }
        match is_plain && !properties.is_empty() {
            true => Shape::Applied(Box::new(Shape::Of(OBJECT.into())), properties),
            false => Shape::Unknown,
        }
    }

    /// Returns true if a predicate is about the first parameter of its function.
    fn is_about_first(&self, predicate: Node<'t>) -> bool {
        let mut node = predicate;
        while let Some(parent) = node.parent() {
            node = parent;
            if let Some(list) = node.child_by_field_name("parameters") {
                let first = children(list).into_iter().find(|child| child.kind() != "comment");
                let name = first.and_then(|child| child.child_by_field_name("pattern"));
                let about = predicate.child_by_field_name("name").or_else(|| predicate.named_child(0));
                return name.zip(about).is_some_and(|(a, b)| self.found.text(a) == self.found.text(b));
            }
        }
        false
    }

    fn type_parts(&mut self, node: Node<'t>) {
        for part in children(node) {
            self.type_part(part);
        }
    }

    /// Walks a part of a type: only its types are recorded.
    pub(super) fn type_part(&mut self, node: Node<'t>) {
        match node.kind() {
            "property_signature"
            | "method_signature"
            | "call_signature"
            | "construct_signature"
            | "index_signature"
            | "formal_parameters"
            | "required_parameter"
            | "optional_parameter"
            | "type_parameters"
            | "type_parameter"
            | "mapped_type_clause"
            | "type_arguments"
            | "constraint"
            | "default_type" => {
                if self.found.descend() {
                    self.type_parts(node);
                    self.found.ascend();
                }
            }
            "identifier" | "property_identifier" | "comment" | "string" | "number" => {}
            _ => drop(self.annotation(node)),
        }
    }

    pub(super) fn type_arguments(&mut self, node: Node<'t>) {
        for part in children(node) {
            self.annotation(part);
        }
    }

    fn type_name(&mut self, node: Node<'t>) -> Shape {
        let name = self.found.text(node);
        if let Some(shape) = self.generics.iter().rev().find_map(|scope| scope.get(name)) {
            return shape.clone();
        }
        if let Some(Shape::Name(path)) = self.found.scopes.get(name) {
            return Shape::Of(path.clone());
        }
        self.found.use_name(node, Role::Type, None, None);
        Shape::Of(self.in_scope(name).into())
    }

    /// `ns.Type`
    fn nested(&mut self, node: Node<'t>) -> Shape {
        let module = node.child_by_field_name("module").or_else(|| node.named_child(0));
        let name = node.child_by_field_name("name");
        if let (Some(module), Some(name)) = (module, name) {
            let of = match module.kind() {
                "identifier" => self.bare_name(module, Role::Value, None),
                _ => {
                    self.nested_names(module);
                    Shape::Name(self.found.text(module).into())
                }
            };
            self.found.use_name(name, Role::Type, Some(of), None);
        }
        Shape::Of(self.found.text(node).into())
    }

    pub(super) fn nested_names(&mut self, node: Node<'t>) {
        let parts = children(node);
        let [of, name] = parts.as_slice() else { return };
        if of.kind() == "identifier" {
            self.bare_name(*of, Role::Value, None);
        } else if self.found.descend() {
            self.nested_names(*of);
            self.found.ascend();
        }
        self.found.use_name(*name, Role::Value, Some(Shape::Name(self.found.text(*of).into())), None);
    }

    /// Handles `import('./x').T`: returns the path of a type from a module that is named inline.
    fn taken_type(&mut self, node: Node<'t>, role: Role) -> Option<String> {
        match node.kind() {
            "call_expression" => {
                node.child_by_field_name("function").filter(|function| function.kind() == "import")?;
                let module = node.child_by_field_name("arguments")?.named_child(0)?;
                (module.kind() == "string").then(|| self.inline(module, node, ImportForm::TypeOnly))
            }
            "member_expression" => {
                // By position, because the fields of such a node are those of its content.
                let parts = children(node);
                let (of, name) = (*parts.first()?, *parts.get(1)?);
                let of = self.taken_type(of, Role::Value)?;
                self.found.use_name(name, role, Some(Shape::Name(of.as_str().into())), None);
                Some(format!("{of}.{}", self.found.text(name)))
            }
            _ => None,
        }
    }

    /// Adds type parameters to the scope: a value of one has the type of its constraint.
    pub(super) fn type_parameters(&mut self, node: Node<'t>) {
        for parameter in children(node).into_iter().filter(|child| child.kind() == "type_parameter") {
            let Some(name) = parameter.child_by_field_name("name") else { continue };
            if let Some(scope) = self.generics.last_mut() {
                scope.insert(self.found.text(name).into(), Shape::Unknown);
            }
            let constraint = parameter.child_by_field_name("constraint");
            let shape = constraint
                .and_then(|constraint| constraint.named_child(0))
                .map(|child| self.annotation(child));
            if let Some(default) = parameter.child_by_field_name("value") {
                self.type_parts(default);
            }
            let shape = match shape {
                Some(Shape::Untyped) | None => Shape::Unknown,
                Some(shape) => shape,
            };
            if let Some(scope) = self.generics.last_mut() {
                scope.insert(self.found.text(name).into(), shape);
            }
        }
    }
}

/// Returns the only part of a tuple; another type is returned itself.
fn alone(node: Node<'_>) -> Option<Node<'_>> {
    if node.kind() != "tuple_type" {
        return Some(node);
    }
    let parts = children(node);
    if let [part] = parts.as_slice() { Some(*part) } else { None }
}

/// Returns a generic type with its arguments; mapped types such as `Readonly` are unwrapped.
fn generic(head: Shape, mut arguments: Vec<Shape>) -> Shape {
    let Shape::Of(name) = &head else { return head };
    match &**name {
        // A partial type fits with fewer members.
        "Partial" if !arguments.is_empty() => either([arguments.swap_remove(0), head.clone()]),
        "Readonly" | "Required" | "NonNullable" | "Omit" | "Pick" | "Awaited" | "NoInfer" | "Exclude"
        | "Extract"
            if !arguments.is_empty() =>
        {
            arguments.swap_remove(0)
        }
        "ReturnType" | "InstanceType" => match arguments.pop() {
            Some(value) => crate::scope::call(value),
            None => Shape::Unknown,
        },
        "Record" => Shape::Applied(Box::new(Shape::Of("Map".into())), arguments),
        _ => Shape::Applied(Box::new(head), arguments),
    }
}
