//! External skills: their manifest, and the files it names, which must be inside of their folder.

use crate::body::Body;
use crate::external::{ExternalBlock, ExternalContent, external_skills};
use crate::finding::FindingKind;
use crate::layout;
use crate::section::stays_inside;
use crate::source_reader::{Late, SourceState};

use super::{SectionCollector, Skip};

impl SectionCollector<'_> {
    pub(super) fn external(&mut self, manifest: &[String]) -> Result<Result<Body, Skip>, Late> {
        let (path, text) = match self.first(manifest)? {
            Ok(found) => found,
            Err(why) => return Ok(Err(why)),
        };
        let (skills, findings) = match external_skills(&text) {
            Ok(read) => read,
            Err(why) => return Ok(Err(format!("{path}: {why}"))),
        };
        self.findings.extend(findings);
        let mut blocks = Vec::new();
        for skill in &skills {
            let content = match skill.file.as_deref().filter(|file| !file.is_empty()) {
                None => ExternalContent::None,
                Some(file) => self.external_content(skill.title(), file)?,
            };
            blocks.push(ExternalBlock::new(skill, content));
        }
        Ok(Ok(Body::External(blocks)))
    }

    /// The text of an external skill's file, which must be inside of the folder, by name and in fact.
    fn external_content(&mut self, skill: &str, file: &str) -> Result<ExternalContent, Late> {
        let refused = FindingKind::Refused { skill: skill.to_owned(), file: file.to_owned() };
        if !stays_inside(file) {
            self.findings.push(refused);
            return Ok(ExternalContent::Refused);
        }
        let Some(folder) = self.project.below(layout::EXTERNAL_SKILLS) else {
            // A folder that is created later must be noticed.
            self.reader.file(&self.project, &format!("{}/{file}", layout::EXTERNAL_SKILLS))?;
            return Ok(self.unreadable(file, "the folder of external skills is not there"));
        };
        if let Err(why) = self.reader.located(&folder, file)
            && why.ends_with("leads out")
        {
            self.reader.file(&folder, file)?;
            self.findings.push(refused);
            return Ok(ExternalContent::Refused);
        }
        Ok(match self.reader.file(&folder, file)? {
            // Only the beginning is shown, so the file may be longer than the stored part.
            SourceState::File(text) => {
                let label = folder.label(file);
                if text.is_lossy {
                    self.findings.push(FindingKind::NotUtf8 { path: label.clone() });
                }
                self.used.push(label);
                ExternalContent::Text(text.text.clone())
            }
            SourceState::Absent => self.unreadable(file, "it is not there"),
            SourceState::Unusable(why) => self.unreadable(file, &why),
        })
    }

    fn unreadable(&mut self, file: &str, why: &str) -> ExternalContent {
        let path = format!("{}/{file}", layout::EXTERNAL_SKILLS);
        self.findings.push(FindingKind::Unusable { path, why: why.to_owned() });
        ExternalContent::Unreadable
    }
}
