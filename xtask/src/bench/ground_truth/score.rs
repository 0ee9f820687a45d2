//! Scores: how much of the truth an answer has, and how much of an answer is true.

use std::collections::{BTreeMap, BTreeSet};

use super::cases::Case;
use super::language::GroundTruth;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Answerer {
    Ours,
    Word,
    Basename,
    Codegraph,
    ReviewGraph,
    Madge,
    Grimp,
}

impl Answerer {
    /// The tools that support every language.
    pub(super) const ALL: [Self; 5] =
        [Self::Ours, Self::Word, Self::Basename, Self::Codegraph, Self::ReviewGraph];

    pub(super) fn tools(language: &str) -> &'static [Self] {
        match language {
            "Python" => &[Self::Codegraph, Self::ReviewGraph, Self::Grimp],
            "TypeScript" => &[Self::Codegraph, Self::ReviewGraph, Self::Madge],
            _ => &[Self::Codegraph, Self::ReviewGraph],
        }
    }

    /// Everybody who is asked about a language.
    pub(super) fn all(language: &str) -> Vec<Self> {
        let tools = Self::tools(language).iter().filter(|tool| !Self::ALL.contains(tool));
        Self::ALL.into_iter().chain(tools.copied()).collect()
    }

    /// Returns true if it needs a process for every change, so that it runs only on request.
    pub(super) fn is_slow(self) -> bool {
        matches!(self, Self::Codegraph | Self::ReviewGraph)
    }

    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Ours => "lockstep impact",
            Self::Word => "rg -w of the name",
            Self::Basename => "grep of the basename",
            Self::Codegraph => "codegraph impact, depth 1",
            Self::ReviewGraph => "code-review-graph impact of the file, depth 1",
            Self::Madge => "madge: files that import the file",
            Self::Grimp => "grimp: modules that import the module",
        }
    }
}

/// A case with the truth and all answers.
#[derive(Debug)]
pub(super) struct ScoredCase {
    pub(super) language: &'static str,
    pub(super) package: &'static str,
    pub(super) held_out: bool,
    pub(super) case: Case,
    pub(super) truth: GroundTruth,
    /// The evidence for each file that we report as broken.
    pub(super) evidence: BTreeMap<String, String>,
    pub(super) answers: BTreeMap<Answerer, BTreeSet<String>>,
}

impl ScoredCase {
    /// `None` if that one could not be asked.
    pub(super) fn answer(&self, of: Answerer) -> Option<&BTreeSet<String>> {
        self.answers.get(&of)
    }

    fn has(&self, of: Answerer, file: &str) -> bool {
        self.answer(of).is_some_and(|answer| answer.contains(file))
    }

    pub(super) fn missed(&self, of: Answerer) -> Vec<&str> {
        self.truth.keys().filter(|file| !self.has(of, file)).map(String::as_str).collect()
    }

    pub(super) fn wrong(&self, of: Answerer) -> Vec<&str> {
        self.answer(of)
            .into_iter()
            .flatten()
            .filter(|file| !self.truth.contains_key(*file))
            .map(String::as_str)
            .collect()
    }
}

/// Over several cases.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Score {
    pub(super) cases: usize,
    pub(super) true_files: usize,
    pub(super) answered: usize,
    /// Files in both.
    hits: usize,
    case_recall: (f64, u32),
    case_precision: (f64, u32),
}

impl Score {
    pub(super) fn of<'j>(cases: impl Iterator<Item = &'j ScoredCase>, who: Answerer) -> Self {
        let mut score = Self::default();
        for judged in cases {
            let Some(answer) = judged.answer(who) else { continue };
            let hits = answer.iter().filter(|file| judged.truth.contains_key(*file)).count();
            score.cases += 1;
            score.true_files += judged.truth.len();
            score.answered += answer.len();
            score.hits += hits;
            add(&mut score.case_recall, hits, judged.truth.len());
            add(&mut score.case_precision, hits, answer.len());
        }
        score
    }

    /// Over all files; `None` if nothing was true.
    pub(super) fn recall(&self) -> Option<f64> {
        ratio(self.hits, self.true_files)
    }

    /// Over all files; `None` if nothing was answered.
    pub(super) fn precision(&self) -> Option<f64> {
        ratio(self.hits, self.answered)
    }

    /// The mean over the cases in which something was true.
    pub(super) fn case_recall(&self) -> Option<f64> {
        mean(self.case_recall)
    }

    /// The mean over the cases in which something was answered.
    pub(super) fn case_precision(&self) -> Option<f64> {
        mean(self.case_precision)
    }
}

fn add(sum: &mut (f64, u32), part: usize, whole: usize) {
    if let Some(ratio) = ratio(part, whole) {
        sum.0 += ratio;
        sum.1 += 1;
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts of files")]
fn ratio(part: usize, whole: usize) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

fn mean((sum, count): (f64, u32)) -> Option<f64> {
    (count > 0).then(|| sum / f64::from(count))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_not_everything() {
        let score = Score::default();
        assert_eq!(score.recall(), None);
        assert_eq!(score.case_precision(), None);
        assert_eq!(ratio(1, 2), Some(0.5));
    }
}
