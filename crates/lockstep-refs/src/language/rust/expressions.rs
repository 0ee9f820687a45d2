//! Expressions: one walk that records every use and returns the shape of each expression.

use tree_sitter::Node;

use super::extractor::{Binding, Reader, Source, called, member, operated, without_raw_prefix};
use super::patterns::slots;
use super::standard;
use crate::facts::{Role, Shape};
use crate::syntax::children;

impl Reader {
    /// Records the uses of an expression. Returns its shape.
    pub(super) fn expression(&mut self, source: Source<'_>, node: Node<'_>) -> Shape {
        self.deeper(|reader| reader.expression_here(source, node)).unwrap_or(Shape::Unknown)
    }

    fn expression_here(&mut self, source: Source<'_>, node: Node<'_>) -> Shape {
        match node.kind() {
            "identifier" | "scoped_identifier" => self.path(source, node, Role::Value, None),
            "self" => self.itself_shape(),
            "generic_function" => self.path_or_member(source, node, Role::Value, None).0,
            "call_expression" => self.call(source, node),
            "field_expression" => self.path_or_member(source, node, Role::Value, None).0,
            "struct_expression" => self.struct_expression(source, node),
            "try_expression" => member(self.only(source, node), "?"),
            "await_expression" => member(self.only(source, node), "await"),
            "reference_expression" => self.field(source, node, "value"),
            "parenthesized_expression" => self.only(source, node),
            "unary_expression" => self.unary(source, node),
            "index_expression" => self.index(source, node),
            "type_cast_expression" => {
                self.field(source, node, "value");
                self.declared(source, node, "type").unwrap_or(Shape::Unknown)
            }
            "closure_expression" => self.closure(source, node, &Shape::Unknown),
            "block" => self.block(source, node),
            "unsafe_block" | "const_block" | "async_block" | "try_block" | "gen_block" => {
                self.each(source, node).pop().unwrap_or(Shape::Unknown)
            }
            "if_expression" => self.condition(source, node),
            "while_expression" => {
                self.scoped(|reader| reader.each(source, node));
                Shape::Of("()".into())
            }
            "for_expression" => self.for_loop(source, node),
            "let_condition" => self.let_condition(source, node),
            "match_expression" => self.match_expression(source, node),
            "macro_invocation" => self.macro_invocation(source, node),
            "binary_expression" => self.binary(source, node),
            "string_literal" | "raw_string_literal" => Shape::Of("str".into()),
            "boolean_literal" => Shape::Of("bool".into()),
            "char_literal" => Shape::Of("char".into()),
            "integer_literal" | "float_literal" => Shape::Of("usize".into()),
            "array_expression" => {
                self.each(source, node);
                Shape::Of("[_]".into())
            }
            "unit_expression" => Shape::Of("()".into()),
            "attribute_item" | "label" | "metavariable" | "line_comment" | "block_comment" => Shape::Unknown,
            "type_arguments" => {
                self.type_uses(source, node);
                Shape::Unknown
            }
            "else_clause" => self.each(source, node).pop().unwrap_or(Shape::Unknown),
            _ => {
                self.each(source, node);
                Shape::Unknown
            }
        }
    }

    /// Every expression directly below a node.
    fn each(&mut self, source: Source<'_>, node: Node<'_>) -> Vec<Shape> {
        children(node)
            .into_iter()
            .filter(|child| !child.is_extra())
            .map(|child| self.expression(source, child))
            .collect()
    }

    fn only(&mut self, source: Source<'_>, node: Node<'_>) -> Shape {
        self.each(source, node).into_iter().next().unwrap_or(Shape::Unknown)
    }

    fn field(&mut self, source: Source<'_>, node: Node<'_>, name: &str) -> Shape {
        node.child_by_field_name(name).map_or(Shape::Unknown, |child| self.expression(source, child))
    }

    /// The type in a field of a node, as the shape of its values.
    pub(super) fn declared(&mut self, source: Source<'_>, node: Node<'_>, name: &str) -> Option<Shape> {
        let declared = node.child_by_field_name(name)?;
        self.type_uses(source, declared);
        Some(Shape::Of(self.type_text(source, declared, false).into()))
    }

    fn unary(&mut self, source: Source<'_>, node: Node<'_>) -> Shape {
        let inner = self.only(source, node);
        if source.of(node).starts_with('*') { member(inner, "*") } else { inner }
    }

    fn index(&mut self, source: Source<'_>, node: Node<'_>) -> Shape {
        let parts = children(node);
        let shapes = self.each(source, node);
        let range = parts.get(1).is_some_and(|index| index.kind() == "range_expression");
        let Some(of) = shapes.into_iter().next() else { return Shape::Unknown };
        if range { of } else { member(of, "[]") }
    }

    fn binary(&mut self, source: Source<'_>, node: Node<'_>) -> Shape {
        let left = self.field(source, node, "left");
        let right = self.field(source, node, "right");
        let operator = node.child_by_field_name("operator").map_or("", |operator| source.of(operator));
        self.compared(operator, source.line(node), [&left, &right]);
        match operator {
            "==" | "!=" | "<" | "<=" | ">" | ">=" | "&&" | "||" => Shape::Of("bool".into()),
            operator => operated(operator, left, right),
        }
    }

