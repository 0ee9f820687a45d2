//! External skills: their manifest, and the files it names, which must be inside of their folder.

use crate::external_skills::{ExternalSkillContent, ExternalSkillSource, external_skills};
use crate::finding::BuildFindingKind;
use crate::framework_paths;
use crate::section::stays_inside;
use crate::section_body::SectionBody;
use crate::source_reader::{DeadlineExceeded, SourceState};

use super::{SectionCollector, SectionSkipReason};

impl SectionCollector<'_> {
    pub(super) fn external(
        &mut self,
        manifest: &[String],
    ) -> Result<Result<SectionBody, SectionSkipReason>, DeadlineExceeded> {
        let (path, text) = match self.first_existing(manifest)? {
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
                None => ExternalSkillContent::None,
                Some(file) => self.external_content(skill.title(), file)?,
            };
            blocks.push(ExternalSkillSource::new(skill, content));
        }
        Ok(Ok(SectionBody::External(blocks)))
    }

    /// The text of an external skill's file, which must be inside of the folder, by name and in fact.
    fn external_content(
        &mut self,
        skill: &str,
        file: &str,
    ) -> Result<ExternalSkillContent, DeadlineExceeded> {
        let refused = BuildFindingKind::OutsideSkillDir { skill: skill.to_owned(), file: file.to_owned() };
        if !stays_inside(file) {
            self.findings.push(refused);
            return Ok(ExternalSkillContent::Refused);
        }
        let Some(folder) = self.project.below(framework_paths::EXTERNAL_SKILLS) else {
            // A folder that is created later must be noticed.
            self.reader.file(&self.project, &format!("{}/{file}", framework_paths::EXTERNAL_SKILLS))?;
            return Ok(self.unreadable(file, "the folder of external skills is not there"));
        };
        if let Err(why) = self.reader.resolve_inside(&folder, file)
            && why.ends_with("points outside")
        {
            self.reader.file(&folder, file)?;
            self.findings.push(refused);
            return Ok(ExternalSkillContent::Refused);
        }
        Ok(match self.reader.file(&folder, file)? {
            // Only the beginning is shown, so the file may be longer than the stored part.
            SourceState::File(text) => {
                let label = folder.label(file);
                if text.is_lossy {
                    self.findings.push(BuildFindingKind::NotUtf8 { path: label.clone() });
                }
                self.used.push(label);
                ExternalSkillContent::Text(text.text.clone())
            }
            SourceState::Absent => self.unreadable(file, "it is not there"),
            SourceState::Unusable(why) => self.unreadable(file, &why),
        })
    }

    fn unreadable(&mut self, file: &str, why: &str) -> ExternalSkillContent {
        let path = format!("{}/{file}", framework_paths::EXTERNAL_SKILLS);
        self.findings.push(BuildFindingKind::Unusable { path, why: why.to_owned() });
        ExternalSkillContent::Unreadable
    }
}
