//! The types of `[task]`: sizes, paths, and the access tables' fields.

use std::path::{Component, Path, PathBuf};

use lockstep_model::path::absolute_lexical;
use lockstep_task::access::{AgentRule, CreatePermission, Grant, SkillRule};
use lockstep_task::document::DocumentLimits;
use lockstep_task::handoff::scaffold::{self, PLACEHOLDERS};
use lockstep_task::phase::TaskPhase;
use toml::de::DeValue;

use crate::nested_tables::table_fields;
use crate::value::{
    ConfigEnum, ConfigValue, ValueError, ValueKind, config_number, config_text, list_toml, parse_path,
    read_list, string, toml_string,
};

config_number! {
    /// `[task] max_bytes`: from a sentence to a document that is plainly no list of pointers.
    pub struct MaxTaskBytes(usize) = DocumentLimits::default().max_bytes, in 256..=1024 * 1024
}

config_text! {
    /// `[task] l2_path`: the path of a phase's L2 file if the task does not name it.
    pub struct L2PathTemplate(String) = scaffold::L2_PATH, ValueKind::Path, |text| {
        let inside = Path::new(text).components().all(|part| matches!(part, Component::Normal(_)));
        if text.is_empty() || !inside {
            return Err(ValueError::text(text, "it is a path inside the project, relative to its root"));
        }
        let Some(unknown) = unknown_placeholder(text) else { return Ok(text) };
        let known = PLACEHOLDERS.map(|name| format!("{{{name}}}")).join(", ");
        Err(ValueError {
            fix: Some(format!("the placeholders are {known}")),
            ..ValueError::text(text, format!("{{{unknown}}} stands for nothing"))
        })
    }
}

fn unknown_placeholder(text: &str) -> Option<&str> {
    let names = text.split('{').skip(1).map(|rest| rest.split('}').next().unwrap_or(rest));
    names.into_iter().find(|name| !PLACEHOLDERS.contains(name))
}

config_text! {
    /// `[task] events`: the file of the task's audit.
    pub struct TaskAuditFile(String) = ".lockstep/events.jsonl", ValueKind::Path, |text| {
        if text.is_empty() || text.ends_with('/') {
            return Err(ValueError::text(text, "it names a file"));
        }
        parse_path(text).map(|_| text)
    }
}

impl TaskAuditFile {
    /// The file itself, for a project at `root`.
    pub fn resolve(&self, root: &Path) -> PathBuf {
        absolute_lexical(root, Path::new(&self.0))
    }
}

impl ConfigEnum for CreatePermission {
    const ALL: &'static [(Self, &'static str)] =
        &[(Self::None, "none"), (Self::Task, "task"), (Self::Any, "any")];
}

/// A text that can be an item of a list.
trait ListItem: Sized {
    /// The description of the value.
    const WHAT: &'static str;
    fn read(text: &str) -> Result<Self, String>;
    fn show(&self) -> String;
}

impl ListItem for Grant {
    const WHAT: &'static str = r#"a list of places of the task, such as ["phase_status", "constraints when CONDITIONAL_PASS"]; "*" is every place"#;

    fn read(text: &str) -> Result<Self, String> {
        text.parse().map_err(|error: lockstep_task::key_path::ParseKeyPathError| error.to_string())
    }

    fn show(&self) -> String {
        self.to_string()
    }
}

impl ListItem for TaskPhase {
    const WHAT: &'static str = r#"a list of phases, such as ["P7", "P8"]"#;

    fn read(text: &str) -> Result<Self, String> {
        text.parse().map_err(|error: lockstep_task::phase::ParsePhaseError| error.to_string())
    }

    fn show(&self) -> String {
        self.to_string()
    }
}

impl ListItem for String {
    const WHAT: &'static str = r#"a list of sections of the task, such as ["user_intent"]"#;

    fn read(text: &str) -> Result<Self, String> {
        if text.trim().is_empty() { Err("a section has a name".to_owned()) } else { Ok(text.to_owned()) }
    }

    fn show(&self) -> String {
        self.clone()
    }
}

impl<T: ListItem> ConfigValue for Vec<T> {
    const KIND: ValueKind = ValueKind::List(T::WHAT);

    fn read(value: &DeValue<'_>) -> Result<Self, ValueError> {
        read_list(value, |item| {
            let text = string(item)?;
            T::read(text).map_err(|why| ValueError::text(text, why))
        })
    }

    fn to_toml(&self) -> String {
        list_toml(self, |item| toml_string(&item.show()))
    }
}

table_fields!(AgentRule, example "reviewer" { r#"update = ["constraints"]"# }, {
    /// The tasks it may create: `none`, `task` (the task, while there is none), or `any`.
    create: CreatePermission;
    /// The places of the task it may update. An empty list is none.
    update: Vec<Grant>;
    /// True if it runs in its own context, and so may not write scratch.
    fork: bool;
    /// True if it may still update a delivered task when no skill is named.
    after_delivery: bool;
});

table_fields!(SkillRule, example "release-notes" { r#"phases = ["P9"]"#, r#"writes = ["metrics"]"# }, {
    /// The phases it runs. It may write their entries in `phase_status`.
    phases: Vec<TaskPhase>;
    /// The additional places of the task it may write.
    writes: Vec<Grant>;
    /// The sections that must be there when it starts.
    must_read: Vec<String>;
    /// The sections it is shown where they are there.
    may_read: Vec<String>;
    /// True if it may still write to a delivered task.
    after_delivery: bool;
});
