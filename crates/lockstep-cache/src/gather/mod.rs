//! Reads the sources on disk into the drafts of all sections. Each section is independent: an error in one
//! does not affect the others.

mod external;
mod roundtable;
mod skills;

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::time::Instant;

use crate::body::{Body, Caps};
use crate::build_record::{BuildRecord, TrackedInput};
use crate::compose::Draft;
use crate::content_provider::{Given, Provider};
use crate::finding::{Finding, FindingKind};
use crate::inputs::{self, Inputs};
use crate::json::json;
use crate::listing::{OFFER, files};
use crate::section::{Section, Strategy};
use crate::settings::Settings;
use crate::skill::Skill;
use crate::skill_facts_cache::SkillFactsCache;
use crate::source_reader::{Base, Late, SourceReader, SourceState};

/// The gathered content of all sections.
pub(crate) struct CollectedSections {
    pub(crate) drafts: Vec<Draft>,
    pub(crate) findings: Vec<Finding>,
    pub(crate) resolved: Vec<Resolved>,
    /// The inputs; the cache is not written yet.
    pub(crate) record: BuildRecord,
    pub(crate) inputs: Inputs,
    /// The number of opened files.
    pub(crate) opened: usize,
}

/// The source of a section's content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resolved {
    pub section: String,
    /// The files and directories that were used.
    pub used: Vec<String>,
    /// The paths that do not exist, in the order of the search.
    pub absent: Vec<String>,
}

/// The reason why a section has no content.
type Skip = String;

/// Reads everything that `settings` name below `root`.
pub(crate) fn gather(
    root: &Path,
    settings: &Settings,
    provider: &dyn Provider,
    known: &BuildRecord,
    memo: &mut SkillFactsCache,
    deadline: Option<Instant>,
) -> io::Result<Result<CollectedSections, Late>> {
    let project = Base::project(root)?;
    let mut gatherer = SectionCollector {
        reader: SourceReader::new(root, known, deadline),
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

/// Returns the inputs that are no files: the configuration, and the provider's texts.
pub(crate) fn values(settings: &Settings, provider: &dyn Provider) -> BTreeMap<String, TrackedInput> {
    let mut values = BTreeMap::new();
    let fingerprint = blake3::hash(settings.fingerprint().as_bytes());
    values.insert(inputs::CONFIGURATION.to_owned(), TrackedInput::Value(fingerprint));
    for section in settings.sections().iter().filter(|section| section.strategy == Strategy::Given) {
        let look = match provider.given(section.name.as_str()) {
            Given::Text(text) => TrackedInput::Value(blake3::hash(text.as_bytes())),
            Given::Nothing => continue,
            Given::Unknown(why) => TrackedInput::Unusable(crate::measure::one_line(&why)),
        };
        values.insert(inputs::given(&section.name), look);
    }
    values
}

struct SectionCollector<'a> {
    reader: SourceReader<'a>,
    project: Base,
    settings: &'a Settings,
    provider: &'a dyn Provider,
    memo: &'a mut SkillFactsCache,
    /// The framework's skills, once they were walked.
    skills: Option<Vec<Skill>>,
    // State of the current section:
    findings: Vec<FindingKind>,
    used: Vec<String>,
    absent: Vec<String>,
}

impl SectionCollector<'_> {
    fn all(&mut self) -> Result<CollectedSections, Late> {
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
        let record = BuildRecord { written: None, looks };
        let inputs = record.inputs();
        Ok(CollectedSections { drafts, findings, resolved, record, inputs, opened: self.reader.opened })
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
                Given::Nothing => Err("nothing was given for it".to_owned()),
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

    /// Returns the complete text, or `None` if there is no file.
    fn usable(&mut self, label: &str, seen: SourceState) -> Option<Result<String, Skip>> {
        let file = match seen {
            SourceState::Absent => return None,
            SourceState::Unusable(why) => return Some(Err(why)),
            SourceState::File(file) => file,
        };
        if file.longer {
            return Some(Err("it is larger than 4 MiB".to_owned()));
        }
        self.used.push(label.to_owned());
        if file.is_lossy {
            self.findings.push(FindingKind::NotUtf8 { path: label.to_owned() });
        }
        Some(Ok(file.text.clone()))
    }

    /// Returns the complete text of a listed file; an unusable file is a finding.
    fn listed(&mut self, base: &Base, path: &str) -> Result<Option<String>, Late> {
        let (label, seen) = (base.label(path), self.reader.file(base, path)?);
        match self.usable(&label, seen) {
            Some(Ok(text)) => return Ok(Some(text)),
            Some(Err(why)) => self.findings.push(FindingKind::Unusable { path: label, why }),
            None => {}
        }
        Ok(None)
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

    /// The names of the Markdown files directly in `dir`, sorted.
    fn markdown(&mut self, base: &Base, dir: &str) -> Result<Vec<String>, Late> {
        let Some(listing) = self.reader.list(base, dir)? else {
            self.absent.push(base.label(dir));
            return Ok(Vec::new());
        };
        Ok(listing.entries.into_iter().map(|(name, _)| name).filter(|name| name.ends_with(".md")).collect())
    }
}

fn not_empty(body: Body) -> Result<Body, Skip> {
    let empty = match &body {
        Body::Whole(text) => text.trim().is_empty(),
        other => other.text(Caps::USUAL).trim().is_empty(),
    };
    if empty { Err("empty content".to_owned()) } else { Ok(body) }
}
