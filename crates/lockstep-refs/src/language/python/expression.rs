//! Expressions: the names they use, and their shapes.

use tree_sitter::Node;

use super::Walk;
use crate::facts::{Role, Shape, Use};
use crate::scope::{awaited, call, either, element, member};
use crate::syntax::{children, line_of};

impl<'t> Walk<'t> {
    pub(super) fn expressions(&mut self, node: Node<'t>) {
        for child in children(node) {
            self.expression(child);
        }
    }

    /// Walks an expression. Returns its shape.
    pub(super) fn expression(&mut self, node: Node<'t>) -> Shape {
        if !self.found.descend() {
            return Shape::Unknown;
        }
        let shape = self.shape(node);
        self.found.ascend();
        shape
    }

    fn shape(&mut self, node: Node<'t>) -> Shape {
        match node.kind() {
            "identifier" => self.bare_name(node, Role::Value, None),
            "attribute" => self.attribute(node, Role::Value, None),
            "call" => self.call(node),
            "await" => awaited(self.only(node)),
            "parenthesized_expression" => self.only(node),
            "string" | "concatenated_string" => {
                self.expressions(node);
                self.named_in_string(node);
                Shape::Of("str".into())
            }
            "interpolation" | "format_specifier" => {
                self.expressions(node);
                Shape::Unknown
            }
            "integer" => Shape::Of("int".into()),
            "float" => Shape::Of("float".into()),
            "true" | "false" => Shape::Of("bool".into()),
            "none" => Shape::Of("None".into()),
            "comparison_operator" | "not_operator" => {
                self.expressions(node);
                Shape::Of("bool".into())
            }
            "list" | "set" => self.display(node, if node.kind() == "list" { "list" } else { "set" }),
            "tuple" | "expression_list" => {
                let parts = children(node).into_iter().filter(|child| child.kind() != "comment");
                let parts = parts.map(|part| self.expression(part)).collect();
                Shape::Applied(Box::new(Shape::Of("tuple".into())), parts)
            }
            "dictionary" => self.dictionary(node),
            "subscript" => self.subscript(node),
            "lambda" => self.lambda(node),
            "list_comprehension" => self.comprehension(node, "list"),
            "set_comprehension" => self.comprehension(node, "set"),
            "generator_expression" => self.comprehension(node, "Iterator"),
            "dictionary_comprehension" => self.comprehension(node, "dict"),
            "conditional_expression" => self.conditional(node),
            "boolean_operator" => self.boolean(node),
            "named_expression" => {
                let value =
                    node.child_by_field_name("value").map_or(Shape::Unknown, |value| self.expression(value));
                if let Some(name) = node.child_by_field_name("name") {
                    self.assign(name, Some(value.clone()), None, node);
                }
                value
            }
            "yield" => {
                let value = self.only(node);
                if let Some(returns) = self.returns.last_mut() {
                    returns.generator = true;
                    returns.yields.push(value);
                }
                Shape::Unknown
            }
            "binary_operator" => {
                let left = node
                    .child_by_field_name("left")
                    .map_or(Shape::Unknown, |left_node| self.expression(left_node));
                let right = node
                    .child_by_field_name("right")
                    .map_or(Shape::Unknown, |right_node| self.expression(right_node));
                arithmetic(left, right)
            }
            "keyword_argument" => {
                node.child_by_field_name("value").map_or(Shape::Unknown, |value| self.expression(value))
            }
            "assignment" => {
                self.expressions(node);
                Shape::Unknown
            }
            _ => {
                self.expressions(node);
                Shape::Unknown
            }
        }
    }

    /// `x[…]`
    fn subscript(&mut self, node: Node<'t>) -> Shape {
        let value = node.child_by_field_name("value").map_or(Shape::Unknown, |value| self.expression(value));
        let subscripts: Vec<_> = node.children_by_field_name("subscript", &mut node.walk()).collect();
        for subscript in &subscripts {
            self.expression(*subscript);
        }
        let [subscript] = subscripts.as_slice() else { return item(value, "") };
        match subscript.kind() {
            // A slice has the type of its source.
            "slice" => value,
            "string" => {
                self.key(*subscript, &value);
                item(value, "")
            }
            "integer" => item(value, self.found.text(*subscript)),
            _ => item(value, ""),
        }
    }

    /// Records the keys of a dictionary literal with a declared type.
    pub(super) fn keys(&mut self, node: Node<'t>, declared: &Shape) {
        for pair in
            children(node).into_iter().filter(|child| node.kind() == "dictionary" && child.kind() == "pair")
        {
            if let Some(key) = pair.child_by_field_name("key") {
                self.key(key, declared);
            }
        }
    }

