//! Finds dependents: the same analysis as `lockstep impact`, in the types of a cascade.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use lockstep_cascade::Cascade;
use lockstep_cascade::event::{
    CascadeDependent, CheckFindings, FileStaleness, GroupingInput, VerificationResult,
};
use lockstep_cascade::state::{Assignment, OriginalDigest, RootCause};
use lockstep_index::index::{Index, NoProgress};
use lockstep_refs::impact::{self, Hop, Impact};
use lockstep_refs::language;
use lockstep_refs::reference::{Certainty, Kind};
use lockstep_refs::world::World;

use super::inspector::DiskInspector;
use crate::error::{CommandError, CommandResult};
use crate::impact::analysis::{ImpactAnalysis, deadline_after};

/// The time limit of one analysis.
const TIME_LIMIT: Duration = Duration::from_secs(60);

/// The kind of a dependent that the verification named.
const VERIFICATION_KIND: &str = "verify";

/// For more files, import cycles are not searched.
const MAX_FILES_FOR_CYCLES: usize = 2_000;

/// Dependents of the present iteration's changes, and references that still do not fit the original change.
pub(super) fn of_cascade(disk: &DiskInspector<'_>, cascade: &Cascade) -> CommandResult<CheckFindings> {
    let index = disk.tree.open_index(&NoProgress)?;
    let analysis = analyse(disk, &index, &cascade.changed())?;
    let mut dependents = dependents(&analysis.impact);
    let total = analyse(disk, &index, &cascade.all_changed())?.impact;
    settle(&mut dependents, &total);
    let key = |cascade_dependent: &CascadeDependent| {
        (cascade_dependent.path.clone(), cascade_dependent.cause.clone(), cascade_dependent.pattern.clone())
    };
    let known: BTreeSet<_> = dependents.iter().map(key).collect();
    let broken = still_broken(&total);
    dependents.extend(broken.into_iter().filter(|candidate| !known.contains(&key(candidate))));
    let direct =
        dependents.iter().filter(|dependent| dependent.direct).map(|dependent| dependent.path.clone());
    let terrain = grouping_input(&index, &direct.collect());
    let unknown = analysis.impact.files.iter().filter(|file| file.whole_file);
    let warnings = unknown
        .map(|file| {
            format!("{}: its former content is unknown, so what it breaks cannot be told.", file.path)
        })
        .collect();
    Ok(CheckFindings { dependents, oracle: None, terrain, warnings })
}

/// Marks dependents as fitting if everything that changed since the cascade began does not break them, although
/// the last iteration alone seems to. A signature may only have followed a type that was renamed before.
fn settle(dependents: &mut [CascadeDependent], total: &Impact) {
    let known: BTreeSet<&str> =
        total.files.iter().filter(|file| !file.whole_file).map(|file| &*file.path).collect();
    let broken: BTreeSet<(&str, &str)> = total
        .dependents()
        .filter(|(_, dependent)| dependent.breaks)
        .map(|(file, dependent)| (&*file.path, &*dependent.path))
        .collect();
    let own: Vec<CascadeDependent> = own_references(total).into_iter().chain(unparsed(total)).collect();
    let claimed = dependents.iter_mut().filter(|dependent| dependent.breaks == Some(true));
    for dependent in claimed.filter(|claimed| known.contains(&*claimed.cause)) {
        let is_broken = match dependent.is_own() {
            true => own.iter().any(|candidate| {
                (&candidate.path, &candidate.pattern) == (&dependent.path, &dependent.pattern)
            }),
            false => broken.contains(&(&*dependent.cause, &*dependent.path)),
        };
        dependent.breaks = Some(is_broken);
    }
}

/// The direct dependents that certainly do not fit. Those that only types could judge were judged with their group.
fn still_broken(impact: &Impact) -> Vec<CascadeDependent> {
    let certain = |evidence: &impact::Evidence| evidence.breaks && evidence.certainty == Certainty::Resolved;
    let broken: BTreeSet<(&str, &str)> = impact
        .dependents()
        .filter(|(_, dependent)| dependent.evidence.iter().any(certain))
        .map(|(file, dependent)| (file.path.as_str(), dependent.path.as_str()))
        .collect();
    let mut dependents = dependents(impact);
    dependents.retain(|dependent| {
        dependent.is_own() || dependent.direct && broken.contains(&(&*dependent.cause, &*dependent.path))
    });
    dependents
}

