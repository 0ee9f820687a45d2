//! The open steps, for the start of a session: their list, and the stamps of the files that it depends on.

use lockstep_fs::FileStamp;
use lockstep_text::single_line;

use super::StepContext;

/// The number of steps that are named.
const SHOWN: usize = 10;

impl StepContext<'_> {
    /// Returns a text about the open steps. `None` if there are none.
    pub(crate) fn describe_open_steps(&self) -> Option<String> {
        let mut lines = Vec::new();
        let known = self.known_steps();
        let (words, _) = if known.is_empty() { Default::default() } else { self.audit_states().ok()? };
        for file in known.iter().filter_map(|name| self.resolve_from_root(name).ok()) {
            let Ok(step) = self.read(&file) else {
                lines.push(single_line(&format!("- {}: it cannot be read", file.name)));
                continue;
            };
            let abandoned = words.get(&file.name).is_some_and(|words| words.abandoned);
            if abandoned || matches!(step.status(), "TODO" | "DONE") {
                continue;
            }
            let phase = step.phases().iter().find(|phase| phase.status == "IN_PROGRESS");
            let phase = phase.map(|phase| format!(", {} is in progress", phase.name)).unwrap_or_default();
            lines.push(single_line(&format!("- {}: {}{phase}", file.name, step.status())));
        }
        if lines.is_empty() {
            return None;
        }
        let more = lines.len().saturating_sub(SHOWN);
        lines.truncate(SHOWN);
        if more > 0 {
            lines.push(format!("- and {more} more"));
        }
        Some(format!("Steps that were begun; `lockstep step show STEP` tells more.\n{}", lines.join("\n")))
    }

    /// Returns the stamps of the files from which the text is created. The text is unchanged as long as they
    /// are. `None` if one was written too recently to be sure.
    pub(crate) fn open_steps_stamp(&self) -> Option<Vec<u8>> {
        let (mut bytes, now) = (Vec::new(), lockstep_fs::now());
        let known = self.known_steps();
        if known.is_empty() {
            return Some(bytes);
        }
        let steps = known.iter().map(|name| self.project.root.join(name));
        // An abandoned step is only in its trail, whose end is recorded here.
        let mut files: Vec<_> = steps.chain(self.project.memory().path()).collect();
        files.sort();
        for file in files {
            bytes.extend(blake3::hash(file.as_os_str().as_encoded_bytes()).as_bytes());
            let stamp = match file.symlink_metadata() {
                Ok(meta) => {
                    Some(FileStamp::settled(&meta, now)).filter(|stamp| *stamp != FileStamp::default())?
                }
                Err(_) => FileStamp::default(),
            };
            bytes.extend(stamp.to_bytes());
        }
        Some(bytes)
    }
}
