//! Calls and constructions: what they use, their arguments and their results.

use tree_sitter::Node;

use super::Walk;
use super::expression::promise;
use super::function::declared_this;
use crate::facts::{ImportForm, Role, Shape, WHOLE};
use crate::scope::{awaited, call, member};
use crate::syntax::children;

impl<'t> Walk<'t> {
    pub(super) fn call(&mut self, node: Node<'t>, expected: Option<Shape>) -> Shape {
        let Some(function) = node.child_by_field_name("function") else { return Shape::Unknown };
        let list = node.child_by_field_name("arguments");
        let count = list.and_then(count);
        if function.kind() == "import" || self.found.text(function) == "require" {
            let module = list.and_then(|list| list.named_child(0)).filter(|child| child.kind() == "string");
            let Some(module) = module else { return Shape::Unknown };
            let loaded = Shape::Name(self.inline(module, node, ImportForm::Dynamic).into());
            return if function.kind() == "import" { promise(loaded) } else { loaded };
        }
        self.mock(node, function, list);
        if self.found.text(function) == "Promise.all" {
            let items = list.and_then(|list| list.named_child(0)).filter(|child| child.kind() == "array");
            if let Some(items) = items {
                let items =
                    children(items).into_iter().map(|child| awaited(self.expression(child))).collect();
                return promise(Shape::Applied(Box::new(Shape::Of("tuple".into())), items));
            }
        }
        let callee = match function.kind() {
            "identifier" => self.called_name(function, count),
            "member_expression" => {
                let callee = self.member_access(function, Role::Call, count);
                self.conform_receiver(function, &callee);
                callee
            }
            "super" => {
                // The constructor of the base is called.
                let before = self.found.facts.uses.len();
                self.found.use_name(function, Role::Call, Some(Shape::Parent), count);
                if let Some(candidate) = self.found.facts.uses.get_mut(before) {
                    candidate.name = "constructor".into();
                }
                member(Shape::Parent, "constructor")
            }
            _ => self.expression(function),
        };
        if let Some(arguments) = node.child_by_field_name("type_arguments") {
            self.type_arguments(arguments);
        }
        if let Some(list) = list {
            self.wanted = self.wanted_of_callback(function, list, expected);
            self.arguments(list, &callee);
            self.wanted = None;
        }
        call(callee)
    }

    /// Returns the expected result of a function that makes the elements of a list: `list.map(…)`.
    pub(super) fn wanted_of_callback(
        &self,
        function: Node<'t>,
        list: Node<'t>,
        expected: Option<Shape>,
    ) -> Option<Shape> {
        let name = function.child_by_field_name("property").map(|property| self.found.text(property));
        let is_function = list.named_child(0).is_some_and(|child| child.kind() == "arrow_function");
        let is_known =
            |shape: &Shape| !matches!(shape, Shape::Unknown | Shape::Untyped | Shape::Parameter(..));
        expected
            .filter(|shape| name == Some("map") && is_function && is_known(shape))
            .map(crate::scope::element)
    }

    /// Records a called name. A destructured name is called as a member of its source.
    pub(super) fn called_name(&mut self, node: Node<'t>, arguments: Option<u16>) -> Shape {
        if let Some(Shape::Member(of, name)) = self.found.scopes.get(self.found.text(node)).cloned()
            && !name.starts_with('@')
        {
            let before = self.found.facts.uses.len();
            self.found.use_name(node, Role::Call, Some(*of), arguments);
            if let Some(candidate) = self.found.facts.uses.get_mut(before) {
                candidate.name = name;
            }
        }
        self.bare_name(node, Role::Call, arguments)
    }

    /// Checks `this.work()`, if `work` declares its receiver.
    pub(super) fn conform_receiver(&mut self, node: Node<'t>, callee: &Shape) {
        let Shape::Member(of, name) = callee else { return };
        if **of != Shape::Itself {
            return;
        }
        let container = self.found.container();
        let own = |definition: &&crate::facts::Definition| {
            definition.name == *name && definition.container == container
        };
        let gives =
            self.found.facts.definitions.iter().find(own).and_then(|definition| definition.gives.as_ref());
        if let Some(Shape::Function(takes, _)) = gives
            && let Some(this) = declared_this(takes)
        {
            self.expect_type(node, &Shape::Itself, Some(&this));
        }
    }

    /// Walks the arguments of a call with the callee's parameters as expected types.
    pub(super) fn arguments(&mut self, list: Node<'t>, callee: &Shape) {
        if list.kind() == "template_string" {
            self.expression(list);
            return;
        }
        let mut at: u16 = 0;
        for argument in children(list) {
            if argument.kind() == "comment" {
                continue;
            }
            let wants = matches!(
                argument.kind(),
                "arrow_function"
                    | "function_expression"
                    | "object"
                    | "array"
                    | "function"
                    | "ternary_expression"
            );
            let expected = match callee {
                Shape::Unknown | Shape::Untyped => Some(Shape::Unknown),
                callee => Some(Shape::Parameter(Box::new(callee.clone()), at, WHOLE)),
            };
            let value = self.expected(argument, expected.clone().filter(|_| wants));
            self.expect_type(argument, &value, expected.as_ref());
            at = at.saturating_add(1);
        }
    }

    pub(super) fn construct(&mut self, node: Node<'t>) -> Shape {
        let Some(class) = node.child_by_field_name("constructor") else { return Shape::Unknown };
        let list = node.child_by_field_name("arguments");
        let count = list.map_or(Some(0), count);
        let callee = match class.kind() {
            "identifier" => self.called_name(class, count),
            "member_expression" => self.member_access(class, Role::Call, count),
            _ => self.expression(class),
        };
        let mut type_arguments = Vec::new();
        if let Some(arguments) = node.child_by_field_name("type_arguments") {
            type_arguments = children(arguments).into_iter().map(|child| self.annotation(child)).collect();
        }
        if let Some(list) = list {
            let constructor = match &callee {
                Shape::Unknown | Shape::Untyped => Shape::Unknown,
                callee => member(call(callee.clone()), "constructor"),
            };
            self.arguments(list, &constructor);
        }
        match callee {
            Shape::Name(name) if !type_arguments.is_empty() => {
                Shape::Applied(Box::new(Shape::Of(name)), type_arguments)
            }
            callee => call(callee),
        }
    }
}

/// Returns the number of arguments of a call. `None` if it is not visible.
pub(super) fn count(list: Node<'_>) -> Option<u16> {
    if list.kind() != "arguments" {
        return None;
    }
    let mut count: u16 = 0;
    for argument in children(list) {
        match argument.kind() {
            "spread_element" => return None,
            "comment" => {}
            _ => count = count.saturating_add(1),
        }
    }
    Some(count)
}
