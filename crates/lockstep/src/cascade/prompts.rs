//! The prompts of a cascade: its material from disk, the index and the project's own templates.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::ErrorKind;

use lockstep_cascade::Cascade;
use lockstep_cascade::prompt::{
    self, ChangedSymbol, Prompt, PromptContext, PromptError, PromptTemplate, escape_name,
};
use lockstep_cascade::state::{Group, OriginalDigest, RootCause};
use lockstep_cascade::tier::Tier;
use lockstep_index::index::NoProgress;
use lockstep_refs::definition_diff::DefinitionChangeKind;
use lockstep_refs::entity::{Entity, entities};
use schemars::JsonSchema;
use serde::Serialize;

use super::analysis::imports;
use super::inspector::DiskInspector;
use crate::error::{CommandError, CommandResult};
use crate::impact::analysis::{ImpactAnalysis, deadline_after};

/// Larger templates are no templates.
const MAX_TEMPLATE_BYTES: u64 = 256 * 1024;

/// Lines about the architecture; the rest is left out.
const MAX_ARCHITECTURE: usize = 60;

/// A group with the prompt for its agent.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct GroupPrompt {
    /// The group, such as `1a`.
    pub(crate) group: String,
    /// The kind of agent.
    pub(crate) role: &'static str,
    /// The attempt, 1 or 2.
    pub(crate) attempt: u8,
    /// The files it is to bring up to date, from the root.
    pub(crate) files: Vec<String>,
    /// The maximum number of turns.
    pub(crate) max_turns: u32,
    /// The prompt for the agent, to be passed on as it is.
    pub(crate) prompt: String,
    /// Length in characters.
    pub(crate) chars: usize,
    /// The maximum length.
    pub(crate) budget_chars: usize,
}