    /// Records a key of a value whose type may declare its keys.
    fn key(&mut self, node: Node<'t>, of: &Shape) {
        let Some(name) = self.content(node).filter(|content| is_name(content)) else { return };
        if !matches!(of, Shape::Unknown | Shape::Untyped | Shape::Applied(..)) {
            self.found.facts.uses.push(Use {
                name: name.into(),
                line: line_of(node),
                role: Role::Key,
                of: Some(of.clone()),
                arguments: None,
                keywords: Vec::new(),
                within: self.found.within,
            });
        }
    }

    fn only(&mut self, node: Node<'t>) -> Shape {
        let mut shape = Shape::Of("None".into());
        for child in children(node) {
            shape = self.expression(child);
        }
        shape
    }

    /// Records a bare name.
    pub(super) fn bare_name(&mut self, node: Node<'t>, role: Role, arguments: Option<u16>) -> Shape {
        let name = self.found.text(node);
        match self.found.scopes.get(name) {
            // A name that is imported inside the function is not a variable.
            Some(Shape::Name(bound)) if **bound == *name => {}
            Some(shape) => return shape.clone(),
            None => {}
        }
        self.found.use_name(node, role, None, arguments);
        Shape::Name(name.into())
    }

    /// `x.m`
    pub(super) fn attribute(&mut self, node: Node<'t>, role: Role, arguments: Option<u16>) -> Shape {
        let object =
            node.child_by_field_name("object").map_or(Shape::Unknown, |object| self.expression(object));
        let Some(name) = node.child_by_field_name("attribute") else { return Shape::Unknown };
        self.found.use_name(name, role, Some(object.clone()), arguments);
        if let Some(narrowed) = self.found.scopes.get(self.found.text(node)) {
            return narrowed.clone();
        }
        member(object, self.found.text(name))
    }

    fn call(&mut self, node: Node<'t>) -> Shape {
        let list = node.child_by_field_name("arguments");
        let count = list.and_then(|list| arguments(list));
        let Some(function) = node.child_by_field_name("function") else { return Shape::Unknown };
        let before = self.found.facts.uses.len();
        let callee = match function.kind() {
            "identifier" => self.bare_name(function, Role::Call, count),
            "attribute" => self.attribute(function, Role::Call, count),
            _ => self.expression(function),
        };
        // The called name comes last, after its qualifiers.
        if let Some(called) =
            self.found.facts.uses[before..].last_mut().filter(|usage| usage.role == Role::Call)
        {
            called.keywords = list.map(|list| keywords(list, self.found.text)).unwrap_or_default();
        }
        if let Some(declared) = list.and_then(|list| self.cast(self.found.text(function), list)) {
            return declared;
        }
        let shapes = list.map(|list| self.arguments(list, &callee)).unwrap_or_default();
        if let Some(list) = list {
            self.named_in_arguments(self.found.text(function), list, &shapes);
        }
        let named = list.map_or(0, |list| keywords(list, self.found.text).len());
        let by_place = shapes.get(..shapes.len().saturating_sub(named)).unwrap_or_default();
        builtin(&callee, by_place, self.frames.is_empty()).unwrap_or_else(|| call(callee))
    }

    /// Handles `cast(T, value)`: a value of the type, which may be written in quotes.
    fn cast(&mut self, callee: &str, list: Node<'t>) -> Option<Shape> {
        let given: Vec<_> = children(list).into_iter().filter(|child| child.kind() != "comment").collect();
        let [declared, value] = given.as_slice() else { return None };
        if callee.rsplit('.').next() != Some("cast") || list.kind() != "argument_list" {
            return None;
        }
        let shape = self.annotation(*declared);
        self.expression(*value);
        Some(shape)
    }

    /// Walks the arguments of a call. Returns their shapes.
    fn arguments(&mut self, list: Node<'t>, callee: &Shape) -> Vec<Shape> {
        if list.kind() == "generator_expression" {
            return vec![self.expression(list)];
        }
        let mut shapes = Vec::new();
        for argument in children(list) {
            if argument.kind() == "comment" {
                continue;
            }
            if argument.kind() == "keyword_argument"
                && let (Some(name), Shape::Name(_) | Shape::Member(..)) =
                    (argument.child_by_field_name("name"), callee)
            {
                // A field of a record that is built, or a parameter.
                self.found.use_name(name, Role::Construct, Some(call(callee.clone())), None);
            }
            self.expected = self.expected_by(argument, callee, &shapes);
            shapes.push(self.expression(argument));
            if *callee == Shape::Untyped && matches!(argument.kind(), "identifier" | "attribute") {
                self.given_to_anything();
            }
        }
        shapes
    }

