//! The files that an edit breaks.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use lockstep_refs::language::Language;
use lockstep_refs::world::parent;

use super::checkers::{Checker, Problem, unchecked_files};
use super::checkout::{Change, Checkout};
use super::edits::{Edit, Kind};
use super::{construction, documents, source};
use crate::XtaskResult;

/// The number of passes that search for uses of a rename: a compiler that stops at unresolved names does not
/// report type errors.
const ROUNDS: usize = 8;

#[derive(Debug, Default)]
pub(super) struct Truth {
    /// Each with its first message.
    pub(super) broken: BTreeMap<String, String>,
    /// The files of which nothing is known.
    open: BTreeSet<String>,
    /// Every file that the rename and its uses change, if all are known.
    pub(super) complete: Option<Vec<Change>>,
}

impl Truth {
    /// Returns true if a reported file that is not among them is known to be correct.
    pub(super) fn can_judge(&self, checkout: &Checkout, file: &str) -> bool {
        let is_judged = checkout.is_source(file) || checkout.language == Language::Markdown;
        is_judged && !self.open.contains(file)
    }
}

/// Decides which files break.
pub(super) struct Judge<'c> {
    checkout: &'c Checkout,
    checker: Option<Checker>,
    /// The messages about the unchanged repository.
    baseline: Vec<Problem>,
    /// The files that it does not check, or rejects without any edit for lack of dependencies: it does not see everything in them.
    rejected: BTreeSet<String>,
}

impl<'c> Judge<'c> {
    pub(super) fn new(checkout: &'c Checkout) -> XtaskResult<Self> {
        let checker = Checker::find(checkout)?;
        let baseline =
            checker.as_ref().map(|checker| checker.check(checkout)).transpose()?.unwrap_or_default();
        if checker.is_some() {
            eprintln!("  judged by the checker, which says {} things before any edit", baseline.len());
        }
        // A type checker has messages about many files that run.
        let is_strict = !matches!(checkout.language, Language::Python | Language::TypeScript);
        let rejected = baseline
            .iter()
            .filter(|candidate| is_strict && candidate.line > 0)
            .map(|candidate| candidate.file.clone());
        let mut rejected: BTreeSet<String> = rejected.collect();
        if checker.is_some() {
            rejected.extend(unchecked_files(checkout)?);
        }
        Ok(Self { checkout, checker, baseline, rejected })
    }

    pub(super) fn has_checker(&self) -> bool {
        self.checker.is_some()
    }

    /// Returns true if the checker sees everything in a file.
    pub(super) fn sees(&self, file: &str) -> bool {
        !self.rejected.contains(file)
    }

    /// The truth about an edit that breaks nothing.
    pub(super) fn harmless(&self) -> Truth {
        Truth { open: self.rejected.clone(), ..Truth::default() }
    }

    /// The problems that the repository has now and did not have before.
    pub(super) fn new_problems(&self) -> XtaskResult<Vec<Problem>> {
        let Some(checker) = &self.checker else { return Ok(Vec::new()) };
        let mut known = self.baseline.clone();
        let mut problems = checker.check(self.checkout)?;
        let is_new = |problem: &Problem| !self.checkout.texts.contains_key(&problem.file);
        // A moved file keeps its known messages, which are those that no other file has any more.
        problems.sort_by_key(is_new);
        problems.retain(|problem| {
            let is_new = is_new(problem);
            let same = known.iter().position(|candidate| {
                (candidate.file == problem.file || is_new)
                    && gist(&candidate.message) == gist(&problem.message)
            });
            same.map(|at| known.swap_remove(at)).is_none()
        });
        Ok(problems)
    }

    /// The truth about the edit that is applied now. A rename is followed through all its uses.
    pub(super) fn judge(&self, edit: &Edit) -> XtaskResult<Truth> {
        if edit.kind.is_harmless() {
            return Ok(self.harmless());
        }
        if self.checker.is_none() {
            return Ok(self.judge_by_construction(edit));
        }
        if let Some((old, new)) = edit.rename.as_ref().filter(|_| edit.kind.is_rename()) {
            return self.follow_rename(edit, old, new);
        }
        let mut truth = Truth { open: self.rejected.clone(), ..Truth::default() };
        for problem in self.new_problems()? {
            truth.broken.entry(problem.file).or_insert(problem.message);
        }
        truth.open.extend(self.uncompiled(&truth.broken));
        if edit.kind == Kind::WidenParameter {
            // The body that has to handle more is part of the edit.
            truth.broken.remove(&edit.file);
            truth.open.insert(edit.file.clone());
        }
        Ok(truth)
    }

