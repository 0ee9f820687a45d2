//! New JSON, and how it is written in the style of the file it joins.

use crate::json_style::JsonStyle;

/// A JSON value to write. The order of object members is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum JsonNode {
    Object(Vec<(String, JsonNode)>),
    Array(Vec<JsonNode>),
    Text(String),
    Number(u32),
}

/// A new child of a container: a member of an object, or an element of an array.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NewChild {
    pub(crate) name: Option<String>,
    pub(crate) value: JsonNode,
}

impl NewChild {
    pub(crate) fn member(name: impl Into<String>, value: JsonNode) -> Self {
        Self { name: Some(name.into()), value }
    }

    pub(crate) fn element(value: JsonNode) -> Self {
        Self { name: None, value }
    }

    /// Renders the text. With `indent`, the indentation of the current line, it is spread over lines;
    /// otherwise it is on one line.
    pub(crate) fn render(&self, style: &JsonStyle, indent: Option<&str>) -> String {
        let mut writer = JsonWriter { out: String::new(), style };
        writer.child(self.name.as_deref(), &self.value, indent);
        writer.out
    }
}

pub(crate) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

struct JsonWriter<'a> {
    out: String,
    style: &'a JsonStyle,
}

impl JsonWriter<'_> {
    fn child(&mut self, name: Option<&str>, value: &JsonNode, indent: Option<&str>) {
        if let Some(name) = name {
            self.out.push_str(&quoted(name));
            self.out.push_str(&self.style.colon);
        }
        self.value(value, indent);
    }

    fn value(&mut self, value: &JsonNode, indent: Option<&str>) {
        match value {
            JsonNode::Object(members) => {
                let members: Vec<_> =
                    members.iter().map(|(name, value)| (Some(name.as_str()), value)).collect();
                self.container('{', &members, '}', indent);
            }
            JsonNode::Array(elements) => {
                let elements: Vec<_> = elements.iter().map(|value| (None, value)).collect();
                self.container('[', &elements, ']', indent);
            }
            JsonNode::Text(text) => self.out.push_str(&quoted(text)),
            JsonNode::Number(number) => self.out.push_str(&number.to_string()),
        }
    }

    fn container(
        &mut self,
        open: char,
        children: &[(Option<&str>, &JsonNode)],
        close: char,
        indent: Option<&str>,
    ) {
        let inner = indent.map(|indent| format!("{indent}{}", self.style.unit));
        self.out.push(open);
        for (n, (name, value)) in children.iter().enumerate() {
            if n > 0 {
                self.out.push(',');
            }
            match &inner {
                Some(inner) => self.line(inner),
                None if n > 0 => self.out.push_str(&self.style.comma_gap),
                None => {}
            }
            self.child(*name, value, inner.as_deref());
        }
        if let Some(indent) = indent {
            self.line(indent);
        }
        self.out.push(close);
    }

    fn line(&mut self, indent: &str) {
        self.out.push_str(self.style.newline);
        self.out.push_str(indent);
    }
}
