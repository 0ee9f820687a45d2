//! Reads the L1 of an impact report (boundary B4), from which a cascade starts.
//!
//! The text is untrusted. A report that cannot be parsed is unusable, with a reason: missing data is never
//! treated as "no impacts". Paths outside the project are left out with a warning. The caller checks that
//! files exist.

use serde::Deserialize;

use crate::event::CascadeDependent;
use crate::yaml;

/// The longest report that is read: some 50,000 dependents.
pub const MAX_BYTES: usize = 16 << 20;

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CascadeInput {
    /// The files that changed, with those that depend on them.
    pub impacts: Vec<ImpactedFile>,
    /// Warnings about the basis of the cascade, for its report.
    pub warnings: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImpactedFile {
    /// Relative to the root.
    pub path: String,
    /// The files that depend on it, at any distance.
    pub dependents: Vec<CascadeDependent>,
}

/// The reason why a cascade cannot start from a report.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CascadeInputError {
    #[error(
        "the impact report is empty: there is no data to act on, which does not mean that there are no impacts"
    )]
    Empty,
    /// There is no report.
    #[error("the impact report cannot be read: {0}")]
    Missing(String),
    /// The text is not an impact report.
    #[error("the impact report is malformed: {0}")]
    Malformed(String),
    /// The analysis was not made.
    #[error("the impact report says `status: skipped`: nothing was analysed")]
    Skipped,
}

#[derive(Deserialize)]
struct RawImpactReport {
    domain: Option<String>,
    skill: Option<String>,
    status: Option<String>,
    confidence: Option<String>,
    impacts: Option<Vec<RawImpact>>,
}

#[derive(Deserialize)]
struct RawImpact {
    changed_file: String,
    dependents: Option<Vec<RawDependent>>,
    broken_in_file: Option<Vec<RawBroken>>,
}

#[derive(Deserialize)]
struct RawBroken {
    reference_pattern: Option<String>,
    evidence: Option<String>,
    kind: Option<String>,
}

#[derive(Deserialize)]
struct RawDependent {
    file: String,
    r#type: Option<String>,
    hop_count: Option<u32>,
    reference_pattern: Option<String>,
    evidence: Option<String>,
    kind: Option<String>,
    breaks: Option<bool>,
}

/// Reads the L1 of a project at `root`, which is absolute.
pub fn read(bytes: &[u8], root: &str) -> Result<CascadeInput, CascadeInputError> {
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Err(CascadeInputError::Empty);
    }
    let raw: Option<RawImpactReport> = yaml::read(bytes, MAX_BYTES).map_err(CascadeInputError::Malformed)?;
    let raw = raw.ok_or(CascadeInputError::Empty)?;
    check_kind(&raw)?;
    let mut input = CascadeInput::default();
    let partial = raw.status.as_deref() == Some("partial");
    let low = raw.confidence.as_deref() == Some("low");
    if partial || low {
        let what = if partial { "partial" } else { "of low confidence" };
        input
            .warnings
            .push(format!("The impact report is {what}: there may be dependents it does not name."));
    }
    let impacts =
        raw.impacts.ok_or_else(|| CascadeInputError::Malformed("it has no `impacts`".to_owned()))?;
    for impact in impacts {
        let Some(path) = accept_path(&impact.changed_file, root, &mut input.warnings) else { continue };
        let mut dependents = Vec::new();
        for dependent in impact.dependents.unwrap_or_default() {
            dependents.extend(read_dependent(dependent, &path, root, &mut input.warnings)?);
        }
        dependents.extend(own_references(&path, impact.broken_in_file.unwrap_or_default()));
        input.impacts.push(ImpactedFile { path, dependents });
    }
    Ok(input)
}

fn check_kind(raw: &RawImpactReport) -> Result<(), CascadeInputError> {
    let is = |value: &Option<String>, expected: &str| value.as_deref().is_none_or(|value| value == expected);
    if !is(&raw.domain, "execution") || !is(&raw.skill, "impact") {
        let (domain, skill) = (raw.domain.as_deref().unwrap_or("?"), raw.skill.as_deref().unwrap_or("?"));
        return Err(CascadeInputError::Malformed(format!(
            "it is the report of {domain}/{skill}, not of execution/impact"
        )));
    }
    match raw.status.as_deref() {
        Some("skipped") => Err(CascadeInputError::Skipped),
        None | Some("complete" | "partial") => Ok(()),
        Some(other) => Err(CascadeInputError::Malformed(format!(
            "`status: {other}` is none of complete, partial, skipped"
        ))),
    }
}

