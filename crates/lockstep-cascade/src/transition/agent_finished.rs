//! Evaluates a group when its agent has ended. Only the state of the disk counts.

use std::collections::{BTreeMap, BTreeSet};

use super::TransitionError;
use super::convergence::ORACLE;
use crate::event::{AgentClaim, Digest, DiskObservation, FileStaleness, ObservedFile};
use crate::state::{Assignment, Cascade, CascadeStatus, FileOutcome, GroupStage};

/// The maximum number of attempts per group.
const MAX_ATTEMPTS: u8 = 2;

impl Cascade {
    pub(super) fn on_dispatched(
        &mut self,
        id: &str,
        before: BTreeMap<String, Option<Digest>>,
    ) -> Result<(), TransitionError> {
        let at = self.group_at(id, GroupStage::Waiting)?;
        for (path, content) in &before {
            let history = self.contents.entry(path.clone()).or_default();
            if history.last() != Some(content) {
                history.push(content.clone());
            }
        }
        let iteration = self.current();
        iteration.groups[at].stage = GroupStage::Dispatched;
        iteration.agents += 1;
        for (path, content) in before {
            // The first attempt has recorded the original content; a second attempt must not replace it.
            iteration.before.entry(path).or_insert(content);
        }
        Ok(())
    }

    /// Handles the end of the program that watched the agents. Finished files keep their outcome; the others
    /// wait again and keep their number of attempts.
    pub(super) fn on_interrupted(&mut self, seen: &DiskObservation) {
        let handed: Vec<String> = self.dispatched().map(|group| group.id.clone()).collect();
        if self.record_observation(seen, &handed) {
            return;
        }
        let iteration = self.current();
        let before = iteration.before.clone();
        for group in iteration.groups.iter_mut().filter(|group| group.stage == GroupStage::Dispatched) {
            for file in group.files.iter_mut().filter(|file| file.outcome.is_none()) {
                // An unchanged file may not have been processed at all.
                if let Some(seen) = seen.files.get(&file.path)
                    && changed(&before, &file.path, seen)
                    && seen.content.is_some()
                    && seen.left == FileStaleness::Clean
                {
                    file.outcome = Some(FileOutcome::Updated);
                }
            }
            let open = group.files.iter().any(|file| file.outcome.is_none());
            group.stage = if open { GroupStage::Waiting } else { GroupStage::Settled };
        }
    }

    pub(super) fn on_agent_finished(
        &mut self,
        id: &str,
        claim: &AgentClaim,
        seen: &DiskObservation,
    ) -> Result<(), TransitionError> {
        let at = self.group_at(id, GroupStage::Dispatched)?;
        if self.record_observation(seen, &[id.to_owned()]) {
            return Ok(());
        }
        let warnings = self.evaluate_group(at, claim, seen);
        for path in &claim.unassigned_files {
            self.warn(format!(
                "{path} is outside the scope: what group {id} made of it was not brought back."
            ));
            self.current().violations.insert(path.clone(), vec![id.to_owned()]);
        }
        warnings.into_iter().for_each(|warning| self.warn(warning));
        Ok(())
    }

    fn evaluate_group(&mut self, at: usize, claim: &AgentClaim, seen: &DiskObservation) -> Vec<String> {
        let iteration = self.current();
        let before = iteration.before.clone();
        let touched: BTreeSet<String> = iteration.changed().into_iter().map(|cause| cause.path).collect();
        let group = &mut iteration.groups[at];
        let mut warnings = claim_mismatches(&group.id, claim, &touched);
        let mut unresolved = Vec::new();
        for file in group.files.iter_mut().filter(|file| file.outcome.is_none()) {
            let Some(found) = seen.files.get(&file.path) else {
                unresolved.push(format!("{}: it was not looked at", file.path));
                continue;
            };
            match classify_file(file, found, changed(&before, &file.path, found)) {
                // A failed agent may not have read the files that it left unchanged.
                Ok(FileOutcome::Unchanged) if !claim.complete => {
                    unresolved.push(format!("{}: it is unchanged", file.path));
                }
                Ok(outcome) => file.outcome = Some(outcome),
                Err(why) => unresolved.push(format!("{}: {why}", file.path)),
            }
            // The verification that named the file will decide.
            let verified = file.dependencies.iter().any(|need| need.kind.as_deref() == Some(ORACLE));
            if let (Some(FileOutcome::Updated), FileStaleness::Unknown(why), false) =
                (&file.outcome, &found.left, verified)
            {
                warnings.push(format!("{} changed; whether it is up to date is not known: {why}", file.path));
            }
        }
        let message = claim.error.clone().filter(|error| !error.trim().is_empty());
        if unresolved.is_empty() {
            if !claim.complete {
                let message = message.map(|message| format!(" ({message})")).unwrap_or_default();
                warnings.push(format!(
                    "The agent of group {} says it failed{message}; its files are up to date.",
                    group.id
                ));
            }
            group.stage = GroupStage::Settled;
            return warnings;
        }
        let own = match (claim.complete, message) {
            (_, Some(message)) => format!("the agent said: {message}; "),
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
            group.stage = GroupStage::Waiting;
            return warnings;
        }
        for file in group.files.iter_mut().filter(|file| file.outcome.is_none()) {
            let line = unresolved.iter().find_map(|line| line.strip_prefix(&format!("{}: ", file.path)));
            file.outcome =
                Some(FileOutcome::Skipped { error: format!("{own}{}", line.unwrap_or("not looked at")) });
        }
        group.stage = GroupStage::Settled;
        warnings
    }