/// Adds the grouping input for the files that a verification named.
pub(super) fn add_grouping_input(
    disk: &DiskInspector<'_>,
    findings: &mut CheckFindings,
    oracle: &VerificationResult,
) -> CommandResult<()> {
    if oracle.failures.is_empty() {
        return Ok(());
    }
    let index = disk.tree.open_index(&NoProgress)?;
    let named = oracle.failures.iter().map(|(path, _)| path.clone());
    let direct = findings.dependents.iter().filter(|dependent| dependent.direct);
    let all: BTreeSet<String> = direct.map(|dependent| dependent.path.clone()).chain(named).collect();
    findings.terrain = grouping_input(&index, &all);
    Ok(())
}

fn analyse(disk: &DiskInspector<'_>, index: &Index, causes: &[RootCause]) -> CommandResult<ImpactAnalysis> {
    let analysis = ImpactAnalysis::of(
        &disk.tree.root,
        index,
        &disk.tree.aliases(),
        &disk.edits(causes),
        &deadline_after(TIME_LIMIT),
    );
    if analysis.impact.truncated {
        let seconds = TIME_LIMIT.as_secs();
        return Err(CommandError::store(format!("the analysis took longer than {seconds} s")));
    }
    Ok(analysis)
}

/// Returns the dependents of an impact, with all of their evidence; those that no longer fit come first.
pub(super) fn dependents(impact: &Impact) -> Vec<CascadeDependent> {
    let dependent = |(file, dependent): (&impact::FileImpact, &impact::Dependent)| CascadeDependent {
        path: dependent.path.clone(),
        cause: file.path.clone(),
        direct: dependent.hop == Hop::Direct,
        pattern: dependent.pattern.clone(),
        evidence: lines(dependent, |_| true),
        kind: Some(dependent.kind.word().to_owned()),
        breaks: Some(dependent.breaks),
    };
    impact.dependents().map(dependent).chain(own_references(impact)).chain(unparsed(impact)).collect()
}

/// The changed files that parsed before the change and do not parse now: nothing is known about their references.
fn unparsed(impact: &Impact) -> impl Iterator<Item = CascadeDependent> {
    unparsed_lines(impact).map(|(path, evidence)| CascadeDependent {
        path: path.to_owned(),
        cause: path.to_owned(),
        direct: true,
        pattern: "syntax error".to_owned(),
        evidence: vec![evidence],
        kind: Some("syntax".to_owned()),
        breaks: Some(true),
    })
}

fn unparsed_lines(impact: &Impact) -> impl Iterator<Item = (&str, String)> {
    let line = |file: &impact::FileImpact| Some(format!("{}:{}:does not parse", file.path, file.unparsed?));
    impact.files.iter().filter_map(move |file| Some((file.path.as_str(), line(file)?)))
}

/// The changed files that broke references in themselves, one entry for each name.
fn own_references(impact: &Impact) -> Vec<CascadeDependent> {
    let mut found: Vec<CascadeDependent> = Vec::new();
    for (file, broken) in impact.broken_in_files() {
        let evidence = own_line(&file.path, broken);
        let pattern = &broken.evidence.pattern;
        match found.iter_mut().find(|known| known.path == file.path && known.pattern == *pattern) {
            Some(known) => known.evidence.push(evidence),
            None => found.push(CascadeDependent {
                path: file.path.clone(),
                cause: file.path.clone(),
                direct: true,
                pattern: pattern.clone(),
                evidence: vec![evidence],
                kind: Some(broken.evidence.kind.word().to_owned()),
                breaks: Some(true),
            }),
        }
    }
    found
}

fn own_line(path: &str, broken: &impact::BrokenReference) -> String {
    format!("{path}:{}:{}", broken.evidence.line, broken.evidence.text)
}

fn lines(dependent: &impact::Dependent, wanted: impl Fn(&impact::Evidence) -> bool) -> Vec<String> {
    let evidence = dependent.evidence.iter().filter(|evidence| wanted(evidence));
    evidence.map(|evidence| format!("{}:{}:{}", dependent.path, evidence.line, evidence.text)).collect()
}

