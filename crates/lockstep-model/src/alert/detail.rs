//! The detailed form: the same four lines, with the change of each file, and the lines and names of its uses.

use lockstep_text::single_line;

use super::{Alert, AlertDependent, AlertFindings, BrokenInFile, MAX_CHARS, chars, join_within};

/// The maximum number of lines that are named for a dependent.
const MAX_LINES: usize = 5;

/// The maximum number of names by which a dependent references the change.
const MAX_NAMES: usize = 3;

/// Longer names are cut.
const MAX_NAME_CHARS: usize = 60;

/// Behind a dependent that no longer fits.
const BREAKS: &str = " [breaks]";

impl Alert {
    /// Renders the detailed form, at most [`MAX_CHARS`] long. `command` prints the full list; `is_skill`
    /// marks it as a skill of the client instead of a shell command.
    pub fn render_detailed(&self, command: &str, is_skill: bool) -> String {
        match &self.findings {
            None => self.detailed_unanalysed(command),
            Some(findings) if findings.is_empty() && self.is_unanalysed() => {
                self.detailed_unanalysed(command)
            }
            Some(findings) if findings.is_empty() && !findings.truncated => {
                format!("SRC: 0 impact candidates for {} changed files.", self.changed.len())
            }
            Some(findings) => self.detailed_findings(findings, command, is_skill),
        }
    }

    /// Returns true if no changed file was analysed.
    fn is_unanalysed(&self) -> bool {
        !self.files.is_empty() && self.files.iter().all(|file| file.is_unanalysed)
    }

    fn detailed_unanalysed(&self, command: &str) -> String {
        let header =
            format!("SRC IMPACT ALERT: {} files changed, dependents not analysed.", self.changed.len());
        let action = format!("Wait for a later alert, which names them, or run {command}.");
        let frame = format!("{header}\nChanged: \nAction: {action}");
        let changed = join_within(&self.changed, MAX_CHARS.saturating_sub(chars(&frame)));
        format!("{header}\nChanged: {changed}\nAction: {action}")
    }

    fn detailed_findings(&self, findings: &AlertFindings, command: &str, is_skill: bool) -> String {
        let broken = findings.dependents.iter().filter(|finding| finding.breaks).count()
            + findings.broken_in_file.len();
        let broken = if broken > 0 { format!(" Broken: {broken}.") } else { String::new() };
        let header = format!(
            "SRC IMPACT ALERT: {} files changed, {} potential dependents detected.{broken}",
            self.changed.len(),
            findings.dependents.len()
        );
        let unanalysed = self.files.iter().filter(|file| file.is_unanalysed).count();
        let tail = match unanalysed {
            _ if findings.truncated => " ... analysis truncated (timeout)".to_owned(),
            0 => String::new(),
            count => format!(" ... {count} files not analysed"),
        };
        let whole = if is_skill {
            format!("Consider running {command} for full analysis.")
        } else {
            format!("Run {command} for full analysis.")
        };
        let text = |changed: &str, dependents: &str, action: &str| {
            let dependents = format!("{dependents}{tail}");
            format!("{header}\nChanged: {changed}\nDependents: {}\nAction: {action}", dependents.trim_start())
        };
        let (changed, dependents) = (self.changed_items(true), dependent_items(findings));
        let all = text(&changed.join(", "), &dependents.join(", "), &whole);
        if chars(&all) <= MAX_CHARS {
            return all;
        }
        let action = format!("Run {command} for full list.");
        let room = MAX_CHARS.saturating_sub(chars(&text("", "", &action)) + chars(&tail).min(1));
        // The Lead must see the dependents: the changed files take a third of the room, or what the
        // dependents leave.
        let wanted = chars(&dependents.join(", "));
        let share = (room / 3).max(room.saturating_sub(wanted));
        // Without room for a file with its change, the names alone say more than a count.
        let full = join_within(&changed, share);
        let names = || join_within(&self.changed_items(false), share);
        let changed = if full.starts_with("...") { names() } else { full };
        let dependents = fitted_dependents(&dependents, findings, room.saturating_sub(chars(&changed)));
        text(&changed, &dependents, &action)
    }

    /// Returns the changed files: those with dependents first, each with its change if `with_changes`.
    fn changed_items(&self, with_changes: bool) -> Vec<String> {
        let mut items: Vec<(bool, String)> = Vec::new();
        for (at, name) in self.changed.iter().enumerate() {
            let file = self.files.get(at);
            let note = match file {
                Some(file) if file.is_unanalysed => Some("not analysed"),
                Some(file) if with_changes => file.note.as_deref(),
                _ => None,
            };
            let item = note.map_or_else(|| name.clone(), |note| format!("{name} ({note})"));
            items.push((!file.is_some_and(|file| file.has_dependents), single_line(&item)));
        }
        items.sort_by_key(|(is_quiet, _)| *is_quiet);
        items.into_iter().map(|(_, item)| item).collect()
    }
}

/// References in the changed files themselves, then dependents that break, then the others.
fn dependent_items(findings: &AlertFindings) -> Vec<String> {
    let own = findings.broken_in_file.iter().map(|own| format!("{}{BREAKS}", BrokenInFile::render(own)));
    own.chain(ranked(findings).map(detailed)).collect()
}

fn ranked(findings: &AlertFindings) -> impl Iterator<Item = &AlertDependent> {
    let of = |breaks: bool| findings.dependents.iter().filter(move |finding| finding.breaks == breaks);
    of(true).chain(of(false))
}