fn read_dependent(
    raw: RawDependent,
    cause: &str,
    root: &str,
    warnings: &mut Vec<String>,
) -> Result<Option<CascadeDependent>, CascadeInputError> {
    let direct = match (raw.r#type.as_deref(), raw.hop_count) {
        (Some("DIRECT"), None | Some(1)) | (None, Some(1)) => true,
        (Some("TRANSITIVE"), None | Some(2..)) | (None, Some(2..)) => false,
        (kind, hops) => {
            let or_absent = |value: Option<String>| value.unwrap_or_else(|| "absent".to_owned());
            return Err(CascadeInputError::Malformed(format!(
                "the dependent {:?} has type {} and hop_count {}, which do not fit",
                raw.file,
                or_absent(kind.map(str::to_owned)),
                or_absent(hops.map(|hops| hops.to_string()))
            )));
        }
    };
    let Some(path) = accept_path(&raw.file, root, warnings) else { return Ok(None) };
    if path == cause {
        warnings.push(format!("{path} is named as a dependent of itself; it is left out."));
        return Ok(None);
    }
    Ok(Some(CascadeDependent {
        path,
        cause: cause.to_owned(),
        direct,
        pattern: raw.reference_pattern.unwrap_or_default(),
        evidence: raw.evidence.into_iter().filter(|line| !line.is_empty()).collect(),
        kind: raw.kind,
        breaks: raw.breaks,
    }))
}

/// Returns the references that a changed file broke in itself, one entry for each name. The file must follow
/// its own change.
fn own_references(path: &str, broken: Vec<RawBroken>) -> Vec<CascadeDependent> {
    let mut found: Vec<CascadeDependent> = Vec::new();
    for raw in broken {
        let pattern = raw.reference_pattern.unwrap_or_default();
        let evidence = raw.evidence.filter(|line| !line.is_empty());
        match found.iter_mut().find(|known| known.pattern == pattern) {
            Some(known) => known.evidence.extend(evidence),
            None => found.push(CascadeDependent {
                path: path.to_owned(),
                cause: path.to_owned(),
                direct: true,
                pattern,
                evidence: evidence.into_iter().collect(),
                kind: raw.kind,
                breaks: Some(true),
            }),
        }
    }
    found
}

/// Returns the path relative to the root. If the path is outside the project, adds a warning and returns
/// `None`.
fn accept_path(path: &str, root: &str, warnings: &mut Vec<String>) -> Option<String> {
    match relative(path, root) {
        Ok(path) => Some(path),
        Err(why) => {
            warnings.push(format!("{path:?} is left out: {why}."));
            None
        }
    }
}

