//! Right, missed and noise, by repository and by kind of edit.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::answer::Answer;
use super::checkout::Checkout;
use super::edits::{Edit, Kind};
use super::truth::Truth;

/// An edit with the answer and the truth.
#[derive(Debug)]
pub(super) struct Judgement {
    repository: String,
    kind: Kind,
    what: String,
    right: BTreeSet<String>,
    missed: BTreeMap<String, String>,
    noise: BTreeMap<String, String>,
    /// Broken files of edits that the answer declares as not analysed.
    admitted: usize,
}

impl Judgement {
    pub(super) fn new(checkout: &Checkout, edit: &Edit, answer: Answer, truth: &Truth) -> Self {
        let (right, mut missed): (BTreeMap<_, _>, BTreeMap<_, _>) =
            truth.broken.clone().into_iter().partition(|(file, _)| answer.says_broken(file));
        let is_admitted = |file: &String| answer.admitted.iter().any(|note| note.contains(file.as_str()));
        let before = missed.len();
        missed.retain(|file, _| !is_admitted(file));
        let admitted = before - missed.len();
        for (file, message) in &mut missed {
            if answer.listed.contains(file) {
                message.push_str(" [listed]");
            }
        }
        let can_judge = |file: &String| truth.can_judge(checkout, file);
        let noise =
            answer.broken.into_iter().filter(|(file, _)| !truth.broken.contains_key(file) && can_judge(file));
        Self {
            repository: checkout.name.clone(),
            kind: edit.kind,
            what: edit.what.clone(),
            right: right.into_keys().collect(),
            missed,
            noise: noise.collect(),
            admitted,
        }
    }

    /// The wrong parts of the answer, for people.
    pub(super) fn describe(&self) -> String {
        let mut text = format!(
            "{} {}: {}, {} right\n",
            self.repository,
            self.kind.as_str(),
            self.what,
            self.right.len()
        );
        for (file, message) in &self.missed {
            let _ = writeln!(text, "  missed {file}: {message}");
        }
        for (file, place) in &self.noise {
            let _ = writeln!(text, "  noise {file}: {place}");
        }
        text
    }
}

#[derive(Debug, Default)]
struct Sum {
    edits: usize,
    right: usize,
    missed: usize,
    admitted: usize,
    noise: usize,
}

impl Sum {
    fn add(&mut self, judgement: &Judgement) {
        self.edits += 1;
        self.right += judgement.right.len();
        self.missed += judgement.missed.len();
        self.admitted += judgement.admitted;
        self.noise += judgement.noise.len();
    }

    fn row(&self, name: &str) -> String {
        let breaking = self.right + self.missed + self.admitted;
        let called = self.right + self.noise;
        format!(
            "| {name} | {} | {breaking} | {} | {} | {} | {} | {} | {} |\n",
            self.edits,
            self.right,
            self.admitted,
            self.missed,
            self.noise,
            ratio(self.right + self.admitted, breaking),
            ratio(self.noise, called)
        )
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts of files")]
fn ratio(part: usize, whole: usize) -> String {
    if whole == 0 { "–".to_owned() } else { format!("{:.3}", part as f64 / whole as f64) }
}

/// One table by repository and one by kind of edit.
pub(super) fn tables(judgements: &[Judgement]) -> String {
    let mut repositories: Vec<(&str, Sum)> = Vec::new();
    let mut kinds: BTreeMap<Kind, Sum> = BTreeMap::new();
    let mut all = Sum::default();
    for judgement in judgements {
        let at =
            repositories.iter().position(|(name, _)| *name == judgement.repository).unwrap_or_else(|| {
                repositories.push((&judgement.repository, Sum::default()));
                repositories.len() - 1
            });
        repositories[at].1.add(judgement);
        kinds.entry(judgement.kind).or_default().add(judgement);
        all.add(judgement);
    }
    let head = |first: &str| {
        format!(
            "| {first} | edits | files that break | found | not analysed, and said so | missed | noise | recall | share of noise |\n|---|---|---|---|---|---|---|---|---|\n"
        )
    };
    let mut table = head("repository");
    repositories.iter().for_each(|(name, sum)| table.push_str(&sum.row(name)));
    table.push_str(&all.row("**all**"));
    table.push('\n');
    table.push_str(&head("kind of edit"));
    kinds.iter().for_each(|(kind, sum)| table.push_str(&sum.row(kind.as_str())));
    table
}
