//! Scratch: private data of a session, which later phases never read.
//!
//! It holds exactly three concerns (execution metrics, gate summaries, a version marker), and nothing else is
//! accepted, so that it cannot become a second source of truth next to the task.

use crate::access::{AccessDenial, AccessTable, Principal};
use crate::key_path::KeyPath;
use crate::pointer::PointerResolver;
use crate::problem::{Diagnostics, DocumentProblem};
use crate::value::{Map, MapExt, Value, ValueExt};
use crate::value_schema::{FieldSchema, ValueSchema, list, optional};
use crate::yaml;

pub const MAX_BYTES: usize = 256 * 1024;

pub const SCRATCH: ValueSchema = ValueSchema::Record(&CONCERNS);

const CONCERNS: [FieldSchema; 3] = [
    optional("execution_metrics", METRICS, "how many agents were started, which, and how long it took"),
    optional(
        "gate_summaries",
        ValueSchema::MapOf(&ValueSchema::Text),
        "what gates said, in short; the task points to their records",
    ),
    optional("gc_version", ValueSchema::Count, "the marker by which the session is found"),
];

const METRICS: ValueSchema = ValueSchema::Record(&[
    optional("spawn_count", ValueSchema::Count, "how many agents were started"),
    optional("spawn_log", list(&ValueSchema::Any), "which"),
    optional("timing", ValueSchema::MapOf(&ValueSchema::Any), "how long it took"),
]);

#[derive(Debug, Clone, PartialEq, Default)]
pub struct Scratch {
    root: Map,
}

impl Scratch {
    /// Reads scratch; refuses anything but the three concerns.
    pub fn read(bytes: &[u8]) -> Result<Self, Diagnostics> {
        let refuse = |what: String, fix: &str| Diagnostics {
            problems: vec![DocumentProblem::of("scratch", what, fix)],
            warnings: Vec::new(),
        };
        match yaml::read(bytes, MAX_BYTES) {
            Ok(Value::Null) => Ok(Self::default()),
            Ok(Value::Object(root)) => Self { root }.checked(),
            Ok(other) => Err(refuse(
                format!("expected a mapping, found {}", other.kind()),
                "write the three concerns as keys",
            )),
            Err(error) => Err(refuse(error.to_string(), "nothing was stored")),
        }
    }

    /// Returns a copy with `value` at `place`; refuses a place outside the three concerns.
    pub fn with(&self, place: &KeyPath, value: Value) -> Result<Self, Diagnostics> {
        let mut next = self.clone();
        let Some((last, path)) = place.keys().split_last() else {
            return Err(not_a_concern(&KeyPath::root()));
        };
        let mut map = &mut next.root;
        for key in path {
            let Some(inner) = map.entry(key).or_insert(Value::Null).map_mut() else {
                return Err(not_a_concern(place));
            };
            map = inner;
        }
        map.set(last, value);
        next.checked()
    }

    pub fn to_yaml(&self) -> String {
        yaml::write(&Value::Object(self.root.clone()))
    }

    pub fn root(&self) -> &Map {
        &self.root
    }

    fn checked(mut self) -> Result<Self, Diagnostics> {
        let nothing_exists = |_: &std::path::Path| false;
        let mut findings = SCRATCH.check(
            &Value::Object(self.root.clone()),
            &KeyPath::root(),
            &PointerResolver::new(&nothing_exists),
        );
        let unknown = std::mem::take(&mut findings.warnings);
        findings.problems.extend(unknown.into_iter().map(|warning| DocumentProblem {
            what: NOT_A_CONCERN.to_owned(),
            fix: WHERE_ELSE.to_owned(),
            ..warning
        }));
        if !findings.is_valid() {
            return Err(findings);
        }
        let rank = |key: &str| CONCERNS.iter().position(|field| field.name == key).unwrap_or(CONCERNS.len());
        self.root.sort_by_rank(rank);
        Ok(self)
    }
}

const NOT_A_CONCERN: &str =
    "scratch holds execution_metrics, gate_summaries and gc_version, and nothing else";
const WHERE_ELSE: &str = "what another phase needs belongs in the task, or in the L2 file of this one";

fn not_a_concern(place: &KeyPath) -> Diagnostics {
    Diagnostics {
        problems: vec![DocumentProblem::at(place, NOT_A_CONCERN, WHERE_ELSE)],
        warnings: Vec::new(),
    }
}

/// Returns an error if `principal` may not write scratch. An agent in its own context has no session.
pub fn may_write(principal: &Principal, table: &AccessTable) -> Result<(), AccessDenial> {
    if !table.rule(principal).fork {
        return Ok(());
    }
    Err(AccessDenial {
        who: principal.to_string(),
        what: "write scratch".to_owned(),
        rule: "a fork agent runs outside the session whose scratch it is".to_owned(),
        who_could: vec![Principal::Lead.to_string(), "an agent of the session".to_owned()],
    })
}