/// Converts an untrusted path to one relative to the project's root. The disk is not accessed.
pub fn relative(path: &str, root: &str) -> Result<String, &'static str> {
    if path.is_empty() || path.contains(|c: char| c.is_control()) {
        return Err("it is not a path");
    }
    let inside = match path.strip_prefix('/') {
        Some(_) => {
            let rest = path.strip_prefix(root.trim_end_matches('/')).ok_or("it is outside the project")?;
            rest.strip_prefix('/').ok_or("it is outside the project")?
        }
        None => path,
    };
    let mut parts: Vec<&str> = Vec::new();
    for part in inside.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop().ok_or("it is outside the project")?),
            part => parts.push(part),
        }
    }
    match parts.first() {
        None => Err("it is the project's root"),
        Some(&(".git" | ".lockstep")) => Err("it is not a file of the project's own"),
        Some(_) => Ok(parts.join("/")),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const REPORT: &str = "\
domain: execution
skill: impact
status: complete
confidence: high
files_changed: 1
impact_candidates: 2
degradation_level: full
impacts:
  - changed_file: /p/a.py
    dependents:
      - file: /p/b.py
        type: DIRECT
        hop_count: 1
        reference_pattern: greet
        evidence: \"b.py:3:from a import greet\"
        kind: symbol
        breaks: true
      - file: /p/c.py
        type: TRANSITIVE
        hop_count: 2
        reference_pattern: hello
        evidence: \"c.py:1:import b\"
    dependent_count: 2
cascade_recommended: true
cascade_rationale: \"because\"
index: {fresh: true, revision: x}
";

    fn unusable(text: &str) -> String {
        read(text.as_bytes(), "/p").unwrap_err().to_string()
    }

    #[test]
    fn a_report_is_read() {
        let input = read(REPORT.as_bytes(), "/p").unwrap();
        assert_eq!(input.warnings, [] as [String; 0]);
        let [changed] = &input.impacts[..] else { panic!("{input:?}") };
        assert_eq!(changed.path, "a.py");
        let [b, c] = &changed.dependents[..] else { panic!("{changed:?}") };
        assert_eq!((b.path.as_str(), b.direct, b.breaks), ("b.py", true, Some(true)));
        assert_eq!(
            (b.pattern.as_str(), &b.evidence[..]),
            ("greet", &["b.py:3:from a import greet".to_owned()][..])
        );
        assert_eq!((c.path.as_str(), c.direct, c.breaks), ("c.py", false, None));
    }

    #[test]
    fn references_broken_in_the_changed_file_are_work_on_that_file() {
        let own = "    broken_in_file:\n      - line: 6\n        reference_pattern: greet\n        \
                   evidence: \"a.py:6:greet()\"\n        kind: symbol\n        reason: \"greet is now salute\"\n\
                   cascade_recommended";
        let input = read(REPORT.replace("cascade_recommended", own).as_bytes(), "/p").unwrap();
        let found = input.impacts[0].dependents.last().unwrap();
        assert_eq!((found.path.as_str(), found.cause.as_str(), found.breaks), ("a.py", "a.py", Some(true)));
        assert_eq!(found.evidence, ["a.py:6:greet()"]);
        assert_eq!(input.warnings, [] as [String; 0]);
    }

    #[test]
    fn weak_basis_is_reported_as_warnings() {
        for (from, to) in [("status: complete", "status: partial"), ("confidence: high", "confidence: low")] {
            let input = read(REPORT.replace(from, to).as_bytes(), "/p").unwrap();
            assert!(input.warnings[0].contains("may be dependents it does not name"), "{:?}", input.warnings);
        }
    }

    #[test]
    fn no_data_differs_from_no_impacts() {
        for text in ["", " \n\t", "null", "~\n", "---\n"] {
            assert!(matches!(read(text.as_bytes(), "/p"), Err(CascadeInputError::Empty)), "{text:?}");
        }
        assert_eq!(read(b"impacts: []", "/p"), Ok(CascadeInput::default()));
        assert_eq!(unusable("status: skipped\nimpacts: []"), CascadeInputError::Skipped.to_string());
    }

    #[test]
    fn malformed_input_is_refused_with_a_reason() {
        for (text, why) in [
            ("a: b", "no `impacts`"),
            ("impacts: 3", "line 1"),
            ("impacts: {", ""),
            ("domain: execution\nskill: cascade\nimpacts: []", "execution/cascade"),
            ("status: maybe\nimpacts: []", "none of complete"),
            ("impacts:\n  - dependents: []", "changed_file"),
            (
                "impacts:\n  - changed_file: a\n    dependents:\n      - file: b\n",
                "type absent and hop_count absent",
            ),
            (
                "impacts:\n  - changed_file: a\n    dependents:\n      - {file: b, type: DIRECT, hop_count: 2}\n",
                "do not fit",
            ),
            ("a: &x 1\nimpacts: []", "anchors"),
            ("a: *x\nimpacts: []", "anchors"),
            ("impacts: []\nimpacts: []", ""),
            ("impacts: []\n---\nimpacts: []", ""),
            ("- 1\n- 2", ""),
            ("\u{0}", ""),
        ] {
            let error = unusable(text);
            assert!(
                error.starts_with("the impact report is malformed") && error.contains(why),
                "{text:?}: {error}"
            );
        }
        assert!(read(b"\xff\xfe", "/p").unwrap_err().to_string().contains("offset 0"));
    }

    #[test]
    fn a_text_that_would_grow_is_refused() {
        let mut bomb = "a0: &a0 [x]\n".to_owned();
        for n in 1..30 {
            bomb += &format!("a{n}: &a{n} [*a{0}, *a{0}, *a{0}, *a{0}]\n", n - 1);
        }
        assert!(unusable(&(bomb + "impacts: []")).contains("anchors"));
        assert!(
            unusable(&format!("impacts: {}{}", "[".repeat(5_000), "]".repeat(5_000))).contains("malformed")
        );
        assert!(unusable(&"x".repeat(MAX_BYTES + 1)).contains("more than"));
    }

    #[test]
    fn a_large_report_is_read() {
        let mut text = "impacts:\n  - changed_file: a\n    dependents:\n".to_owned();
        for n in 0..30_000 {
            text += &format!(
                "      - {{file: src/f{n}.rs, type: DIRECT, hop_count: 1, evidence: \"e:1:{n}\"}}\n"
            );
        }
        assert_eq!(read(text.as_bytes(), "/p").unwrap().impacts[0].dependents.len(), 30_000);
    }

    #[test]
    fn paths_that_lead_elsewhere_are_left_out() {
        for (path, expected) in [
            ("/p/a", Some("a")),
            ("a/./b//c", Some("a/b/c")),
            ("a/../b", Some("b")),
            ("/p/../p/a", None),
            ("/p", None),
            ("/pa", None),
            ("/", None),
            (".", None),
            ("../p/a", None),
            ("a/../../b", None),
            ("/etc/passwd", None),
            (".git/config", None),
            (".lockstep/state.db", None),
            ("a\nb", None),
            ("a\0b", None),
            ("", None),
        ] {
            assert_eq!(relative(path, "/p").ok().as_deref(), expected, "{path:?}");
        }
        let text = "impacts:\n  - changed_file: a\n    dependents:\n      \
                    - {file: /etc/passwd, type: DIRECT}\n      - {file: a, type: DIRECT}\n  \
                    - changed_file: ../../b\n";
        let input = read(text.as_bytes(), "/p").unwrap();
        assert_eq!(input.impacts, [ImpactedFile { path: "a".to_owned(), dependents: vec![] }]);
        assert_eq!(input.warnings.len(), 3, "{:?}", input.warnings);
    }

    proptest! {
        #[test]
        fn no_text_panics_and_no_path_escapes(text in ".{0,200}", path in "[a./\\\\~ ]{0,12}") {
            let _ = read(text.as_bytes(), "/p");
            if let Ok(inside) = relative(&path, "/p") {
                prop_assert!(!inside.starts_with('/') && inside.split('/').all(|part| part != ".." && !part.is_empty()));
            }
        }
    }
}
