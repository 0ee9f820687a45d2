//! Documents and files the tests start from.

use std::collections::BTreeMap;
use std::path::Path;

use lockstep_task::document::{DocumentLimits, TaskDocument};
use lockstep_task::pointer::PointerResolver;
use lockstep_task::problem::{Diagnostics, DocumentProblem};
use lockstep_task::value::Value;
use lockstep_task::version::compare_and_swap::CurrentVersion;

/// A task after P3, with every section up to then.
pub(crate) const AFTER_P3: &str = "\
user_intent: Add login to the service
codebase_impact_map:
  modules:
    - name: auth
      files: [src/auth.rs]
      dependencies: [store]
  interfaces:
    - {from: api, to: auth, contract: login returns a session}
  risk_hotspots:
    - {file: src/session.rs, reason: shared by every handler}
architecture_decisions:
  - {id: AD-1, decision: Sessions live in the store, rationale: They survive a restart, status: ACCEPTED}
  - {id: AD-2, decision: Tokens are opaque, rationale: They can be revoked, status: ACCEPTED}
phase_status:
  P1: {status: COMPLETE, gate_record: phase-1/gate-record.yaml, l2_path: phase-1/lead/L2-summary.md}
  P2: {status: COMPLETE, l2_path: phase-2/research-coord/L2-summary.md}
  P3: {status: COMPLETE, l2_path: phase-3/arch-coord/L2-summary.md}
  P4: {status: IN_PROGRESS}
constraints:
  - {id: C-1, constraint: No new service, source: user}
  - {id: C-2, constraint: Keep the session format, source: AD-1}
";

pub(crate) fn everything(_: &Path) -> bool {
    true
}

pub(crate) fn nothing(_: &Path) -> bool {
    false
}

/// A lookup for which every file exists.
pub(crate) fn all() -> PointerResolver<'static> {
    PointerResolver::new(&everything)
}

pub(crate) fn document(text: &str) -> TaskDocument {
    TaskDocument::parse(text.as_bytes(), DocumentLimits::default()).unwrap()
}

pub(crate) fn after_p3() -> TaskDocument {
    document(AFTER_P3)
}

/// `document` with one replacement in its text, which must be there once.
pub(crate) fn edited(document: &TaskDocument, from: &str, to: &str) -> TaskDocument {
    let text = document.to_yaml();
    assert_eq!(text.matches(from).count(), 1, "{from:?} in\n{text}");
    self::document(&text.replace(from, to))
}

pub(crate) fn held(version: u64, document: &TaskDocument) -> CurrentVersion<'_> {
    CurrentVersion { version, delivered: false, document }
}

pub(crate) fn check(text: &str) -> Diagnostics {
    TaskDocument::read(text.as_bytes(), DocumentLimits::default(), &all()).findings
}

pub(crate) fn lines(problems: &[DocumentProblem]) -> String {
    problems.iter().map(|problem| format!("{problem}\n")).collect()
}

pub(crate) fn value(text: &str) -> Value {
    lockstep_task::yaml::read(text.as_bytes(), 1 << 20).unwrap()
}

/// A project held in memory.
#[derive(Default)]
pub(crate) struct Project(BTreeMap<String, String>);

impl Project {
    #[must_use]
    pub(crate) fn file(mut self, path: &str, text: impl Into<String>) -> Self {
        self.0.insert(path.to_owned(), text.into());
        self
    }

    /// A file or a directory that holds one.
    pub(crate) fn exists(&self, path: &Path) -> bool {
        self.0.keys().any(|file| Path::new(file).starts_with(path))
    }

    pub(crate) fn content(&self, path: &Path) -> Result<Vec<u8>, String> {
        let text = path.to_str().and_then(|path| self.0.get(path));
        text.map(|text| text.clone().into_bytes()).ok_or_else(|| "no such file".to_owned())
    }
}

/// An L2 file that passes.
pub(crate) fn l2(summary: &str) -> String {
    format!(
        "# L2 Summary\n\n## Summary\n{summary}\n\n## Findings\n- one\n\n## PT Goal Linkage\n- AD-1\n\n\
         ## Evidence Sources\n- src/auth.rs\n\n## Downstream Handoff\n\n\
         ### Decisions Made (forward-binding)\n- {summary} is decided\n\n### Risks Identified (must-track)\n- none\n\n\
         ### Interface Contracts (must-satisfy)\n- api → auth\n\n### Constraints (must-enforce)\n- C-1\n\n\
         ### Open Questions (requires resolution)\n- none\n\n### Artifacts Produced\n- none\n"
    )
}

/// A gate record that passes, for the gate after phase `n`.
pub(crate) fn gate(n: usize) -> String {
    let to = if n == 9 { "DELIVERED".to_owned() } else { format!("P{}", n + 1) };
    format!(
        "gate: G{n}\nphase_from: P{n}\nphase_to: {to}\ntier: TRIVIAL\ntimestamp: 2026-02-12T09:30:00Z\n\
         evidence: []\nchecklist:\n  - {{item: scope, status: PASS, evidence_ref: L2}}\n  \
         - {{item: tests, status: PASS, evidence_ref: L2}}\n  - {{item: review, status: PASS, evidence_ref: L2}}\n\
         verdict: PASS\njustification: All three hold.\ndownstream: {{}}\n"
    )
}