    /// Marks the last name as passed to an untyped parameter: it only has to exist.
    fn given_to_anything(&mut self) {
        if let Some(named) = self.found.facts.uses.last_mut().filter(|usage| usage.role == Role::Value) {
            named.role = Role::Type;
        }
    }

    /// Returns the first parameter type of a function that is written as an argument, if it is evident.
    fn expected_by(&mut self, argument: Node<'t>, callee: &Shape, before: &[Shape]) -> Option<Shape> {
        let value = argument.child_by_field_name("value").filter(|_| argument.kind() == "keyword_argument");
        if value.unwrap_or(argument).kind() != "lambda" {
            return None;
        }
        match callee {
            Shape::Name(name) if matches!(&**name, "sorted" | "max" | "min") => {
                before.first().cloned().map(element)
            }
            Shape::Member(list, name) if &**name == "sort" => Some(element((**list).clone())),
            Shape::Name(name) if matches!(&**name, "map" | "filter") => {
                let items = argument.next_named_sibling()?;
                Some(element(self.quietly(|walk| walk.expression(items))))
            }
            _ => None,
        }
    }

    fn display(&mut self, node: Node<'t>, generic: &str) -> Shape {
        let items: Vec<Shape> = children(node)
            .into_iter()
            .filter(|child| child.kind() != "comment")
            .map(|child| self.expression(child))
            .collect();
        Shape::Applied(Box::new(Shape::Of(generic.into())), vec![either(items)])
    }

    fn dictionary(&mut self, node: Node<'t>) -> Shape {
        let mut keys = Vec::new();
        let mut values = Vec::new();
        for pair in children(node) {
            if pair.kind() == "pair" {
                keys.extend(pair.child_by_field_name("key").map(|key| self.expression(key)));
                values.extend(pair.child_by_field_name("value").map(|value| self.expression(value)));
            } else {
                self.expression(pair);
                values.push(Shape::Unknown);
            }
        }
        Shape::Applied(Box::new(Shape::Of("dict".into())), vec![either(keys), either(values)])
    }

    fn lambda(&mut self, node: Node<'t>) -> Shape {
        self.found.scopes.open();
        self.frames.push(None);
        self.returns.push(super::Returns::default());
        let mut takes = Vec::new();
        let expected = self.expected.take();
        if let Some(parameters) = node.child_by_field_name("parameters") {
            takes = self.parameters(parameters, None).1;
            let first = parameters.named_child(0).filter(|child| child.kind() == "identifier");
            if let (Some(first), Some(expected)) = (first, expected) {
                self.found.scopes.bind(self.found.text(first), expected);
            }
        }
        let body = node.child_by_field_name("body").map_or(Shape::Unknown, |body| self.expression(body));
        self.returns.pop();
        self.frames.pop();
        self.found.scopes.close();
        Shape::Function(takes, Box::new(body))
    }

    fn comprehension(&mut self, node: Node<'t>, generic: &str) -> Shape {
        self.found.scopes.open();
        self.frames.push(None);
        let parts = children(node);
        for clause in &parts {
            match clause.kind() {
                "for_in_clause" => {
                    let right = clause.child_by_field_name("right");
                    let items = right.map_or(Shape::Unknown, |child| self.expression(child));
                    if let Some(left) = clause.child_by_field_name("left") {
                        self.assign(left, Some(element(items)), None, *clause);
                    }
                }
                "if_clause" => {
                    self.expressions(*clause);
                    if let Some(condition) = clause.named_child(0) {
                        self.narrow(condition, true);
                    }
                }
                _ => {}
            }
        }
        let body = node.child_by_field_name("body");
        let items = match body {
            Some(pair) if pair.kind() == "pair" => {
                let key = pair.child_by_field_name("key").map_or(Shape::Unknown, |key| self.expression(key));
                let value =
                    pair.child_by_field_name("value").map_or(Shape::Unknown, |value| self.expression(value));
                vec![key, value]
            }
            Some(body) => vec![self.expression(body)],
            None => vec![Shape::Unknown],
        };
        self.frames.pop();
        self.found.scopes.close();
        Shape::Applied(Box::new(Shape::Of(generic.into())), items)
    }

    fn conditional(&mut self, node: Node<'t>) -> Shape {
        let parts = children(node);
        let [yes, condition, no] = parts.as_slice() else {
            self.expressions(node);
            return Shape::Unknown;
        };
        self.expression(*condition);
        let before = self.found.scopes.names();
        self.narrow(*condition, true);
        let first = self.expression(*yes);
        self.found.scopes.replace(before.clone());
        self.narrow(*condition, false);
        let second = self.expression(*no);
        self.found.scopes.replace(before);
        either([first, second])
    }

