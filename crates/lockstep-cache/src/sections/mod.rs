//! Reads the sources on disk into the drafts of all sections. Each section is independent: an error in one
//! does not affect the others.

mod external;
mod roundtable;
mod skills;

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::time::Instant;

use crate::budget::SectionDraft;
use crate::build_record::{BuildRecord, TrackedInput};
use crate::content_provider::{ContentProvider, ProvidedText};
use crate::finding::{BuildFinding, BuildFindingKind};
use crate::inputs::{self, BuildInputs};
use crate::json_section::parse_json_section;
use crate::listing::{DEFAULT_INSTRUCTIONS, files};
use crate::section::{ContentStrategy, SectionConfig};
use crate::section_body::{LengthCaps, SectionBody};
use crate::settings::CacheSettings;
use crate::skill::Skill;
use crate::skill_facts_cache::SkillFactsCache;
use crate::source_reader::{Base, DeadlineExceeded, SourceReader, SourceState};

pub(crate) struct CollectedSections {
    pub(crate) drafts: Vec<SectionDraft>,
    pub(crate) findings: Vec<BuildFinding>,
    pub(crate) resolved: Vec<SectionSources>,
    /// The inputs; the cache is not written yet.
    pub(crate) record: BuildRecord,
    pub(crate) inputs: BuildInputs,
    /// The number of opened files.
    pub(crate) opened: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SectionSources {
    pub section: String,
    /// The files and directories that were used.
    pub used: Vec<String>,
    /// The paths that do not exist, in the order of the search.
    pub absent: Vec<String>,
}

/// The reason why a section has no content.
type SectionSkipReason = String;

/// Reads everything that `settings` name below `root`.
pub(crate) fn collect_sections(
    root: &Path,
    settings: &CacheSettings,
    provider: &dyn ContentProvider,
    known: &BuildRecord,
    memo: &mut SkillFactsCache,
    deadline: Option<Instant>,
) -> io::Result<Result<CollectedSections, DeadlineExceeded>> {
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
pub(crate) fn non_file_inputs(
    settings: &CacheSettings,
    provider: &dyn ContentProvider,
) -> BTreeMap<String, TrackedInput> {
    let mut values = BTreeMap::new();
    let fingerprint = blake3::hash(settings.fingerprint().as_bytes());
    values.insert(inputs::CONFIGURATION.to_owned(), TrackedInput::Value(fingerprint));
    for section in settings.sections().iter().filter(|section| section.strategy == ContentStrategy::Given) {
        let look = match provider.given(section.name.as_str()) {
            ProvidedText::Text(text) => TrackedInput::Value(blake3::hash(text.as_bytes())),
            ProvidedText::Nothing => continue,
            ProvidedText::Unknown(why) => TrackedInput::Unusable(crate::text_length::one_line(&why)),
        };
        values.insert(inputs::given(&section.name), look);
    }
    values
}

struct SectionCollector<'a> {
    reader: SourceReader<'a>,
    project: Base,
    settings: &'a CacheSettings,
    provider: &'a dyn ContentProvider,
    memo: &'a mut SkillFactsCache,
    /// The framework's skills, once they were walked.
    skills: Option<Vec<Skill>>,
    // State of the current section:
    findings: Vec<BuildFindingKind>,
    used: Vec<String>,
    absent: Vec<String>,
}

impl SectionCollector<'_> {
    fn all(&mut self) -> Result<CollectedSections, DeadlineExceeded> {
        let (mut drafts, mut findings, mut resolved) = (Vec::new(), Vec::new(), Vec::new());
        for section in self.settings.sections() {
            let body = self.section(section)?.and_then(not_empty);
            let name = section.name.clone();
            findings.extend(self.findings.drain(..).map(|kind| BuildFinding::new(&name, kind)));
            resolved.push(SectionSources {
                section: name.to_string(),
                used: std::mem::take(&mut self.used),
                absent: std::mem::take(&mut self.absent),
            });
            drafts.push(SectionDraft { name, priority: section.priority, body });
        }
        let mut looks = std::mem::take(&mut self.reader.looks);
        looks.append(&mut non_file_inputs(self.settings, self.provider));
        let record = BuildRecord { written: None, looks };
        let inputs = record.inputs();
        Ok(CollectedSections { drafts, findings, resolved, record, inputs, opened: self.reader.opened })
    }

