//! Evaluates a group when its agent has ended. Only the state of the disk counts.

use std::collections::{BTreeMap, BTreeSet};

use super::Refused;
use super::check::ORACLE;
use crate::event::{Claim, Digest, Left, Observation, Seen};
use crate::state::{Assignment, Cascade, Outcome, Stage, Status};

/// The maximum number of attempts per group.
const MAX_ATTEMPTS: u8 = 2;

impl Cascade {
    pub(super) fn handed_out(
        &mut self,
        id: &str,
        before: BTreeMap<String, Option<Digest>>,
    ) -> Result<(), Refused> {
        let at = self.group_at(id, Stage::Waiting)?;
        for (path, content) in &before {
            let history = self.contents.entry(path.clone()).or_default();
            if history.last() != Some(content) {
                history.push(content.clone());
            }
        }
        let iteration = self.current();
        iteration.groups[at].stage = Stage::Handed;
        iteration.agents += 1;
        for (path, content) in before {
            // The first attempt has recorded the original content; a second attempt must not replace it.
            iteration.before.entry(path).or_insert(content);
        }
        Ok(())
    }

    /// Handles the end of the program that watched the agents. Finished files keep their outcome; the others
    /// wait again and keep their number of attempts.
    pub(super) fn interrupted(&mut self, seen: &Observation) {
        let handed: Vec<String> = self.handed().map(|group| group.id.clone()).collect();
        if self.look(seen, &handed) {
            return;
        }
        let iteration = self.current();
        let before = iteration.before.clone();
        for group in iteration.groups.iter_mut().filter(|group| group.stage == Stage::Handed) {
            for file in group.files.iter_mut().filter(|file| file.outcome.is_none()) {
                // An unchanged file may not have been processed at all.
                if let Some(seen) = seen.files.get(&file.path)
                    && changed(&before, &file.path, seen)
                    && seen.content.is_some()
                    && seen.left == Left::Nothing
                {
                    file.outcome = Some(Outcome::Updated);
                }
            }
            let open = group.files.iter().any(|file| file.outcome.is_none());
            group.stage = if open { Stage::Waiting } else { Stage::Settled };
        }
    }

    pub(super) fn agent_done(&mut self, id: &str, claim: &Claim, seen: &Observation) -> Result<(), Refused> {
        let at = self.group_at(id, Stage::Handed)?;
        if self.look(seen, &[id.to_owned()]) {
            return Ok(());
        }
        let warnings = self.judge_group(at, claim, seen);
        for path in &claim.outside {
            self.warn(format!(
                "{path} is outside the scope: what group {id} made of it was not brought back."
            ));
            self.current().violations.insert(path.clone(), vec![id.to_owned()]);
        }
        warnings.into_iter().for_each(|warning| self.warn(warning));
        Ok(())
    }

    fn judge_group(&mut self, at: usize, claim: &Claim, seen: &Observation) -> Vec<String> {
        let iteration = self.current();
        let before = iteration.before.clone();
        let touched: BTreeSet<String> = iteration.changed().into_iter().map(|cause| cause.path).collect();
        let group = &mut iteration.groups[at];
        let mut warnings = claimed_otherwise(&group.id, claim, &touched);
        let mut unresolved = Vec::new();
        for file in group.files.iter_mut().filter(|file| file.outcome.is_none()) {
            let Some(found) = seen.files.get(&file.path) else {
                unresolved.push(format!("{}: it was not looked at", file.path));
                continue;
            };
            match resolution(file, found, changed(&before, &file.path, found)) {
                // A failed agent may not have read the files that it left unchanged.
                Ok(Outcome::Unchanged) if !claim.complete => {
                    unresolved.push(format!("{}: it is unchanged", file.path));
                }
                Ok(outcome) => file.outcome = Some(outcome),
                Err(why) => unresolved.push(format!("{}: {why}", file.path)),
            }
            // The verification that named the file will decide.
            let verified = file.needs.iter().any(|need| need.kind.as_deref() == Some(ORACLE));
            if let (Some(Outcome::Updated), Left::Unknown(why), false) =
                (&file.outcome, &found.left, verified)
            {
                warnings.push(format!("{} changed; whether it is up to date is not known: {why}", file.path));
            }
        }
        let said = claim.error.clone().filter(|error| !error.trim().is_empty());
        if unresolved.is_empty() {
            if !claim.complete {
                let said = said.map(|said| format!(" ({said})")).unwrap_or_default();
                warnings.push(format!(
                    "The agent of group {} says it failed{said}; its files are up to date.",
                    group.id
                ));
            }
            group.stage = Stage::Settled;
            return warnings;
        }
        let own = match (claim.complete, said) {
            (_, Some(said)) => format!("the agent said: {said}; "),
            (false, None) => "the agent failed; ".to_owned(),
            (true, None) => String::new(),
        };
        group.errors.push(format!(
            "Group {}, attempt {}: {own}{}",
            group.id,
            group.attempt,
            unresolved.join("; ")
        ));
        if group.attempt < MAX_ATTEMPTS {
            group.attempt += 1;
            group.stage = Stage::Waiting;
            return warnings;
        }
        for file in group.files.iter_mut().filter(|file| file.outcome.is_none()) {
            let line = unresolved.iter().find_map(|line| line.strip_prefix(&format!("{}: ", file.path)));
            file.outcome =
                Some(Outcome::Skipped { error: format!("{own}{}", line.unwrap_or("not looked at")) });
        }
        group.stage = Stage::Settled;
        warnings
    }