    fn boolean(&mut self, node: Node<'t>) -> Shape {
        let (Some(left), Some(right)) = (node.child_by_field_name("left"), node.child_by_field_name("right"))
        else {
            self.expressions(node);
            return Shape::Unknown;
        };
        let first = self.expression(left);
        let is_and = node.child_by_field_name("operator").is_some_and(|operator| operator.kind() == "and");
        let before = self.found.scopes.names();
        self.narrow(left, is_and);
        let second = self.expression(right);
        self.found.scopes.replace(before);
        if is_and { either([second, Shape::Of("bool".into())]) } else { either([first, second]) }
    }

    /// Walks without recording uses, for nodes that were already walked.
    pub(super) fn quietly<R>(&mut self, walk: impl FnOnce(&mut Self) -> R) -> R {
        let before = self.found.facts.uses.len();
        let result = walk(self);
        self.found.facts.uses.truncate(before);
        result
    }
}

/// Returns the number of arguments of a call, positional or named. `None` if it is not visible.
fn arguments(list: Node<'_>) -> Option<u16> {
    if list.kind() == "generator_expression" {
        return Some(1);
    }
    let mut count = 0;
    for argument in children(list) {
        match argument.kind() {
            "list_splat" | "dictionary_splat" => return None,
            "comment" => {}
            _ => count += 1,
        }
    }
    Some(count)
}

/// The names by which a call passes arguments.
fn keywords(list: Node<'_>, text: &str) -> Vec<Box<str>> {
    let given = children(list).into_iter().filter(|child| child.kind() == "keyword_argument");
    let name = |node: Node<'_>| Some(text.get(node.child_by_field_name("name")?.byte_range())?.into());
    given.filter_map(name).collect()
}

/// Returns the result of some builtins, which no definition in a project declares.
fn builtin(callee: &Shape, arguments: &[Shape], at_module: bool) -> Option<Shape> {
    let of = |name: &str, parts: Vec<Shape>| Shape::Applied(Box::new(Shape::Of(name.into())), parts);
    let first = || arguments.first().cloned().unwrap_or(Shape::Unknown);
    let name = match callee {
        Shape::Name(name) => name,
        Shape::Member(of, name) if **of == Shape::Name("copy".into()) => {
            return matches!(&**name, "copy" | "deepcopy").then(first);
        }
        _ => return None,
    };
    match &**name {
        "super" if !at_module => Some(Shape::Parent),
        "list" | "set" | "frozenset" | "tuple" | "sorted" | "iter" | "reversed" => {
            let generic = if &**name == "iter" || &**name == "reversed" { "Iterator" } else { "list" };
            Some(of(generic, vec![if arguments.is_empty() { Shape::Unknown } else { element(first()) }]))
        }
        "next" => Some(element(first())),
        "max" | "min" if arguments.len() == 1 => Some(element(first())),
        "max" | "min" => Some(either(arguments.iter().cloned())),
        "map" => Some(of("Iterator", vec![call(first())])),
        "deepcopy" => Some(first()),
        "enumerate" => {
            Some(of("Iterator", vec![of("tuple", vec![Shape::Of("int".into()), element(first())])]))
        }
        "zip" => {
            let parts = arguments.iter().cloned().map(element).collect();
            Some(of("Iterator", vec![of("tuple", parts)]))
        }
        "filter" => arguments.get(1).map(|items| of("Iterator", vec![element(items.clone())])),
        "len" | "int" | "hash" | "ord" | "id" => Some(Shape::Of("int".into())),
        "str" | "repr" => Some(Shape::Of("str".into())),
        "isinstance" | "issubclass" | "callable" | "hasattr" | "any" | "all" => {
            Some(Shape::Of("bool".into()))
        }
        "range" => Some(of("Iterator", vec![Shape::Of("int".into())])),
        "type" if arguments.len() == 1 => Some(member(first(), "__class__")),
        "cast" => None,
        _ => None,
    }
}

/// Returns the result of an operator: evident only for values of builtin types.
fn arithmetic(left: Shape, right: Shape) -> Shape {
    let plain = |shape: &Shape| match shape {
        Shape::Of(name) => matches!(&**name, "str" | "int" | "float" | "bool"),
        Shape::Applied(head, _) => matches!(&**head, Shape::Of(_)),
        _ => false,
    };
    match (plain(&left), plain(&right)) {
        (true, _) => left,
        (_, true) => right,
        _ if left == Shape::Untyped || right == Shape::Untyped => Shape::Untyped,
        _ => Shape::Unknown,
    }
}

/// Returns the result of indexing a value.
fn item(of: Shape, index: &str) -> Shape {
    match of {
        Shape::Untyped => Shape::Untyped,
        of => member(of, &format!("@item{index}")),
    }
}

fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_alphabetic() || c == '_')
        && text.chars().all(|c| c.is_alphanumeric() || c == '_')
}
