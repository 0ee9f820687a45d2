//! Settings files as people write them: any data, any layout, other hooks, comments, CRLF, tabs, byte order marks.

use proptest::prelude::*;

/// A settings text, and whether it can be restored from the text alone.
#[derive(Debug, Clone)]
pub(crate) struct Sample {
    pub(crate) text: String,
    /// False if a container that entries are added to exists but is empty: afterwards its origin cannot be
    /// determined.
    pub(crate) reversible: bool,
}

#[derive(Debug, Clone)]
enum Tree {
    Scalar(String),
    Object(Vec<(String, Tree)>),
    Array(Vec<Tree>),
}

pub(crate) fn samples() -> impl Strategy<Value = Sample> {
    (root(), layouts(), any::<bool>(), proptest::collection::vec(any::<u8>(), 64)).prop_map(
        |(root, layout, mark, choices)| {
            let reversible = is_reversible(&root);
            let mut writer = Writer { out: String::new(), layout, choices, used: 0 };
            if mark && writer.choose(4) == 0 {
                writer.out.push('\u{feff}');
            }
            writer.tree(&root, 0);
            let end = ["", "\n", "\r\n", "\n\n"][writer.choose(4)];
            Sample { text: writer.out + end, reversible }
        },
    )
}

fn scalar() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<i32>().prop_map(|number| number.to_string()),
        Just("1.5e-3".to_owned()),
        Just("true".to_owned()),
        Just("null".to_owned()),
        any::<String>().prop_map(|text| serde_json::Value::from(text).to_string()),
        Just(r#""// no comment, \"[{" "#.trim().to_owned()),
        Just("\"ä\\u00e4😀\"".to_owned()),
    ]
}

fn data() -> impl Strategy<Value = Tree> {
    scalar().prop_map(Tree::Scalar).prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Tree::Array),
            proptest::collection::vec((name(), inner), 0..4).prop_map(Tree::Object),
        ]
    })
}

fn name() -> impl Strategy<Value = String> {
    prop_oneof![Just("env".to_owned()), Just("permissions".to_owned()), "[a-z ä\"]{0,5}"]
}

fn root() -> impl Strategy<Value = Tree> {
    let members = proptest::collection::vec((name(), data()), 0..4);
    (members, proptest::option::of(hooks()), 0..4_usize).prop_map(|(mut members, hooks, at)| {
        members.retain(|(name, _)| name != "hooks");
        if let Some(hooks) = hooks {
            members.insert(at.min(members.len()), ("hooks".to_owned(), hooks));
        }
        Tree::Object(members)
    })
}

fn hooks() -> impl Strategy<Value = Tree> {
    let event = proptest::sample::subsequence(vec!["PostToolUse", "Stop", "SessionStart", "Other"], 0..4);
    (event, proptest::collection::vec(proptest::collection::vec(group(), 0..3), 4)).prop_map(
        |(events, groups)| {
            let events = events.into_iter().map(str::to_owned);
            Tree::Object(events.zip(groups.into_iter().map(Tree::Array)).collect())
        },
    )
}

/// Generates foreign hooks, and values that are no hooks.
fn group() -> impl Strategy<Value = Tree> {
    let text = |text: &str| Tree::Scalar(format!("\"{text}\""));
    let handler = proptest::sample::select(vec![
        "echo lockstep hook claude",
        "prettier --write",
        "lockstep hook codex",
    ])
    .prop_map(move |command| {
        let kind = ("type".to_owned(), text("command"));
        Tree::Object(vec![kind, ("command".to_owned(), text(command))])
    });
    let handlers = proptest::collection::vec(handler, 0..3);
    let whole = (proptest::option::of(data()), handlers).prop_map(|(matcher, handlers)| {
        let matcher = matcher.map(|matcher| ("matcher".to_owned(), matcher));
        Tree::Object(matcher.into_iter().chain([("hooks".to_owned(), Tree::Array(handlers))]).collect())
    });
    prop_oneof![5 => whole, 1 => data()]
}