fn detailed(finding: &AlertDependent) -> String {
    let mut lines: Vec<String> = finding.lines.iter().take(MAX_LINES).map(u32::to_string).collect();
    if finding.lines.len() > MAX_LINES {
        lines.push("...".to_owned());
    }
    let lines = if lines.is_empty() { String::new() } else { format!(":{}", lines.join(",")) };
    let names = if finding.names.is_empty() { &finding.refs } else { &finding.names };
    let names: Vec<String> = names.iter().take(MAX_NAMES).map(|name| short(name)).collect();
    let breaks = if finding.breaks { BREAKS } else { "" };
    single_line(&format!("{}{lines} (refs {}){breaks}", finding.dependent, names.join(", ")))
}

fn short(name: &str) -> String {
    if chars(name) <= MAX_NAME_CHARS {
        return name.to_owned();
    }
    name.chars().take(MAX_NAME_CHARS - 1).chain(['…']).collect()
}

/// Returns as many dependents as fit, and counts the rest. If not even one fits in full, only the paths are
/// shown.
fn fitted_dependents(items: &[String], findings: &AlertFindings, room: usize) -> String {
    let full = counted(items, room);
    if full.as_ref().is_some_and(|(count, _)| *count > 0) || items.is_empty() {
        return full.map_or_else(String::new, |(_, text)| text);
    }
    let own = findings.broken_in_file.iter().map(|own| single_line(&own.file));
    let paths: Vec<String> =
        own.chain(ranked(findings).map(|finding| single_line(&finding.dependent))).collect();
    counted(&paths, room).map_or_else(String::new, |(_, text)| text)
}

fn counted(items: &[String], room: usize) -> Option<(usize, String)> {
    (0..=items.len()).rev().find_map(|count| {
        let rest = (count < items.len()).then(|| format!("... and {} more.", items.len() - count));
        let text = items[..count].iter().cloned().chain(rest).collect::<Vec<_>>().join(", ");
        (chars(&text) <= room).then_some((count, text))
    })
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::alert::ChangedFile;

    fn changed(path: &str, note: Option<&str>) -> ChangedFile {
        ChangedFile {
            path: PathBuf::from(path),
            note: note.map(str::to_owned),
            has_dependents: note.is_some(),
            is_unanalysed: false,
        }
    }

    fn finding(dependent: &str, name: &str, lines: &[u32], breaks: bool) -> AlertDependent {
        AlertDependent {
            dependent: dependent.to_owned(),
            refs: vec!["core.py".to_owned()],
            names: vec![name.to_owned()],
            lines: lines.to_vec(),
            breaks,
        }
    }

    fn findings(dependents: Vec<AlertDependent>) -> AlertFindings {
        AlertFindings { dependents, truncated: false, broken_in_file: Vec::new() }
    }

    #[test]
    fn lists_changes_and_uses_with_breaking_dependents_first() {
        let files = vec![changed("/r/docs/notes.md", None), changed("/r/core.py", Some("greet → salute"))];
        let mut found = findings(vec![
            finding("docs/guide.md", "greet", &[7], false),
            finding("src/use.py", "greet", &[1, 5], true),
        ]);
        found.broken_in_file.push(BrokenInFile {
            file: "core.py".to_owned(),
            lines: vec![9],
            reason: "greet is now salute".to_owned(),
        });
        assert_eq!(
            Alert::analysed(files, found).render_detailed("`lockstep impact --session s1`", false),
            "SRC IMPACT ALERT: 2 files changed, 2 potential dependents detected. Broken: 2.\n\
             Changed: core.py (greet → salute), notes.md\n\
             Dependents: core.py:9 (same file: greet is now salute) [breaks], src/use.py:1,5 (refs greet) [breaks], \
             docs/guide.md:7 (refs greet)\n\
             Action: Run `lockstep impact --session s1` for full analysis."
        );
    }

    #[test]
    fn names_dependents_among_fifty_changed_files() {
        let mut files: Vec<ChangedFile> = (0..50).map(|n| changed(&format!("/r/part{n}.py"), None)).collect();
        files.push(changed("/r/core.py", Some("greet → salute")));
        let text = Alert::analysed(files, findings(vec![finding("src/use.py", "greet", &[1], true)]))
            .render_detailed("/execution-impact", true);
        assert!(text.starts_with("SRC IMPACT ALERT: 51 files changed, 1 potential"), "{text}");
        assert!(text.contains("\nChanged: core.py (greet → salute), part0.py"), "{text}");
        assert!(text.contains("\nDependents: src/use.py:1 (refs greet) [breaks]\n"), "{text}");
        assert!(
            text.ends_with("more\nAction: Run /execution-impact for full list.") || chars(&text) <= MAX_CHARS
        );
    }

    #[test]
    fn changed_files_are_named_if_their_changes_do_not_fit() {
        let files =
            vec![changed("/r/core.py", Some(&"section removed, ".repeat(20))), changed("/r/b.py", None)];
        let found = (0..30).map(|n| finding(&format!("src/part{n}/use.py"), "greet", &[1], true)).collect();
        let text = Alert::analysed(files, findings(found)).render_detailed("/execution-impact", true);
        assert!(text.contains("\nChanged: core.py, b.py\n") && chars(&text) <= MAX_CHARS, "{text}");
    }

    #[test]
    fn unanalysed_files_are_labelled() {
        let session = crate::ids::SessionId::new("s").unwrap();
        let text = Alert::not_analysed(&session, &[PathBuf::from("/r/a.py")])
            .render_detailed("`lockstep impact --session s`", false);
        assert_eq!(
            text,
            "SRC IMPACT ALERT: 1 files changed, dependents not analysed.\nChanged: a.py\n\
             Action: Wait for a later alert, which names them, or run `lockstep impact --session s`."
        );
    }
}