    /// The files that were not compiled, because what they depend on has errors.
    fn uncompiled(&self, broken: &BTreeMap<String, String>) -> Vec<String> {
        let package = |path: &str| match self.checkout.language {
            Language::Rust => path.split("src/").next().map(str::to_owned),
            // The tests of a package are compiled after the package.
            Language::Go => Some(format!("{} {}", parent(path), self.go_package(path))),
            _ => None,
        };
        // A compiler of C stops at a header that it does not find.
        let is_cut = |message: &String| message.contains("No such file or directory");
        if self.checkout.language == Language::C && broken.values().any(is_cut) {
            return self.checkout.texts.keys().filter(|path| !broken.contains_key(*path)).cloned().collect();
        }
        if broken.is_empty() || !matches!(self.checkout.language, Language::Rust | Language::Go) {
            return Vec::new();
        }
        let seen: BTreeSet<_> = broken.keys().map(|path| package(path)).collect();
        self.checkout.texts.keys().filter(|path| !seen.contains(&package(path))).cloned().collect()
    }

    /// The package of a file of Go, which is another one for tests and for tests from outside.
    fn go_package(&self, path: &str) -> &str {
        let text = self.checkout.texts.get(path).map_or("", String::as_str);
        let declared = text.lines().find_map(|line| line.strip_prefix("package ")).unwrap_or_default();
        match path.ends_with("_test.go") {
            true if declared.ends_with("_test") => "outside",
            true => "tests",
            false => "package",
        }
    }

    fn judge_by_construction(&self, edit: &Edit) -> Truth {
        if self.checkout.language == Language::Markdown {
            let broken = documents::broken(self.checkout, edit);
            let skill = edit.rename.as_ref().filter(|_| edit.kind == Kind::RenameSkill);
            let Some((name, _)) = skill else {
                // A document may name another in many ways that are no link.
                let base = edit.file.rsplit('/').next().unwrap_or_default();
                let stem = base.split('.').next().unwrap_or_default();
                let mentioned = [base, stem].map(|name| documents::mentions(self.checkout, name));
                let mentioned = mentioned.into_iter().flatten().map(|(path, _)| path);
                let open = mentioned.filter(|path| !broken.contains_key(path)).collect();
                return Truth { broken, open, complete: None };
            };
            let open = documents::mentions(self.checkout, name).into_keys();
            let open = open.map(|path| present_path(edit, &path)).collect();
            let broken = documents::uses_of_skill(self.checkout, edit, name);
            let broken = broken.into_iter().map(|(path, why)| (present_path(edit, &path), why)).collect();
            return Truth { broken, open, complete: None };
        }
        Truth { broken: construction::broken(self.checkout, edit), ..Truth::default() }
    }

    /// Gives the new name to each use that the checker rejects, until it is content.
    fn follow_rename(&self, edit: &Edit, old: &str, new: &str) -> XtaskResult<Truth> {
        let mut truth = Truth { open: self.rejected.clone(), ..Truth::default() };
        let mut touched: BTreeSet<String> = [edit.file.clone()].into();
        for _ in 0..ROUNDS {
            let problems = self.new_problems()?;
            if problems.is_empty() {
                truth.complete = Some(self.changes(&touched)?);
                return Ok(truth);
            }
            let mut is_changed = false;
            for problem in problems {
                is_changed |= self.rename_at(&problem, old, new)?;
                touched.insert(problem.file.clone());
                truth.broken.entry(problem.file).or_insert(problem.message);
            }
            if !is_changed {
                break;
            }
        }
        // Files that were not compiled because of the remaining errors are not judged.
        truth.open.extend(self.uncompiled(&truth.broken));
        Ok(truth)
    }

    fn changes(&self, touched: &BTreeSet<String>) -> XtaskResult<Vec<Change>> {
        let read = |path: &String| {
            let text = fs::read_to_string(self.checkout.root.join(path))?;
            Ok(Change::Write { path: path.clone(), text })
        };
        touched.iter().map(read).collect()
    }

    fn rename_at(&self, problem: &Problem, old: &str, new: &str) -> XtaskResult<bool> {
        let path = self.checkout.root.join(&problem.file);
        let text = fs::read_to_string(&path)?;
        let is_meant = |number: usize| problem.line == 0 || number + 1 == problem.line;
        let lines = text.split('\n').enumerate();
        let renamed =
            lines.map(
                |(number, line)| {
                    if is_meant(number) { source::replace_words(line, old, new) } else { line.to_owned() }
                },
            );
        let renamed = renamed.collect::<Vec<_>>().join("\n");
        let is_changed = renamed != text;
        if is_changed {
            fs::write(&path, renamed)?;
        }
        Ok(is_changed)
    }
}

/// The first line of a message without its quoted parts: how a checker writes a type depends on the order in which it looked at files.
fn gist(message: &str) -> String {
    let line = message.lines().next().unwrap_or_default();
    line.split(['"', '\'']).step_by(2).collect()
}

/// The path of a file after the moves of an edit.
fn present_path(edit: &Edit, path: &str) -> String {
    let moved = edit.changes.iter().find_map(|change| match change {
        Change::Move { from, to } => {
            let rest = path.strip_prefix(from.as_str())?;
            (rest.is_empty() || rest.starts_with('/')).then(|| format!("{to}{rest}"))
        }
        _ => None,
    });
    moved.unwrap_or_else(|| path.to_owned())
}
