//! From the sources on disk to the drafts of all sections. Each section on its own: what is wrong with one costs no other.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::time::Instant;

use crate::body::{Body, Caps, Piece};
use crate::compose::Draft;
use crate::external::{ExternalBlock, ExternalContent, external_skills};
use crate::finding::{Finding, FindingKind};
use crate::inputs::{self, Inputs};
use crate::json::json;
use crate::layout;
use crate::listing::{OFFER, agent_entry, files};
use crate::memo::Memo;
use crate::provider::{Given, Provider};
use crate::reader::{Base, Late, Reader, Seen};
use crate::record::{Look, Record};
use crate::roundtable;
use crate::section::{Section, Strategy, stays_inside};
use crate::settings::Settings;
use crate::skill::{Skill, SkillFacts};
use crate::skill_index::{skill_index, skill_list};
use crate::skill_walk::Walk;
use crate::skills_manifest::owners;

/// What was found for all sections.
pub(crate) struct Gathered {
    pub(crate) drafts: Vec<Draft>,
    pub(crate) findings: Vec<Finding>,
    pub(crate) resolved: Vec<Resolved>,
    /// What was looked at; the cache is not written yet.
    pub(crate) record: Record,
    pub(crate) inputs: Inputs,
    /// How many files were opened.
    pub(crate) opened: usize,
}

/// Where a section's content comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resolved {
    /// The section.
    pub section: String,
    /// The files and directories that were used.
    pub used: Vec<String>,
    /// The places where nothing was, in the order they were looked at.
    pub absent: Vec<String>,
}

/// Why a section has no content.
type Skip = String;

/// Reads everything that `settings` name below `root`.
pub(crate) fn gather(
    root: &Path,
    settings: &Settings,
    provider: &dyn Provider,
    known: &Record,
    memo: &mut Memo,
    deadline: Option<Instant>,
) -> io::Result<Result<Gathered, Late>> {
    let project = Base::project(root)?;
    let mut gatherer = Gatherer {
        reader: Reader::new(root, known, deadline),
        project,
        settings,
        provider,
        memo,
        skills: None,
        findings: Vec::new(),
        used: Vec::new(),
        absent: Vec::new(),
    };
    Ok(gatherer.all())
}

/// The inputs that are no files: the configuration, and what the provider gives.
pub(crate) fn values(settings: &Settings, provider: &dyn Provider) -> BTreeMap<String, Look> {
    let mut values = BTreeMap::new();
    let fingerprint = blake3::hash(settings.fingerprint().as_bytes());
    values.insert(inputs::CONFIGURATION.to_owned(), Look::Value(fingerprint));
    for section in settings.sections().iter().filter(|section| section.strategy == Strategy::Given) {
        let look = match provider.given(section.name.as_str()) {
            Given::Text(text) => Look::Value(blake3::hash(text.as_bytes())),
            Given::Nothing => continue,
            Given::Unknown(why) => Look::Unusable(crate::measure::one_line(&why)),
        };
        values.insert(inputs::given(&section.name), look);
    }
    values
}

struct Gatherer<'a> {
    reader: Reader<'a>,
    project: Base,
    settings: &'a Settings,
    provider: &'a dyn Provider,
    memo: &'a mut Memo,
    /// The framework's skills, once they were walked.
    skills: Option<Vec<Skill>>,
    // Of the section at hand:
    findings: Vec<FindingKind>,
    used: Vec<String>,
    absent: Vec<String>,
}

