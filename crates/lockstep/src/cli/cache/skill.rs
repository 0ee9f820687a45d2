//! `lockstep cache skill`: external skills, in their manifest. Every change rebuilds the cache.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use lockstep_cache::external_manifest::{self, BindingUpdate, ManifestEditError};
use lockstep_cache::framework_paths::{EXTERNAL_MANIFEST, EXTERNAL_SKILLS};
use lockstep_cache::{BuildOptions, ContentStrategy, SessionCache};
use lockstep_fs::write_atomically;

use super::build;
use crate::build_time;
use crate::cache::{self, ProjectProvider};
use crate::cli::{CommandContext, CommandStatus};
use crate::error::{CommandError, CommandErrorKind, CommandResult};
use crate::project::ActiveProject;
use crate::setup::confined;

/// Register external skills, bind them to agents and phases, remove them
///
/// An external skill is a file below .claude/skills/external that the manifest names. Its text is marked as
/// third-party text wherever it is delivered. Each of these commands edits the manifest and rebuilds the
/// cache.
#[derive(Debug, clap::Args)]
#[command(
    arg_required_else_help = true,
    after_help = "Examples:
  lockstep cache skill add style-guide style-guide.md
  lockstep cache skill wire style-guide --agent software-developer
  lockstep cache skill remove style-guide"
)]
pub(crate) struct CacheSkillArgs {
    #[command(subcommand)]
    command: SkillCommand,
}

#[derive(Debug, clap::Subcommand)]
enum SkillCommand {
    /// Register a skill
    #[command(after_help = "Examples:
  lockstep cache skill add api-style api-style.md --agent software-developer --injection always --delivery context
  lockstep cache skill add react react.md --source skills.sh")]
    Add {
        /// The name of the skill
        name: String,
        /// The file, relative to .claude/skills/external
        file: String,
        /// Origin of the skill, recorded in the manifest and the cache
        #[arg(long, value_name = "NAME", default_value = "user")]
        source: String,
        #[command(flatten)]
        wiring: BindingArgs,
    },
    /// Take a skill out of the manifest; its file stays
    #[command(after_help = "Examples:\n  lockstep cache skill remove api-style")]
    Remove {
        /// The name of the skill
        name: String,
    },
    /// Change what a skill is bound to
    #[command(after_help = "Examples:
  lockstep cache skill wire api-style --phase 06-implementation
  lockstep cache skill wire api-style --every-agent")]
    Wire {
        /// The name of the skill
        name: String,
        #[command(flatten)]
        wiring: BindingArgs,
    },
}

#[derive(Debug, clap::Args)]
struct BindingArgs {
    /// A phase it applies in; may be given several times
    #[arg(long, value_name = "KEY", conflicts_with = "every_phase")]
    phase: Vec<String>,
    /// Bind it to every phase
    #[arg(long)]
    every_phase: bool,
    /// An agent it is for; may be given several times
    #[arg(long, value_name = "NAME", conflicts_with = "every_agent")]
    agent: Vec<String>,
    /// Bind it to every agent
    #[arg(long)]
    every_agent: bool,
    /// When to inject it: `always` puts it into a subagent's part in full
    #[arg(long, value_name = "MODE")]
    injection: Option<String>,
    /// As what it is delivered: `reference` is only named
    #[arg(long, value_name = "TYPE")]
    delivery: Option<String>,
}

impl BindingArgs {
    fn wiring(&self) -> BindingUpdate {
        let names = |names: &[String], every: bool| (every || !names.is_empty()).then(|| names.to_vec());
        BindingUpdate {
            phases: names(&self.phase, self.every_phase),
            agents: names(&self.agent, self.every_agent),
            injection_mode: self.injection.clone(),
            delivery_type: self.delivery.clone(),
        }
    }
}

pub(crate) fn run(args: &CacheSkillArgs, context: &CommandContext) -> CommandResult {
    let project = ActiveProject::of_cache_command(&context.directory)?;
    let cache = cache::open(&project)?;
    let manifest = ExternalManifestFile::of(&project, &cache)?;
    let edited = match &args.command {
        SkillCommand::Add { name, file, source, wiring } => {
            let edited =
                external_manifest::add(manifest.text.as_deref(), name, file, source, &wiring.wiring())?;
            is_there(&project.root, file)?;
            edited
        }
        SkillCommand::Remove { name } => external_manifest::remove(manifest.existing()?, name)?,
        SkillCommand::Wire { name, wiring } => {
            external_manifest::update_bindings(manifest.existing()?, name, &wiring.wiring())?
        }
    };
    manifest.write(&edited)?;
    let built = cache.build(
        &ProjectProvider::new(&project),
        build_time::build_timestamp(),
        BuildOptions::default(),
    )?;
    build::show(&built, &project, context);
    if !cache.settings().sections().iter().any(|section| section.strategy == ContentStrategy::ExternalSkills)
    {
        context.terminal.print_note(
            "note: the cache has no section with the strategy `external-skills`, so external skills are in none of its \
             sections; add one as [[cache.section]] in lockstep.toml\n",
        );
    }
    Ok(CommandStatus::Success)
}

/// The manifest of external skills: the first of its places that exists, else the first.
struct ExternalManifestFile {
    path: PathBuf,
    text: Option<String>,
}

impl ExternalManifestFile {
    fn of(project: &ActiveProject, cache: &SessionCache) -> CommandResult<Self> {
        let configured = cache.settings().sections().iter();
        let configured = configured.filter(|section| section.strategy == ContentStrategy::ExternalSkills);
        let mut places: Vec<String> = configured.flat_map(|section| section.source.clone()).collect();
        places.extend(EXTERNAL_MANIFEST.map(str::to_owned));
        for place in &places {
            let path = confined(&project.root, place)?;
            match lockstep_fs::read_to_string(&path) {
                Ok(text) => return Ok(Self { path, text: Some(text) }),
                Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {}
                Err(error) => {
                    let message = format!("cannot read {}: {error}", path.display());
                    return Err(CommandError::store(message));
                }
            }
        }
        Ok(Self { path: confined(&project.root, &places[0])?, text: None })
    }

    fn existing(&self) -> CommandResult<&str> {
        self.text.as_deref().ok_or_else(|| {
            CommandError::usage("no external skill is registered: there is no manifest")
                .hint("`lockstep cache skill add NAME FILE` begins one")
        })
    }

    fn write(&self, text: &str) -> CommandResult<()> {
        let dir = self.path.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(dir)
            .map_err(|error| CommandError::store(format!("cannot create {}: {error}", dir.display())))?;
        Ok(write_atomically(&self.path, text.as_bytes(), 0o644)?)
    }
}

fn is_there(root: &Path, file: &str) -> CommandResult<()> {
    let path = Path::new(EXTERNAL_SKILLS).join(file);
    if root.join(&path).is_file() {
        return Ok(());
    }
    Err(CommandError::store(format!("there is no file {}", path.display()))
        .hint(format!("put the skill's text there; files of external skills are below {EXTERNAL_SKILLS}")))
}

impl From<ManifestEditError> for CommandError {
    fn from(error: ManifestEditError) -> Self {
        let kind = match error {
            ManifestEditError::Manifest { .. } => CommandErrorKind::Store,
            _ => CommandErrorKind::Usage,
        };
        Self::new(kind, error.to_string())
    }
}
