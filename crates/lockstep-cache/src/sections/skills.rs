//! Skills by their owners, skills and agents as lists; those of the project and those of installed plugins.

use crate::framework_paths;
use crate::listing::agent_entry;
use crate::section_body::SectionBody;
use crate::skill::{Skill, SkillFacts};
use crate::skill_index::{skill_index, skill_list};
use crate::skill_scan::SkillScanner;
use crate::skills_manifest::owners;
use crate::source_reader::{Base, DeadlineExceeded};

use super::{SectionCollector, SectionSkipReason};

impl SectionCollector<'_> {
    pub(super) fn skill_index(
        &mut self,
        manifest: &[String],
    ) -> Result<Result<SectionBody, SectionSkipReason>, DeadlineExceeded> {
        let (path, text) = match self.first_existing(manifest)? {
            Ok(found) => found,
            Err(why) => return Ok(Err(why)),
        };
        let owners = match owners(&text) {
            Ok(owners) => owners,
            Err(why) => return Ok(Err(format!("{path}: {why}"))),
        };
        let skills = self.framework_skills()?;
        let (index, findings) = skill_index(&owners, &skills);
        self.skills = Some(skills);
        self.findings.extend(findings);
        Ok(Ok(SectionBody::Whole(index)))
    }

    fn framework_skills(&mut self) -> Result<Vec<Skill>, DeadlineExceeded> {
        if let Some(skills) = self.skills.take() {
            return Ok(skills);
        }
        let mut all = Vec::new();
        for dir in framework_paths::SKILLS {
            all.extend(self.walk(&self.project.clone(), dir)?);
        }
        Ok(all)
    }

    fn walk(&mut self, base: &Base, dir: &str) -> Result<Vec<Skill>, DeadlineExceeded> {
        let mut walk =
            SkillScanner { reader: &mut self.reader, memo: self.memo, findings: &mut self.findings };
        let skills = walk.skills(base, dir)?;
        let place = if skills.is_empty() { &mut self.absent } else { &mut self.used };
        place.push(base.label(dir));
        Ok(skills)
    }

    pub(super) fn skill_list(
        &mut self,
        dirs: &[String],
    ) -> Result<Result<SectionBody, SectionSkipReason>, DeadlineExceeded> {
        let mut named = Vec::new();
        for dir in dirs {
            named.extend(self.walk(&self.project.clone(), dir)?.into_iter().map(|skill| (None, skill)));
        }
        for (plugin, base) in self.plugins() {
            named.extend(self.walk(&base, "skills")?.into_iter().map(|skill| (Some(plugin.clone()), skill)));
        }
        let entries = named.iter().map(|(plugin, skill)| {
            let name = skill.facts.name.as_deref().unwrap_or(skill.directory());
            (of_plugin(plugin.as_deref(), name), skill)
        });
        Ok(Ok(SectionBody::Whole(skill_list(entries))))
    }

    pub(super) fn agents(
        &mut self,
        dirs: &[String],
    ) -> Result<Result<SectionBody, SectionSkipReason>, DeadlineExceeded> {
        let mut places: Vec<_> = dirs.iter().map(|dir| (None, self.project.clone(), dir.clone())).collect();
        places.extend(self.plugins().into_iter().map(|(name, base)| (Some(name), base, "agents".to_owned())));
        let mut entries = Vec::new();
        for (plugin, base, dir) in places {
            for file in self.markdown(&base, &dir)? {
                let path = format!("{dir}/{file}");
                let Some(text) = self.listed(&base, &path)? else { continue };
                let facts = SkillFacts::of(&text);
                let name = facts.name.clone().unwrap_or_else(|| file.trim_end_matches(".md").to_owned());
                entries.push(agent_entry(&of_plugin(plugin.as_deref(), &name), &facts, &base.label(&path)));
            }
        }
        Ok(Ok(SectionBody::Whole(entries.join("\n"))))
    }

    fn plugins(&self) -> Vec<(String, Base)> {
        let plugins = self.settings.plugins().iter();
        plugins.filter_map(|plugin| Some((plugin.name.clone(), Base::outside(&plugin.dir)?))).collect()
    }
}

fn of_plugin(plugin: Option<&str>, name: &str) -> String {
    plugin.map_or_else(|| name.to_owned(), |plugin| format!("{plugin}:{name}"))
}