fn is_reversible(root: &Tree) -> bool {
    let Tree::Object(members) = root else { return false };
    let hooks = members.iter().find(|(name, _)| name == "hooks").map(|(_, hooks)| hooks);
    let events_are_filled = match hooks {
        Some(Tree::Object(events)) => {
            !events.is_empty()
                && events
                    .iter()
                    .all(|(_, groups)| !matches!(groups, Tree::Array(groups) if groups.is_empty()))
        }
        _ => true,
    };
    !members.is_empty() && events_are_filled
}

#[derive(Debug, Clone)]
enum Layout {
    /// The style of a formatter.
    Tidy {
        newline: &'static str,
        unit: &'static str,
    },
    OneLine {
        gap: &'static str,
    },
    /// Every gap is anything.
    Wild {
        comments: bool,
    },
}

fn layouts() -> impl Strategy<Value = Layout> {
    let tidy =
        (proptest::sample::select(vec!["\n", "\r\n"]), proptest::sample::select(vec!["  ", "   ", "\t", ""]));
    prop_oneof![
        tidy.prop_map(|(newline, unit)| Layout::Tidy { newline, unit }),
        proptest::sample::select(vec!["", " "]).prop_map(|gap| Layout::OneLine { gap }),
        any::<bool>().prop_map(|comments| Layout::Wild { comments }),
    ]
}

struct Writer {
    out: String,
    layout: Layout,
    choices: Vec<u8>,
    used: usize,
}

impl Writer {
    fn choose(&mut self, count: usize) -> usize {
        self.used += 1;
        usize::from(self.choices[self.used % self.choices.len()]) % count
    }

    fn tree(&mut self, tree: &Tree, depth: usize) {
        match tree {
            Tree::Scalar(text) => self.out.push_str(text),
            Tree::Object(members) => self.container('{', members.len(), '}', depth, |writer, n| {
                writer.out.push_str(&serde_json::Value::from(members[n].0.as_str()).to_string());
                writer.colon();
                writer.tree(&members[n].1, depth + 1);
            }),
            Tree::Array(elements) => self.container('[', elements.len(), ']', depth, |writer, n| {
                writer.tree(&elements[n], depth + 1);
            }),
        }
    }

    fn container(
        &mut self,
        open: char,
        count: usize,
        close: char,
        depth: usize,
        child: impl Fn(&mut Self, usize),
    ) {
        self.out.push(open);
        for n in 0..count {
            self.gap(depth + 1, n > 0);
            child(self, n);
            if n + 1 < count {
                self.wild();
                self.out.push(',');
            }
        }
        if count > 0 {
            self.trailing_comma();
            self.gap(depth, false);
        }
        self.out.push(close);
    }

    fn gap(&mut self, depth: usize, after_comma: bool) {
        match self.layout {
            Layout::Tidy { newline, unit } => self.out.push_str(&format!("{newline}{}", unit.repeat(depth))),
            Layout::OneLine { gap } if after_comma => self.out.push_str(gap),
            Layout::OneLine { .. } => {}
            Layout::Wild { .. } => self.wild(),
        }
    }

    fn colon(&mut self) {
        match self.layout {
            Layout::Tidy { .. } => self.out.push_str(": "),
            Layout::OneLine { gap } => self.out.push_str(&format!(":{gap}")),
            Layout::Wild { .. } => {
                self.wild();
                self.out.push(':');
                self.wild();
            }
        }
    }

    fn trailing_comma(&mut self) {
        if matches!(self.layout, Layout::Wild { comments: true }) && self.choose(3) == 0 {
            self.wild();
            self.out.push(',');
        }
    }

    fn wild(&mut self) {
        let Layout::Wild { comments } = self.layout else { return };
        let blanks =
            ["", " ", "\n", "\r\n  ", "\t", "\n\n\t", "/* c, */", " // c }\n", "// c\r\n", "/**/\n "];
        let blank = blanks[self.choose(if comments { blanks.len() } else { 6 })];
        self.out.push_str(blank);
    }
}
