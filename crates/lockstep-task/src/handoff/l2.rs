//! Reads and checks an L2 file: order of sections, complete handoff, existing artifacts.

use std::path::Path;

use super::{ARTIFACTS, CATEGORIES, HANDOFF, Handoff, HandoffCheck, L2_SECTIONS};
use crate::markdown::{Heading, outline};
use crate::pointer::PointerResolver;
use crate::problem::{Diagnostics, DocumentProblem};

/// The most bytes of an L2 file that are read.
pub const MAX_BYTES: usize = 1024 * 1024;

/// Checks the L2 file `file`, whose path is relative to the project's root.
///
/// Its artifacts may be named from the project's root, from the file's own directory, or from the directory
/// of the phases (`.agent/teams/SESSION`).
pub fn check(file: &Path, bytes: &[u8], lookup: &PointerResolver<'_>) -> HandoffCheck {
    let mut findings = Diagnostics::default();
    let mut handoff = Handoff::default();
    match text(bytes) {
        Ok(text) => {
            let sections: Vec<_> = outline(text, 0).into_iter().filter(|h| h.level == 2).collect();
            findings.problems.extend(check_order(&sections));
            if let Some(section) = sections.iter().find(|h| h.title == HANDOFF) {
                let lookup = lookup_for_file(file, lookup);
                handoff = check_handoff(section, &lookup, &mut findings);
            }
        }
        Err(problem) => findings.problems.push(problem),
    }
    HandoffCheck {
        file: file.display().to_string(),
        valid: findings.is_valid(),
        problems: findings.problems,
        warnings: findings.warnings,
        handoff,
    }
}

fn text(bytes: &[u8]) -> Result<&str, DocumentProblem> {
    if bytes.len() > MAX_BYTES {
        let what = format!("it has {} bytes, more than the {MAX_BYTES} that are read", bytes.len());
        return Err(DocumentProblem::of("L2", what, "an L2 file is a summary; move the detail to L3-full/"));
    }
    std::str::from_utf8(bytes).map_err(|e| {
        DocumentProblem::of(
            "L2",
            format!("it is not UTF-8 from byte {} on", e.valid_up_to()),
            "save it as UTF-8",
        )
    })
}

fn lookup_for_file<'a>(file: &Path, lookup: &PointerResolver<'a>) -> PointerResolver<'a> {
    let mut lookup = lookup.clone();
    let mut directories = file.ancestors().skip(1);
    if let Some(own) = directories.next() {
        lookup = lookup.with_base(own);
    }
    let is_phase = |dir: &&Path| dir.file_name().is_some_and(|n| n.to_string_lossy().starts_with("phase-"));
    match file.ancestors().find(is_phase).and_then(Path::parent) {
        Some(session) => lookup.with_base(session),
        None => lookup,
    }
}

/// Checks the required sections: each exists once, none is blank, the order is right, with the first first
/// and the last three last.
fn check_order(sections: &[Heading]) -> Vec<DocumentProblem> {
    let mut problems = Vec::new();
    for title in L2_SECTIONS {
        let found: Vec<_> = sections.iter().filter(|h| h.title == title).collect();
        let name = format!("## {title}");
        match found.as_slice() {
            [] => problems.push(DocumentProblem::of(
                &name,
                "the section is missing",
                format!("add {name:?}, exactly so"),
            )),
            [one] if one.is_blank() && title != HANDOFF => problems.push(blank(&name, one)),
            [_] => {}
            [_, second, ..] => problems.push(DocumentProblem::of(
                &name,
                format!("the section occurs twice, again on line {}", second.line),
                "bring both together",
            )),
        }
    }
    if problems.is_empty() {
        problems.extend(out_of_order(sections));
    }
    problems
}

fn out_of_order(sections: &[Heading]) -> Option<DocumentProblem> {
    let titles: Vec<_> = sections.iter().map(|h| h.title.as_str()).collect();
    let first = titles.first() == Some(&L2_SECTIONS[0]);
    let tail = titles.len() >= 3 && titles[titles.len() - 3..] == L2_SECTIONS[1..];
    (!first || !tail).then(|| {
        DocumentProblem::of(
            "L2",
            format!("the sections are out of order: {}", titles.join(", ")),
            "begin with Summary, then the sections of this role, and end with PT Goal Linkage, Evidence Sources, Downstream Handoff",
        )
    })
}

fn blank(name: &str, heading: &Heading) -> DocumentProblem {
    DocumentProblem::of(
        name,
        format!("it is empty (line {})", heading.line),
        "write its content, or `- none`",
    )
}

