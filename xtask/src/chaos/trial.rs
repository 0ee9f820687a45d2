//! One class of attacks while it is tried: its numbers, its limit and its results.

use std::fmt::Display;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use lockstep_testkit::attacks::Numbers;

/// The result of one attack.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Held,
    /// The attack had an effect, and Lockstep names it afterwards.
    Reported,
    Broken(String),
}

impl Verdict {
    /// Held if the condition is true; the reason is made otherwise.
    pub(super) fn held_if(condition: bool, reason: impl FnOnce() -> String) -> Self {
        if condition { Self::Held } else { Self::Broken(reason()) }
    }
}

/// The results of a class.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) held: usize,
    pub(super) reported: usize,
    /// The broken cases with their reasons.
    pub(super) broken: Vec<String>,
}

impl Tally {
    pub(super) fn tried(&self) -> usize {
        self.held + self.reported + self.broken.len()
    }

    pub(super) fn add(&mut self, other: &Self) {
        self.held += other.held;
        self.reported += other.reported;
        self.broken.extend(other.broken.iter().cloned());
    }
}

/// A class that is being tried.
pub(super) struct Trial<'a> {
    pub(super) program: &'a Path,
    pub(super) numbers: Numbers,
    /// The most cases.
    pub(super) limit: usize,
    pub(super) tally: Tally,
}

impl<'a> Trial<'a> {
    /// A class has the same cases whether it is tried alone or with others.
    pub(super) fn new(program: &'a Path, seed: u64, limit: usize, class: &str) -> Self {
        let mut hasher = DefaultHasher::new();
        (seed, class).hash(&mut hasher);
        Self { program, numbers: Numbers::new(hasher.finish()), limit, tally: Tally::default() }
    }

    /// Returns true for a program that was built as the tests build it: it is slower, and reads `LOCKSTEP_NOW`.
    pub(super) fn is_test_build(&self) -> bool {
        self.program.parent().is_some_and(|dir| dir.ends_with("debug"))
    }

    /// Chooses as many of the attacks as are to be tried.
    pub(super) fn sample<T>(&mut self, attacks: impl IntoIterator<Item = T>) -> Vec<T> {
        self.numbers.sample(attacks.into_iter().collect(), self.limit)
    }

    /// Tries an attack. A panic, which is an unexpected answer of the program, is a broken case.
    pub(super) fn case(&mut self, name: impl Display, attack: impl FnOnce() -> Verdict) {
        let verdict = catch_unwind(AssertUnwindSafe(attack)).unwrap_or_else(|panic| {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            let text = text.or(panic.downcast_ref::<&str>().copied()).unwrap_or("a panic without a text");
            Verdict::Broken(text.to_owned())
        });
        match verdict {
            Verdict::Held => self.tally.held += 1,
            Verdict::Reported => self.tally.reported += 1,
            Verdict::Broken(reason) => {
                let reason: String = reason.chars().take(600).collect();
                self.tally.broken.push(format!("{name}: {reason:?}"));
            }
        }
    }
}
