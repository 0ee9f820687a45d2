//! Personas and topics, from their places in the layout.

use crate::framework_paths;
use crate::roundtable;
use crate::section_body::{RoundtableItem, SectionBody};
use crate::source_reader::{DeadlineExceeded, DirEntryKind};

use super::{SectionCollector, SectionSkipReason};

impl SectionCollector<'_> {
    pub(super) fn roundtable(&mut self) -> Result<Result<SectionBody, SectionSkipReason>, DeadlineExceeded> {
        let mut pieces = self.personas()?;
        pieces.extend(self.topics()?);
        if pieces.is_empty() {
            let (personas, topics) =
                (framework_paths::PERSONAS.join(", "), framework_paths::TOPICS.join(", "));
            return Ok(Err(format!(
                "no personas in {personas}, {}; no topics in {topics}",
                framework_paths::OWN_PERSONAS
            )));
        }
        Ok(Ok(SectionBody::Roundtable(pieces)))
    }

    /// Returns the framework's personas, each replaced by the project's own of the same name; then the
    /// project's others.
    fn personas(&mut self) -> Result<Vec<RoundtableItem>, DeadlineExceeded> {
        let project = self.project.clone();
        let own = self.markdown(&project, framework_paths::OWN_PERSONAS)?;
        let mut paths: Vec<(String, String)> = Vec::new();
        for dir in framework_paths::PERSONAS {
            let files = self.markdown(&project, dir)?;
            paths.extend(files.into_iter().filter(|file| file.starts_with("persona-")).map(|file| {
                let dir = if own.contains(&file) { framework_paths::OWN_PERSONAS } else { dir };
                (dir.to_owned(), file)
            }));
            if !paths.is_empty() {
                break;
            }
        }
        for file in own {
            if !paths.iter().any(|(_, known)| *known == file) {
                paths.push((framework_paths::OWN_PERSONAS.to_owned(), file));
            }
        }
        let mut personas = Vec::new();
        for (dir, file) in paths {
            if let Some(text) = self.listed(&project, &format!("{dir}/{file}"))? {
                personas.push(roundtable::persona(&file, text));
            }
        }
        Ok(personas)
    }

    fn topics(&mut self) -> Result<Vec<RoundtableItem>, DeadlineExceeded> {
        let project = self.project.clone();
        let mut topics = Vec::new();
        for dir in framework_paths::TOPICS {
            let Some(categories) = self.reader.list(&project, dir)? else {
                self.absent.push(dir.to_owned());
                continue;
            };
            for (category, _) in categories
                .entries
                .into_iter()
                .filter(|(_, sort)| matches!(sort, DirEntryKind::Directory | DirEntryKind::Perhaps))
            {
                let dir = format!("{dir}/{category}");
                for file in self.markdown(&project, &dir)? {
                    if let Some(text) = self.listed(&project, &format!("{dir}/{file}"))? {
                        topics.push(roundtable::topic(&file, text));
                    }
                }
            }
            if !topics.is_empty() {
                break;
            }
        }
        Ok(topics)
    }
}