    /// Applies an observation, regardless of who changed the files. Returns true if this ended the cascade.
    fn look(&mut self, seen: &Observation, at_work: &[String]) -> bool {
        let mut news: Vec<(String, Option<Digest>)> = Vec::new();
        let ours: BTreeSet<String> = self.open_to(at_work);
        let before = &self.current().before.clone();
        for (path, found) in &seen.files {
            if before.contains_key(path) && (ours.contains(path) || self.is_settled(path)) {
                news.push((path.clone(), found.content.clone()));
            }
        }
        for other in &seen.others {
            self.current().before.entry(other.path.clone()).or_insert(other.before.clone());
            let history = self.contents.entry(other.path.clone()).or_default();
            if history.is_empty() {
                history.push(other.before.clone());
            }
            news.push((other.path.clone(), other.content.clone()));
        }
        let mut oscillating = Vec::new();
        for (path, content) in news {
            if self.becomes(&path, content, at_work, ours.contains(&path)) {
                oscillating.push(path);
            }
        }
        for path in &oscillating {
            self.warn(format!("{path} has a content it had before: the changes undo each other."));
        }
        if let [first, ..] = &oscillating[..] {
            self.finish(Status::Partial, format!("{first} oscillates: it returned to an earlier content"));
        }
        !oscillating.is_empty()
    }

    /// Returns the files of these groups. Changes in them are no scope violations.
    fn open_to(&self, at_work: &[String]) -> BTreeSet<String> {
        let groups = self.iteration().into_iter().flat_map(|iteration| &iteration.groups);
        let open = groups.filter(|group| at_work.contains(&group.id));
        open.flat_map(|group| &group.files).map(|file| file.path.clone()).collect()
    }

    fn is_settled(&self, path: &str) -> bool {
        let groups = self.iteration().into_iter().flat_map(|iteration| &iteration.groups);
        let settled = groups.filter(|group| group.stage == Stage::Settled);
        settled.flat_map(|group| &group.files).any(|file| file.path == path)
    }

    /// Records the present content of a file. Returns true if the file had this content before and another
    /// one since.
    fn becomes(&mut self, path: &str, content: Option<Digest>, at_work: &[String], assigned: bool) -> bool {
        let known = self.current().after.get(path).cloned();
        self.current().after.insert(path.to_owned(), content.clone());
        let history = self.contents.entry(path.to_owned()).or_default();
        let last = history.last().cloned();
        if last.as_ref() == Some(&content) {
            return false;
        }
        let returned = history.contains(&content);
        history.push(content.clone());
        if !assigned && known.as_ref() != Some(&content) {
            self.trespass(path, at_work);
        }
        returned
    }

    /// Records a scope violation: a change of a file that is assigned to no active group.
    fn trespass(&mut self, path: &str, at_work: &[String]) {
        let root = self.causes.iter().any(|cause| cause.path == path);
        let groups: Vec<String> = {
            let mut groups: Vec<String> = at_work.to_vec();
            groups.extend(self.handed().map(|group| group.id.clone()));
            groups.sort();
            groups.dedup();
            groups
        };
        let who = match &groups[..] {
            [one] => format!("while group {one} was at work"),
            several => format!("while groups {} were at work", several.join(" and ")),
        };
        self.warn(match root {
            true => format!("{path} is the root cause and changed {who}."),
            false => format!("{path} is outside the scope and changed {who}."),
        });
        self.current().violations.insert(path.to_owned(), groups);
    }
}

fn changed(before: &BTreeMap<String, Option<Digest>>, path: &str, seen: &Seen) -> bool {
    before.get(path).is_some_and(|before| *before != seen.content)
}

/// Returns the outcome of a file, or the reason why it is not resolved.
fn resolution(file: &mut Assignment, seen: &Seen, changed: bool) -> Result<Outcome, String> {
    file.left = match &seen.left {
        Left::Stale(lines) => lines.clone(),
        _ => Vec::new(),
    };
    if changed && seen.content.is_none() {
        return Err("it was deleted, which updates nothing".to_owned());
    }
    match (&seen.left, changed) {
        (Left::Stale(lines), true) => Err(format!("it changed, but is still stale: {}", first(lines))),
        (Left::Stale(lines), false) => Err(format!("it is unchanged and still stale: {}", first(lines))),
        (Left::Unknown(why), false) => Err(format!("it is unchanged, and {why}")),
        (Left::Nothing | Left::Unknown(_), true) => Ok(Outcome::Updated),
        (Left::Nothing, false) => Ok(Outcome::Unchanged),
    }
}

fn first(lines: &[String]) -> String {
    match lines {
        [] => "no line is known".to_owned(),
        [one] => one.clone(),
        [one, rest @ ..] => format!("{one} (and {} more)", rest.len()),
    }
}

/// Returns a warning for each file that the agent reports as changed although it is not.
fn claimed_otherwise(id: &str, claim: &Claim, touched: &BTreeSet<String>) -> Vec<String> {
    let claimed: BTreeSet<&String> = claim.files.iter().flatten().collect();
    let untouched: Vec<&str> =
        claimed.iter().filter(|file| !touched.contains(**file)).map(|file| file.as_str()).collect();
    if untouched.is_empty() {
        return Vec::new();
    }
    vec![format!(
        "The agent of group {id} reports changes in files that did not change: {}. They are not counted as updated.",
        untouched.join(", ")
    )]
}