    fn section(
        &mut self,
        section: &SectionConfig,
    ) -> Result<Result<SectionBody, SectionSkipReason>, DeadlineExceeded> {
        let source = &section.source;
        match &section.strategy {
            ContentStrategy::Raw => {
                Ok(self.first_existing(source)?.map(|(_, text)| SectionBody::Whole(text)))
            }
            ContentStrategy::Json { without } => Ok(self
                .first_existing(source)?
                .and_then(|(path, text)| {
                    parse_json_section(&text, without).map_err(|why| format!("{path}: {why}"))
                })
                .map(SectionBody::Whole)),
            ContentStrategy::SkillIndex => self.skill_index(source),
            ContentStrategy::SkillList => self.skill_list(source),
            ContentStrategy::ExternalSkills => self.external(source),
            ContentStrategy::Roundtable => self.roundtable(),
            ContentStrategy::Agents => self.agents(source),
            ContentStrategy::Files => self.files(source),
            ContentStrategy::Instructions => self.instructions(source),
            ContentStrategy::Given => Ok(match self.provider.given(section.name.as_str()) {
                ProvidedText::Text(text) => Ok(SectionBody::Whole(text)),
                ProvidedText::Nothing => Err("nothing was given for it".to_owned()),
                ProvidedText::Unknown(why) => Err(why),
            }),
        }
    }

    /// The first of `places` that exists, and its text.
    fn first_existing(
        &mut self,
        places: &[String],
    ) -> Result<Result<(String, String), SectionSkipReason>, DeadlineExceeded> {
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
    fn usable(&mut self, label: &str, seen: SourceState) -> Option<Result<String, SectionSkipReason>> {
        let file = match seen {
            SourceState::Absent => return None,
            SourceState::Unusable(why) => return Some(Err(why)),
            SourceState::File(file) => file,
        };
        if file.is_truncated {
            return Some(Err("it is larger than 4 MiB".to_owned()));
        }
        self.used.push(label.to_owned());
        if file.is_lossy {
            self.findings.push(BuildFindingKind::NotUtf8 { path: label.to_owned() });
        }
        Some(Ok(file.text.clone()))
    }

    /// Returns the complete text of a listed file; an unusable file is a finding.
    fn listed(&mut self, base: &Base, path: &str) -> Result<Option<String>, DeadlineExceeded> {
        let (label, seen) = (base.label(path), self.reader.file(base, path)?);
        match self.usable(&label, seen) {
            Some(Ok(text)) => return Ok(Some(text)),
            Some(Err(why)) => self.findings.push(BuildFindingKind::Unusable { path: label, why }),
            None => {}
        }
        Ok(None)
    }

    fn files(
        &mut self,
        paths: &[String],
    ) -> Result<Result<SectionBody, SectionSkipReason>, DeadlineExceeded> {
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
                .push(BuildFindingKind::Unusable { path: path.clone(), why: "it is not there".to_owned() });
        }
        Ok(Ok(SectionBody::Whole(files(found.iter().map(|(path, text)| (*path, text.as_str()))))))
    }

    fn instructions(
        &mut self,
        source: &[String],
    ) -> Result<Result<SectionBody, SectionSkipReason>, DeadlineExceeded> {
        let text = match self.first_existing(source)? {
            Ok((_, text)) => text,
            Err(_) if self.absent.len() == source.len() => DEFAULT_INSTRUCTIONS.to_owned(),
            Err(why) => return Ok(Err(why)),
        };
        Ok(Ok(SectionBody::Whole(text)))
    }

    /// The names of the Markdown files directly in `dir`, sorted.
    fn markdown(&mut self, base: &Base, dir: &str) -> Result<Vec<String>, DeadlineExceeded> {
        let Some(listing) = self.reader.list(base, dir)? else {
            self.absent.push(base.label(dir));
            return Ok(Vec::new());
        };
        Ok(listing.entries.into_iter().map(|(name, _)| name).filter(|name| name.ends_with(".md")).collect())
    }
}

fn not_empty(body: SectionBody) -> Result<SectionBody, SectionSkipReason> {
    let empty = match &body {
        SectionBody::Whole(text) => text.trim().is_empty(),
        other => other.text(LengthCaps::DEFAULT).trim().is_empty(),
    };
    if empty { Err("empty content".to_owned()) } else { Ok(body) }
}
