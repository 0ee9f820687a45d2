//! The steps that were begun and are not over, for whoever begins a session: what they are, and by which files that can be told.

use std::fs;

use lockstep_store::stamp::{self, Stamp};

use super::Steps;

/// How many are named.
const SHOWN: usize = 10;

impl Steps<'_> {
    /// A text about them; `None` where there are none.
    pub(crate) fn begun(&self) -> Option<String> {
        let mut lines = Vec::new();
        let known = self.known();
        let (words, _) = if known.is_empty() { Default::default() } else { self.words().ok()? };
        for file in known.iter().filter_map(|name| self.named(name).ok()) {
            let Ok(step) = self.read(&file) else {
                lines.push(format!("- {}: it cannot be read", file.name));
                continue;
            };
            let abandoned = words.get(&file.name).is_some_and(|words| words.abandoned);
            if abandoned || matches!(step.status(), "TODO" | "DONE") {
                continue;
            }
            let phase = step.phases().iter().find(|phase| phase.status == "IN_PROGRESS");
            let phase = phase.map(|phase| format!(", {} is in progress", phase.name)).unwrap_or_default();
            lines.push(format!("- {}: {}{phase}", file.name, step.status()));
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

    /// What stays the same as long as that text does: the stamps of the files it is made from. `None` where one was written a moment ago.
    pub(crate) fn begun_stamp(&self) -> Option<Vec<u8>> {
        let (mut bytes, now) = (Vec::new(), stamp::now());
        let known = self.known();
        if known.is_empty() {
            return Some(bytes);
        }
        let steps = known.iter().map(|name| self.project.root.join(name));
        // What remembers the end of each trail: a step that is given up is only in its trail.
        let trails = fs::read_dir(self.project.state.path().join("audit")).into_iter().flatten().flatten();
        let mut files: Vec<_> = steps.chain(trails.map(|entry| entry.path())).collect();
        files.sort();
        for file in files {
            bytes.extend(blake3::hash(file.as_os_str().as_encoded_bytes()).as_bytes());
            let stamp = match file.symlink_metadata() {
                Ok(meta) => Some(Stamp::of(&meta, now)).filter(|stamp| *stamp != Stamp::default())?,
                Err(_) => Stamp::default(),
            };
            bytes.extend(stamp.bytes());
        }
        Some(bytes)
    }
}