fn check_handoff(section: &Heading, lookup: &PointerResolver<'_>, findings: &mut Diagnostics) -> Handoff {
    let children = section.children();
    let mut handoff = Handoff { text: section.body.trim().to_owned(), ..Handoff::default() };
    for category in CATEGORIES {
        let name = format!("### {category}");
        match children.iter().filter(|h| is_category(&h.title, category)).collect::<Vec<_>>().as_slice() {
            [] => findings.problems.push(missing(&name, category, &children)),
            [one] if one.is_blank() => findings.problems.push(blank(&name, one)),
            [one] => *category_mut(&mut handoff, category) = category_items(one),
            [_, second, ..] => findings.problems.push(DocumentProblem::of(
                &name,
                format!("the category occurs twice, again on line {}", second.line),
                "bring both together",
            )),
        }
    }
    for other in
        children.iter().filter(|h| !CATEGORIES.iter().any(|category| is_category(&h.title, category)))
    {
        let fix = "the next phase reads the six categories; move it into one of them";
        findings.warnings.push(DocumentProblem::of(
            &format!("### {}", other.title),
            "this is not a category",
            fix,
        ));
    }
    handoff.artifacts = check_artifacts(&handoff.artifacts, lookup, findings);
    handoff
}

/// Returns true if a heading is that of a category, with or without the text in parentheses.
fn is_category(title: &str, category: &str) -> bool {
    let plain = category.split(" (").next().unwrap_or(category);
    title == category || title.trim_end_matches(':').trim_end() == plain
}

fn missing(name: &str, category: &str, children: &[Heading]) -> DocumentProblem {
    let short = category.split(" (").next().unwrap_or(category);
    let near = children.iter().find(|h| h.title.to_lowercase().starts_with(&short.to_lowercase()));
    let fix = match near {
        Some(near) => format!("rename \"### {}\" on line {} to {name:?}", near.title, near.line),
        None => format!("add {name:?} with what there is, or `- none`"),
    };
    DocumentProblem::of(name, "the category is missing", fix)
}

fn category_mut<'h>(handoff: &'h mut Handoff, category: &str) -> &'h mut Vec<String> {
    match CATEGORIES.iter().position(|c| *c == category) {
        Some(0) => &mut handoff.decisions,
        Some(1) => &mut handoff.risks,
        Some(2) => &mut handoff.interface_contracts,
        Some(3) => &mut handoff.constraints,
        Some(4) => &mut handoff.open_questions,
        _ => &mut handoff.artifacts,
    }
}

/// Returns the items of a category, or its text as one; "none" is not an item.
fn category_items(heading: &Heading) -> Vec<String> {
    let items = heading.items();
    let items = if items.is_empty() { vec![heading.body.trim().to_owned()] } else { items };
    items.into_iter().filter(|item| !is_none(item)).collect()
}

fn is_none(item: &str) -> bool {
    matches!(item.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase().as_str(), "none" | "n/a")
}

/// The files the items name, each of which must be there.
fn check_artifacts(
    items: &[String],
    lookup: &PointerResolver<'_>,
    findings: &mut Diagnostics,
) -> Vec<String> {
    let name = format!("### {ARTIFACTS}");
    let mut artifacts = Vec::new();
    for item in items {
        let paths = paths_in(item);
        if paths.is_empty() {
            findings.problems.push(DocumentProblem::of(
                &name,
                format!("{item:?} names no file"),
                "begin the item with the path, in backticks",
            ));
        }
        for path in paths {
            if let Err(fault) = lookup.resolve(&path) {
                findings.problems.push(DocumentProblem::of(&name, fault.describe(&path), fault.fix()));
            }
            artifacts.push(path);
        }
    }
    artifacts
}

/// Returns the paths that an item begins with: its code spans before the first dash, or its words between
/// commas.
fn paths_in(item: &str) -> Vec<String> {
    let head = [" — ", " – ", " - ", " ("]
        .iter()
        .filter_map(|mark| item.find(mark))
        .min()
        .map_or(item, |end| &item[..end]);
    if head.contains('`') {
        return head
            .split('`')
            .skip(1)
            .step_by(2)
            .map(|p| p.trim().to_owned())
            .filter(|p| !p.is_empty())
            .collect();
    }
    let head = head.split(": ").next().unwrap_or(head);
    head.split(',').map(|p| p.trim().to_owned()).filter(|p| !p.is_empty() && !p.contains(' ')).collect()
}