/// Returns the stale lines of the assigned files of the present iteration.
pub(super) fn stale_lines(
    disk: &DiskInspector<'_>,
    cascade: &Cascade,
) -> CommandResult<BTreeMap<String, FileStaleness>> {
    let Some(iteration) = cascade.iteration() else { return Ok(BTreeMap::new()) };
    let index = disk.tree.open_index(&NoProgress)?;
    // The causes and the files that follow them are one set of edits: a line that was written for the change fits it.
    let edits: Vec<RootCause> = iteration.causes.iter().cloned().chain(touched(cascade)).collect();
    let analysis = analyse(disk, &index, &edits)?;
    let is_cause = |file: &impact::FileImpact| iteration.causes.iter().any(|cause| cause.path == file.path);
    let known: BTreeSet<&str> = iteration
        .causes
        .iter()
        .filter(
            |cause| matches!(&cause.before, OriginalDigest::Content(digest) if disk.text(digest).is_some()),
        )
        .map(|cause| cause.path.as_str())
        .collect();
    let mut certain: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (file, broken) in analysis.impact.broken_in_files() {
        certain.entry(&file.path).or_default().push(own_line(&file.path, broken));
    }
    for (path, line) in unparsed_lines(&analysis.impact) {
        certain.entry(path).or_default().push(line);
    }
    let mut possible: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    let broken = |(file, dependent): &(&impact::FileImpact, &impact::Dependent)| {
        is_cause(file) && dependent.hop == Hop::Direct && dependent.breaks
    };
    for (_, dependent) in analysis.impact.dependents().filter(broken) {
        let sure = |evidence: &impact::Evidence| evidence.certainty == Certainty::Resolved;
        let stale = lines(dependent, |evidence| evidence.breaks && sure(evidence));
        let doubtful = lines(dependent, |evidence| evidence.breaks && !sure(evidence));
        certain.entry(&dependent.path).or_default().extend(stale);
        possible.entry(&dependent.path).or_default().extend(doubtful);
    }
    let mentions = mentions(&analysis.impact, is_cause);
    let assigned = iteration.groups.iter().flat_map(|group| &group.files);
    Ok(assigned
        .map(|file| {
            let mut stale = certain.remove(file.path.as_str()).unwrap_or_default();
            if file.dependencies.iter().any(|need| need.kind.as_deref() == Some(Kind::Mention.word())) {
                stale.extend(mentions.get(file.path.as_str()).into_iter().flatten().cloned());
            }
            stale.extend(remaining_evidence(disk, file, &known));
            let doubtful = possible.remove(file.path.as_str()).unwrap_or_default();
            (file.path.clone(), classify_staleness(file, stale, &doubtful))
        })
        .collect())
}

/// Returns the assigned files that changed since the iteration began, with their former contents.
fn touched(cascade: &Cascade) -> Vec<RootCause> {
    let Some(iteration) = cascade.iteration() else { return Vec::new() };
    let is_cause = |path: &str| iteration.causes.iter().any(|cause| cause.path == path);
    let before = iteration.before.iter().filter(|(path, _)| !is_cause(path));
    before
        .map(|(path, before)| RootCause { path: path.clone(), from: None, before: before.clone().into() })
        .collect()
}

/// Returns the lines that still mention something removed or renamed, by file.
fn mentions(impact: &Impact, is_cause: impl Fn(&impact::FileImpact) -> bool) -> BTreeMap<&str, Vec<String>> {
    let mut found: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    let direct = |(file, dependent): &(&impact::FileImpact, &impact::Dependent)| {
        is_cause(file) && dependent.hop == Hop::Direct
    };
    for (_, dependent) in impact.dependents().filter(direct) {
        let lines = lines(dependent, |evidence| evidence.kind == Kind::Mention);
        found.entry(&dependent.path).or_default().extend(lines);
    }
    found
}

fn classify_staleness(file: &Assignment, mut stale: Vec<String>, doubtful: &[String]) -> FileStaleness {
    stale.dedup();
    if !stale.is_empty() {
        return FileStaleness::Stale(stale);
    }
    if let Some(line) = doubtful.first() {
        return FileStaleness::Unknown(format!("without types it cannot be decided whether it fits: {line}"));
    }
    if file.dependencies.iter().any(|need| need.kind.as_deref() == Some(VERIFICATION_KIND)) {
        return FileStaleness::Unknown("only the verification can tell whether it fits".to_owned());
    }
    FileStaleness::Clean
}

/// Returns the stale lines for causes whose former content is unknown: lines of evidence that still exist and
/// contain the name.
fn remaining_evidence(disk: &DiskInspector<'_>, file: &Assignment, known: &BTreeSet<&str>) -> Vec<String> {
    let in_the_dark = |need: &&CascadeDependent| {
        need.breaks != Some(false)
            && need.kind.as_deref() != Some(VERIFICATION_KIND)
            && !known.contains(need.cause.as_str())
    };
    let dependencies: Vec<&CascadeDependent> = file.dependencies.iter().filter(in_the_dark).collect();
    if dependencies.is_empty() {
        return Vec::new();
    }
    let text = disk.current_text(&file.path).unwrap_or_default();
    let mut stale = Vec::new();
    for need in dependencies {
        for evidence in &need.evidence {
            let source_line = evidence_text(evidence).trim();
            let found = text.lines().enumerate().find(|(_, line)| {
                !source_line.is_empty() && line.contains(source_line) && has_word(line, &need.pattern)
            });
            stale.extend(found.map(|(at, line)| format!("{}:{}:{line}", file.path, at + 1)));
        }
    }
    stale
}