impl DiskInspector<'_> {
    /// A group with the prompt for its agent.
    pub(crate) fn group_prompt(
        &self,
        cascade: &Cascade,
        group: &Group,
        delivery: &str,
    ) -> CommandResult<GroupPrompt> {
        let causes = cascade.iteration().map_or(&[][..], |iteration| &iteration.causes[..]);
        let prompt =
            self.with_material(cascade, causes, Some(group), &prompt::IMPLEMENTER, delivery, |material| {
                prompt::implementer(cascade, group, material)
            })?;
        let open = group.files.iter().filter(|file| file.outcome.is_none());
        Ok(GroupPrompt {
            group: group.id.clone(),
            role: group.role.as_str(),
            attempt: group.attempt,
            files: open.map(|file| file.path.clone()).collect(),
            max_turns: cascade.tier.effort().max_turns,
            prompt: prompt.text,
            chars: prompt.chars,
            budget_chars: prompt.budget,
        })
    }

    /// The prompt for a second opinion on convergence.
    pub(crate) fn analyst_prompt(&self, cascade: &Cascade, delivery: &str) -> CommandResult<Prompt> {
        self.with_material(cascade, &cascade.changed(), None, &prompt::ANALYST, delivery, |material| {
            prompt::analyst(cascade, material)
        })
    }

    fn with_material(
        &self,
        cascade: &Cascade,
        causes: &[RootCause],
        group: Option<&Group>,
        template: &PromptTemplate,
        delivery: &str,
        render: impl FnOnce(&PromptContext<'_>) -> Result<Prompt, PromptError>,
    ) -> CommandResult<Prompt> {
        let own = self.own_template(template)?;
        let symbols = self.symbols(causes)?;
        let architecture = match group.filter(|_| cascade.tier == Tier::Complex) {
            Some(group) => self.architecture(group)?,
            None => Vec::new(),
        };
        render(&PromptContext {
            text: &|digest| self.text(digest),
            present: &|path| self.current_text(path),
            symbols: &symbols,
            architecture: &architecture,
            context_tokens: self.project.config().cascade.context_tokens.0,
            delivery,
            template: own.as_deref(),
        })
        .map_err(|error| {
            CommandError::config(error.to_string())
                .hint(format!("mend or remove .lockstep/templates/{}", template.name))
        })
    }

    /// Returns the changed definitions of changed files.
    fn symbols(&self, causes: &[RootCause]) -> CommandResult<BTreeMap<String, Vec<ChangedSymbol>>> {
        let index = self.tree.open_index(&NoProgress)?;
        let limit = std::time::Duration::from_secs(10);
        let analysis = ImpactAnalysis::of(
            &self.tree.root,
            &index,
            &self.tree.aliases(),
            &self.edits(causes),
            &deadline_after(limit),
        );
        let mut symbols: BTreeMap<String, Vec<ChangedSymbol>> = BTreeMap::new();
        for cause in causes {
            symbols.entry(cause.path.clone()).or_default().extend(self.renamed_entities(cause));
        }
        for (file, broken) in analysis.impact.broken_in_files() {
            if let Some(becomes) = &broken.new_name {
                symbols.entry(file.path.clone()).or_default().push(ChangedSymbol {
                    name: broken.evidence.pattern.clone(),
                    what: "was renamed".to_owned(),
                    becomes: Some(becomes.clone()),
                });
            }
        }
        for file in analysis.impact.files.iter().filter(|file| !file.whole_file) {
            for change in
                file.symbols.iter().filter(|change| change.what != DefinitionChangeKind::BodyChanged)
            {
                symbols.entry(file.path.clone()).or_default().push(ChangedSymbol {
                    name: change.was.name.to_string(),
                    what: describe_change(&change.what).to_owned(),
                    becomes: change.what.new_name().map(str::to_owned),
                });
            }
        }
        for known in symbols.values_mut() {
            let mut seen = BTreeSet::new();
            known.retain(|symbol| seen.insert(symbol.name.clone()));
        }
        Ok(symbols)
    }

    /// The path and the names of a changed file that are others now: of a file that moved, of a skill that was renamed.
    fn renamed_entities(&self, cause: &RootCause) -> Vec<ChangedSymbol> {
        let aliases = self.tree.aliases();
        let former_text = match &cause.before {
            OriginalDigest::Content(digest) => self.text(digest),
            OriginalDigest::Absent | OriginalDigest::Unknown => None,
        };
        let former_path = cause.from.as_deref().unwrap_or(&cause.path);
        let present_text = self.current_text(&cause.path);
        let is = entities(&cause.path, present_text.as_deref(), &aliases);
        if present_text.is_none() || (former_text.is_none() && cause.from.is_none()) {
            return Vec::new();
        }
        let was = entities(former_path, former_text.as_deref(), &aliases);
        let (removed, new): (Vec<_>, Vec<_>) = (
            was.iter().filter(|entity| !is.contains(entity)).collect(),
            is.iter().filter(|entity| !was.contains(entity)).collect(),
        );
        let renamed = |old: &&Entity| {
            let to = new.iter().find(|entity| entity.kind == old.kind)?;
            Some(ChangedSymbol {
                name: old.name.to_string(),
                what: "was renamed".to_owned(),
                becomes: Some(to.name.to_string()),
            })
        };
        removed.iter().filter_map(renamed).collect()
    }

    /// Returns the import relations around the files of a group, one per line.
    fn architecture(&self, group: &Group) -> CommandResult<Vec<String>> {
        let index = self.tree.open_index(&NoProgress)?;
        let mut lines = Vec::new();
        for file in group.files.iter().filter(|file| file.outcome.is_none()) {
            let imports: BTreeSet<String> = imports(&index, &file.path, None);
            if !imports.is_empty() {
                let named: Vec<String> =
                    imports.iter().take(12).map(|path| format!("`{}`", escape_name(path))).collect();
                lines.push(format!("`{}` uses {}", escape_name(&file.path), named.join(", ")));
            }
        }
        lines.truncate(MAX_ARCHITECTURE);
        Ok(lines)
    }

    /// Returns the project's own template, if it has one.
    fn own_template(&self, template: &PromptTemplate) -> CommandResult<Option<String>> {
        let path = self.project.state.path().join("templates").join(template.name);
        let failed =
            |why: String| CommandError::config(format!("cannot use the template {}: {why}", path.display()));
        match fs::symlink_metadata(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(failed(error.to_string())),
            Ok(meta) if !meta.is_file() => return Err(failed("it is not a plain file".to_owned())),
            Ok(meta) if meta.len() > MAX_TEMPLATE_BYTES => {
                return Err(failed(format!("it is larger than {MAX_TEMPLATE_BYTES} bytes")));
            }
            Ok(_) => {}
        }
        lockstep_fs::read_to_string(&path).map(Some).map_err(|error| failed(error.to_string()))
    }
}

fn describe_change(what: &DefinitionChangeKind) -> &'static str {
    match what {
        DefinitionChangeKind::Removed => "was removed",
        DefinitionChangeKind::Renamed(_) => "was renamed",
        DefinitionChangeKind::SignatureChanged { .. } => "has another signature",
        DefinitionChangeKind::ParametersRenamed { .. } => "has parameters of other names",
        DefinitionChangeKind::VisibilityReduced => "is less visible",
        DefinitionChangeKind::BodyChanged => "changed inside",
        DefinitionChangeKind::Compatible => "changed, callers still fit",
        DefinitionChangeKind::Unknown => "was not analysed",
    }
}