    /// Returns the shape of a function that is called or named: a path, or a member of a value. Also returns
    /// its last name.
    fn path_or_member<'t>(
        &mut self,
        source: Source<'t>,
        node: Node<'_>,
        role: Role,
        arguments: Option<u16>,
    ) -> (Shape, Option<(Shape, &'t str)>) {
        match node.kind() {
            "field_expression" => {
                let of = self.field(source, node, "value");
                let Some(field) = node.child_by_field_name("field") else { return (Shape::Unknown, None) };
                let name = without_raw_prefix(source.of(field));
                if field.kind() != "integer_literal" {
                    self.put(name, source.line(field), role, Some(of.clone()), arguments);
                }
                (member(of.clone(), name), Some((of, name)))
            }
            "generic_function" => {
                let inner = node.child_by_field_name("function");
                let Some(inner) = inner.filter(|inner| inner.kind() == "field_expression") else {
                    let shape = self.path(source, node, role, arguments);
                    return (self.of_argument(source, node, shape), None);
                };
                let (shape, receiver) = self.path_or_member(source, inner, role, arguments);
                let turbofish = node.child_by_field_name("type_arguments");
                let Some(turbofish) = turbofish else { return (shape, receiver) };
                self.type_uses(source, turbofish);
                let argument = children(turbofish).first().map(|first| self.type_text(source, *first, false));
                let (Some((of, name)), Some(argument)) = (receiver, argument) else { return (shape, None) };
                (member(of.clone(), &format!("{name}::<{argument}")), Some((of, name)))
            }
            "identifier" | "scoped_identifier" => (self.path(source, node, role, arguments), None),
            _ => (self.expression(source, node), None),
        }
    }

    /// A function with the type that it is called for: `read::<Config>`.
    fn of_argument(&self, source: Source<'_>, node: Node<'_>, shape: Shape) -> Shape {
        let arguments = node.child_by_field_name("type_arguments").map(children).unwrap_or_default();
        match (&shape, arguments.as_slice()) {
            (Shape::Name(_), [argument]) => {
                let argument = Shape::Of(self.type_text(source, *argument, false).into());
                Shape::Applied(Box::new(shape), vec![argument])
            }
            _ => shape,
        }
    }

    fn call(&mut self, source: Source<'_>, node: Node<'_>) -> Shape {
        let Some(function) = node.child_by_field_name("function") else { return Shape::Unknown };
        let arguments: Vec<Node<'_>> = node.child_by_field_name("arguments").map(parts).unwrap_or_default();
        let count = u16::try_from(arguments.len()).ok();
        let (shape, receiver) = self.path_or_member(source, function, Role::Call, count);
        let hint = match &receiver {
            Some((of, name)) => member(of.clone(), &format!("|{name}|")),
            None => Shape::Unknown,
        };
        let always = receiver.as_ref().and_then(|(_, name)| standard::gives_always(name));
        let mut first = None;
        for argument in arguments {
            let given = if argument.kind() == "closure_expression" {
                self.closure(source, argument, &hint)
            } else {
                self.expression(source, argument)
            };
            first.get_or_insert(given);
        }
        if let Some(always) = always {
            return Shape::Of(always.into());
        }
        if let (Shape::Name(path), Some(first)) = (&shape, first)
            && standard::hands_through(path)
        {
            return first;
        }
        called(shape)
    }

    fn struct_expression(&mut self, source: Source<'_>, node: Node<'_>) -> Shape {
        let Some(name) = node.child_by_field_name("name") else { return Shape::Unknown };
        let fields = node.child_by_field_name("body").map(children).unwrap_or_default();
        let open = fields.iter().any(|part| part.kind() == "base_field_initializer");
        let shape = self.path(source, name, if open { Role::Partial } else { Role::Construct }, None);
        for part in fields {
            match part.kind() {
                "field_initializer" => {
                    if let Some(field) = part.child_by_field_name("field") {
                        self.put(
                            source.of(field),
                            source.line(field),
                            Role::Construct,
                            Some(shape.clone()),
                            None,
                        );
                    }
                    self.field(source, part, "value");
                }
                "shorthand_field_initializer" => {
                    for name in children(part).into_iter().filter(|child| child.kind() == "identifier") {
                        self.put(
                            source.of(name),
                            source.line(name),
                            Role::Construct,
                            Some(shape.clone()),
                            None,
                        );
                        self.expression(source, name);
                    }
                }
                _ => drop(self.each(source, part)),
            }
        }
        shape
    }

    /// Records a closure; `hint` is the shape of which its first parameter is an element, if that is known.
    fn closure(&mut self, source: Source<'_>, node: Node<'_>, hint: &Shape) -> Shape {
        self.scoped(|reader| {
            let parameters = node.child_by_field_name("parameters");
            let parameters = parameters.map(|list| slots(list, None).0).unwrap_or_default();
            for (index, parameter) in parameters {
                if parameter.kind() == "parameter" {
                    reader.parameter(source, parameter);
                } else {
                    let shape = if index == 0 { hint } else { &Shape::Unknown };
                    reader.pattern(source, parameter, shape);
                }
            }
            reader.declared(source, node, "return_type");
            let body = reader.field(source, node, "body");
            drop(body);
            Shape::Unknown
        })
    }

    pub(super) fn parameter(&mut self, source: Source<'_>, node: Node<'_>) {
        let shape = self.declared(source, node, "type").unwrap_or(Shape::Unknown);
        if let Some(pattern) = node.child_by_field_name("pattern") {
            self.pattern(source, pattern, &shape);
        }
    }

    pub(super) fn block(&mut self, source: Source<'_>, node: Node<'_>) -> Shape {
        self.scoped(|reader| {
            let statements = children(node);
            for statement in &statements {
                reader.bind_item(source, *statement);
            }
            let mut last = Shape::Unknown;
            let mut attributes = Vec::new();
            for statement in statements {
                if statement.kind() == "attribute_item" {
                    reader.attribute(source, statement);
                    attributes.push(statement);
                    continue;
                }
                last = reader.statement(source, statement, &attributes);
                attributes.clear();
            }
            last
        })
    }

    /// Binds an item inside a function, which is visible in the complete block.
    fn bind_item(&mut self, source: Source<'_>, node: Node<'_>) {
        let item = matches!(
            node.kind(),
            "function_item"
                | "struct_item"
                | "enum_item"
                | "union_item"
                | "const_item"
                | "static_item"
                | "type_item"
                | "trait_item"
        );
        if item && let Some(name) = node.child_by_field_name("name") {
            self.bind(source.of(name), Binding::Item);
        }
    }

    fn statement(&mut self, source: Source<'_>, node: Node<'_>, attributes: &[Node<'_>]) -> Shape {
        match node.kind() {
            "let_declaration" => self.let_declaration(source, node),
            "expression_statement" => {
                // A macro that ends a block without a semicolon is its value.
                let shape = self.only(source, node);
                return if source.of(node).ends_with(';') { Shape::Unknown } else { shape };
            }
            kind if kind.ends_with("_item")
                || kind.ends_with("_declaration")
                || kind == "macro_definition" =>
            {
                self.deeper(|reader| reader.item(source, node, attributes));
            }
            _ => return self.expression(source, node),
        }
        Shape::Unknown
    }

    fn let_declaration(&mut self, source: Source<'_>, node: Node<'_>) {
        let declared = self.declared(source, node, "type").filter(|shape| *shape != Shape::Of("_".into()));
        let value = node.child_by_field_name("value");
        let tuple = value.filter(|value| value.kind() == "tuple_expression");
        let pattern = node.child_by_field_name("pattern");
        match (pattern, tuple, &declared) {
            (Some(pattern), Some(tuple), None) if pattern.kind() == "tuple_pattern" => {
                // Each variable gets its own value.
                let shapes: Vec<Shape> =
                    parts(tuple).into_iter().map(|value| self.expression(source, value)).collect();
                for (index, name) in slots(pattern, None).0 {
                    self.pattern(source, name, shapes.get(index).unwrap_or(&Shape::Unknown));
                }
            }
            _ => {
                let shape = self.field(source, node, "value");
                self.field(source, node, "alternative");
                if let Some(pattern) = pattern {
                    self.pattern(source, pattern, &declared.unwrap_or(shape));
                }
            }
        }
    }

    fn condition(&mut self, source: Source<'_>, node: Node<'_>) -> Shape {
        let then = self.scoped(|reader| {
            reader.field(source, node, "condition");
            reader.field(source, node, "consequence")
        });
        let otherwise = self.field(source, node, "alternative");
        if then == Shape::Unknown { otherwise } else { then }
    }

    fn let_condition(&mut self, source: Source<'_>, node: Node<'_>) -> Shape {
        let value = self.field(source, node, "value");
        if let Some(pattern) = node.child_by_field_name("pattern") {
            self.pattern(source, pattern, &value);
        }
        Shape::Of("bool".into())
    }

    fn for_loop(&mut self, source: Source<'_>, node: Node<'_>) -> Shape {
        let value = self.field(source, node, "value");
        self.scoped(|reader| {
            if let Some(pattern) = node.child_by_field_name("pattern") {
                reader.pattern(source, pattern, &member(value, "for"));
            }
            reader.field(source, node, "body");
        });
        Shape::Of("()".into())
    }

    fn match_expression(&mut self, source: Source<'_>, node: Node<'_>) -> Shape {
        let value = self.field(source, node, "value");
        let mut result = Shape::Unknown;
        for arm in node.child_by_field_name("body").map(children).unwrap_or_default() {
            if arm.kind() != "match_arm" {
                continue;
            }
            let shape = self.scoped(|reader| {
                if let Some(pattern) = arm.child_by_field_name("pattern") {
                    reader.pattern(source, pattern, &value);
                }
                reader.field(source, arm, "value")
            });
            if result == Shape::Unknown {
                result = shape;
            }
        }
        result
    }
}

fn parts(node: Node<'_>) -> Vec<Node<'_>> {
    children(node).into_iter().filter(|child| !child.is_extra() && child.kind() != "attribute_item").collect()
}