/// The text of `file:line:text`.
fn evidence_text(evidence: &str) -> &str {
    let mut rest = evidence;
    while let Some((_, after)) = rest.split_once(':') {
        let digits = after.split(':').next().unwrap_or_default();
        if let Some(text) = after.strip_prefix(digits).and_then(|text| text.strip_prefix(':'))
            && !digits.is_empty()
            && digits.chars().all(|c| c.is_ascii_digit())
        {
            return text;
        }
        rest = after;
    }
    evidence
}

/// Returns true if a line contains the name as a complete word.
fn has_word(line: &str, name: &str) -> bool {
    let word = |c: char| c.is_alphanumeric() || c == '_';
    name.is_empty()
        || line
            .match_indices(name)
            .any(|(at, _)| !line[..at].ends_with(word) && !line[at + name.len()..].starts_with(word))
}

/// Sizes of files, and which of them import each other in a circle.
pub(super) fn grouping_input(index: &Index, files: &BTreeSet<String>) -> GroupingInput {
    let mut terrain = GroupingInput::default();
    for path in files {
        let size = index.find(path).and_then(|file| index.text(file)).map_or(0, |text| text.len() as u64);
        terrain.sizes.insert(path.clone(), size);
    }
    if files.len() <= MAX_FILES_FOR_CYCLES {
        let graph: BTreeMap<&str, BTreeSet<String>> =
            files.iter().map(|path| (path.as_str(), imports(index, path, Some(files)))).collect();
        terrain.cycles = strongly_connected_sets(&graph);
    }
    terrain
}

/// Returns the files that a file imports, limited to `among` if that is given.
pub(super) fn imports(index: &Index, path: &str, among: Option<&BTreeSet<String>>) -> BTreeSet<String> {
    let Some(file) = index.find(path) else { return BTreeSet::new() };
    let Some(facts) = index.facts(file) else { return BTreeSet::new() };
    let outgoing = language::rules(facts.language).outgoing(index, file);
    let targets = outgoing.references.iter().map(|(target, _)| index.path(*target).to_owned());
    targets.filter(|target| target != path && among.is_none_or(|among| among.contains(target))).collect()
}

/// Returns the sets of nodes that reach each other.
fn strongly_connected_sets(graph: &BTreeMap<&str, BTreeSet<String>>) -> Vec<BTreeSet<String>> {
    let reaches = |from: &str| {
        let mut seen: BTreeSet<&str> = BTreeSet::new();
        let mut open = vec![from];
        while let Some(node) = open.pop() {
            for next in graph.get(node).into_iter().flatten() {
                if seen.insert(next) {
                    open.push(next);
                }
            }
        }
        seen
    };
    let reached: BTreeMap<&str, BTreeSet<&str>> = graph.keys().map(|node| (*node, reaches(node))).collect();
    let mut cycles: Vec<BTreeSet<String>> = Vec::new();
    for (node, beyond) in &reached {
        if !beyond.contains(node) || cycles.iter().any(|cycle| cycle.contains(*node)) {
            continue;
        }
        let together = beyond.iter().filter(|other| reached[*other].contains(node));
        cycles.push(together.map(ToString::to_string).collect());
    }
    cycles
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_of_a_line_of_evidence() {
        for (evidence, text) in [
            ("a.rs:3:use a::b;", "use a::b;"),
            ("C:/x:12:y: 4: z", "y: 4: z"),
            ("a:b:7:", ""),
            ("no evidence", "no evidence"),
        ] {
            assert_eq!(evidence_text(evidence), text, "{evidence}");
        }
    }

    #[test]
    fn names_are_whole_words() {
        assert!(has_word("let x = greet(1);", "greet"));
        assert!(!has_word("greeting();", "greet") && !has_word("re_greet", "greet"));
        assert!(has_word("anything", ""));
    }

    #[test]
    fn circles_are_found() {
        let edges =
            [("a", vec!["b"]), ("b", vec!["c"]), ("c", vec!["a"]), ("d", vec!["a"]), ("e", vec!["e"])];
        let graph =
            edges.iter().map(|(from, to)| (*from, to.iter().map(ToString::to_string).collect())).collect();
        let found: Vec<Vec<String>> =
            strongly_connected_sets(&graph).into_iter().map(|c| c.into_iter().collect()).collect();
        assert_eq!(found, [vec!["a", "b", "c"], vec!["e"]]);
    }
}