impl Gatherer<'_> {
    fn all(&mut self) -> Result<Gathered, Late> {
        let (mut drafts, mut findings, mut resolved) = (Vec::new(), Vec::new(), Vec::new());
        for section in self.settings.sections() {
            let body = self.section(section)?.and_then(not_empty);
            let name = section.name.clone();
            findings.extend(self.findings.drain(..).map(|kind| Finding::new(&name, kind)));
            resolved.push(Resolved {
                section: name.to_string(),
                used: std::mem::take(&mut self.used),
                absent: std::mem::take(&mut self.absent),
            });
            drafts.push(Draft { name, priority: section.priority, body });
        }
        let mut looks = std::mem::take(&mut self.reader.looks);
        looks.append(&mut values(self.settings, self.provider));
        let record = Record { written: None, looks };
        let inputs = record.inputs();
        Ok(Gathered { drafts, findings, resolved, record, inputs, opened: self.reader.opened })
    }

    fn section(&mut self, section: &Section) -> Result<Result<Body, Skip>, Late> {
        let source = &section.source;
        match &section.strategy {
            Strategy::Raw => Ok(self.first(source)?.map(|(_, text)| Body::Whole(text))),
            Strategy::Json { without } => Ok(self
                .first(source)?
                .and_then(|(path, text)| json(&text, without).map_err(|why| format!("{path}: {why}")))
                .map(Body::Whole)),
            Strategy::SkillIndex => self.skill_index(source),
            Strategy::SkillList => self.skill_list(source),
            Strategy::ExternalSkills => self.external(source),
            Strategy::Roundtable => self.roundtable(),
            Strategy::Agents => self.agents(source),
            Strategy::Files => self.files(source),
            Strategy::Instructions => self.instructions(source),
            Strategy::Given => Ok(match self.provider.given(section.name.as_str()) {
                Given::Text(text) => Ok(Body::Whole(text)),
                Given::Nothing => Err("nothing to say".to_owned()),
                Given::Unknown(why) => Err(why),
            }),
        }
    }

    /// The first of `places` that exists, and its text.
    fn first(&mut self, places: &[String]) -> Result<Result<(String, String), Skip>, Late> {
        for place in places {
            let seen = self.reader.file(&self.project, place)?;
            match self.usable(place, seen) {
                None => self.absent.push(place.clone()),
                Some(Ok(text)) => return Ok(Ok((place.clone(), text))),
                Some(Err(why)) => return Ok(Err(format!("{place}: {why}"))),
            }
        }
        Ok(Err(match places {
            [] => "no source is configured".to_owned(),
            places => format!("not found: {}", places.join(", ")),
        }))
    }

    /// The whole text of what was seen; `None` where there is nothing.
    fn usable(&mut self, label: &str, seen: Seen) -> Option<Result<String, Skip>> {
        let file = match seen {
            Seen::Absent => return None,
            Seen::Unusable(why) => return Some(Err(why)),
            Seen::File(file) => file,
        };
        if file.longer {
            return Some(Err("it is larger than 4 MiB".to_owned()));
        }
        self.used.push(label.to_owned());
        if file.mended {
            self.findings.push(FindingKind::NotUtf8 { path: label.to_owned() });
        }
        Some(Ok(file.text.clone()))
    }

    /// The whole text of a file that a directory lists; what cannot be used is a finding.
    fn listed(&mut self, base: &Base, path: &str) -> Result<Option<String>, Late> {
        let (label, seen) = (base.label(path), self.reader.file(base, path)?);
        match self.usable(&label, seen) {
            Some(Ok(text)) => return Ok(Some(text)),
            Some(Err(why)) => self.findings.push(FindingKind::Unusable { path: label, why }),
            None => {}
        }
        Ok(None)
    }

    fn skill_index(&mut self, manifest: &[String]) -> Result<Result<Body, Skip>, Late> {
        let (path, text) = match self.first(manifest)? {
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
        Ok(Ok(Body::Whole(index)))
    }

    fn framework_skills(&mut self) -> Result<Vec<Skill>, Late> {
        if let Some(skills) = self.skills.take() {
            return Ok(skills);
        }
        let mut all = Vec::new();
        for dir in layout::SKILLS {
            all.extend(self.walk(&self.project.clone(), dir)?);
        }
        Ok(all)
    }

    fn walk(&mut self, base: &Base, dir: &str) -> Result<Vec<Skill>, Late> {
        let mut walk = Walk { reader: &mut self.reader, memo: self.memo, findings: &mut self.findings };
        let skills = walk.skills(base, dir)?;
        let place = if skills.is_empty() { &mut self.absent } else { &mut self.used };
        place.push(base.label(dir));
        Ok(skills)
    }

    fn skill_list(&mut self, dirs: &[String]) -> Result<Result<Body, Skip>, Late> {
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
        Ok(Ok(Body::Whole(skill_list(entries))))
    }

    fn agents(&mut self, dirs: &[String]) -> Result<Result<Body, Skip>, Late> {
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
        Ok(Ok(Body::Whole(entries.join("\n"))))
    }

    fn plugins(&self) -> Vec<(String, Base)> {
        let plugins = self.settings.plugins().iter();
        plugins.filter_map(|plugin| Some((plugin.name.clone(), Base::outside(&plugin.dir)?))).collect()
    }

    fn files(&mut self, paths: &[String]) -> Result<Result<Body, Skip>, Late> {
        if paths.is_empty() {
            return Ok(Err("no source is configured".to_owned()));
        }
        let mut found = Vec::new();
        for path in paths {
            match self.listed(&self.project.clone(), path)? {
                Some(text) => found.push((path.as_str(), text)),
                None => self.absent.push(path.clone()),
            }
        }
        if found.is_empty() {
            return Ok(Err(format!("not found: {}", paths.join(", "))));
        }
        for path in &self.absent {
            self.findings
                .push(FindingKind::Unusable { path: path.clone(), why: "it is not there".to_owned() });
        }
        Ok(Ok(Body::Whole(files(found.iter().map(|(path, text)| (*path, text.as_str()))))))
    }

    fn instructions(&mut self, source: &[String]) -> Result<Result<Body, Skip>, Late> {
        let text = match self.first(source)? {
            Ok((_, text)) => text,
            Err(_) if self.absent.len() == source.len() => OFFER.to_owned(),
            Err(why) => return Ok(Err(why)),
        };
        Ok(Ok(Body::Whole(text)))
    }

    fn external(&mut self, manifest: &[String]) -> Result<Result<Body, Skip>, Late> {
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
            // The folder that comes later must be noticed.
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
            // Only its beginning is shown, so that it may be longer than what is kept.
            Seen::File(text) => {
                let label = folder.label(file);
                if text.mended {
                    self.findings.push(FindingKind::NotUtf8 { path: label.clone() });
                }
                self.used.push(label);
                ExternalContent::Text(text.text.clone())
            }
            Seen::Absent => self.unreadable(file, "it is not there"),
            Seen::Unusable(why) => self.unreadable(file, &why),
        })
    }

    fn unreadable(&mut self, file: &str, why: &str) -> ExternalContent {
        let path = format!("{}/{file}", layout::EXTERNAL_SKILLS);
        self.findings.push(FindingKind::Unusable { path, why: why.to_owned() });
        ExternalContent::Unreadable
    }

    fn roundtable(&mut self) -> Result<Result<Body, Skip>, Late> {
        let mut pieces = self.personas()?;
        pieces.extend(self.topics()?);
        if pieces.is_empty() {
            let (personas, topics) = (layout::PERSONAS.join(", "), layout::TOPICS.join(", "));
            return Ok(Err(format!(
                "no personas in {personas}, {}; no topics in {topics}",
                layout::OWN_PERSONAS
            )));
        }
        Ok(Ok(Body::Roundtable(pieces)))
    }

    /// The framework's personas, each replaced by the project's own of the same name; then the project's others.
    fn personas(&mut self) -> Result<Vec<Piece>, Late> {
        let project = self.project.clone();
        let own = self.markdown(&project, layout::OWN_PERSONAS)?;
        let mut paths: Vec<(String, String)> = Vec::new();
        for dir in layout::PERSONAS {
            let files = self.markdown(&project, dir)?;
            paths.extend(files.into_iter().filter(|file| file.starts_with("persona-")).map(|file| {
                let dir = if own.contains(&file) { layout::OWN_PERSONAS } else { dir };
                (dir.to_owned(), file)
            }));
            if !paths.is_empty() {
                break;
            }
        }
        for file in own {
            if !paths.iter().any(|(_, known)| *known == file) {
                paths.push((layout::OWN_PERSONAS.to_owned(), file));
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

    fn topics(&mut self) -> Result<Vec<Piece>, Late> {
        let project = self.project.clone();
        let mut topics = Vec::new();
        for dir in layout::TOPICS {
            let Some(categories) = self.reader.list(&project, dir)? else {
                self.absent.push(dir.to_owned());
                continue;
            };
            for (category, _) in
                categories.entries.into_iter().filter(|(_, perhaps_directory)| *perhaps_directory)
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

    /// The names of the Markdown files directly in `dir`, sorted.
    fn markdown(&mut self, base: &Base, dir: &str) -> Result<Vec<String>, Late> {
        let Some(listing) = self.reader.list(base, dir)? else {
            self.absent.push(base.label(dir));
            return Ok(Vec::new());
        };
        Ok(listing.entries.into_iter().map(|(name, _)| name).filter(|name| name.ends_with(".md")).collect())
    }
}

fn of_plugin(plugin: Option<&str>, name: &str) -> String {
    plugin.map_or_else(|| name.to_owned(), |plugin| format!("{plugin}:{name}"))
}

fn not_empty(body: Body) -> Result<Body, Skip> {
    let empty = match &body {
        Body::Whole(text) => text.trim().is_empty(),
        other => other.text(Caps::USUAL).trim().is_empty(),
    };
    if empty { Err("empty content".to_owned()) } else { Ok(body) }
}