    /// Applies an observation, regardless of who changed the files. Returns true if this ended the cascade.
    fn record_observation(&mut self, seen: &DiskObservation, at_work: &[String]) -> bool {
        let mut news: Vec<(String, Option<Digest>)> = Vec::new();
        let ours: BTreeSet<String> = self.files_of_groups(at_work);
        let before = &self.current().before.clone();
        for (path, found) in &seen.files {
            if before.contains_key(path) && (ours.contains(path) || self.is_settled(path)) {
                news.push((path.clone(), found.content.clone()));
            }
        }
        for other in &seen.unassigned_changes {
            self.current().before.entry(other.path.clone()).or_insert(other.before.clone());
            let history = self.contents.entry(other.path.clone()).or_default();
            if history.is_empty() {
                history.push(other.before.clone());
            }
            news.push((other.path.clone(), other.content.clone()));
        }
        let mut oscillating = Vec::new();
        for (path, content) in news {
            if self.record_content(&path, content, at_work, ours.contains(&path)) {
                oscillating.push(path);
            }
        }
        for path in &oscillating {
            self.warn(format!("{path} has a content it had before: the changes undo each other."));
        }
        if let [first, ..] = &oscillating[..] {
            self.finish(
                CascadeStatus::Partial,
                format!("a file oscillates: {first} returned to an earlier content"),
            );
        }
        !oscillating.is_empty()
    }

    /// Returns the files of these groups. Changes in them are no scope violations.
    fn files_of_groups(&self, at_work: &[String]) -> BTreeSet<String> {
        let groups = self.iteration().into_iter().flat_map(|iteration| &iteration.groups);
        let open = groups.filter(|group| at_work.contains(&group.id));
        open.flat_map(|group| &group.files).map(|file| file.path.clone()).collect()
    }

    fn is_settled(&self, path: &str) -> bool {
        let groups = self.iteration().into_iter().flat_map(|iteration| &iteration.groups);
        let settled = groups.filter(|group| group.stage == GroupStage::Settled);
        settled.flat_map(|group| &group.files).any(|file| file.path == path)
    }

    /// Records the present content of a file. Returns true if the file had this content before and another
    /// one since.
    fn record_content(
        &mut self,
        path: &str,
        content: Option<Digest>,
        at_work: &[String],
        assigned: bool,
    ) -> bool {
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
            self.record_scope_violation(path, at_work);
        }
        returned
    }

    /// Records a scope violation: a change of a file that is assigned to no active group.
    fn record_scope_violation(&mut self, path: &str, at_work: &[String]) {
        let root = self.causes.iter().any(|cause| cause.path == path);
        let groups: Vec<String> = {
            let mut groups: Vec<String> = at_work.to_vec();
            groups.extend(self.dispatched().map(|group| group.id.clone()));
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

fn changed(before: &BTreeMap<String, Option<Digest>>, path: &str, seen: &ObservedFile) -> bool {
    before.get(path).is_some_and(|before| *before != seen.content)
}

/// Returns the outcome of a file, or the reason why it is not resolved.
fn classify_file(file: &mut Assignment, seen: &ObservedFile, changed: bool) -> Result<FileOutcome, String> {
    file.stale_lines = match &seen.left {
        FileStaleness::Stale(lines) => lines.clone(),
        _ => Vec::new(),
    };
    if changed && seen.content.is_none() {
        return Err("it was deleted, which updates nothing".to_owned());
    }
    match (&seen.left, changed) {
        (FileStaleness::Stale(lines), true) => {
            Err(format!("it changed, but is still stale: {}", first(lines)))
        }
        (FileStaleness::Stale(lines), false) => {
            Err(format!("it is unchanged and still stale: {}", first(lines)))
        }
        (FileStaleness::Unknown(why), false) => Err(format!("it is unchanged, and {why}")),
        (FileStaleness::Clean | FileStaleness::Unknown(_), true) => Ok(FileOutcome::Updated),
        (FileStaleness::Clean, false) => Ok(FileOutcome::Unchanged),
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
fn claim_mismatches(id: &str, claim: &AgentClaim, touched: &BTreeSet<String>) -> Vec<String> {
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
