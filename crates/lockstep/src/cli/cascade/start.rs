//! `lockstep cascade start`.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use lockstep_cascade::Cascade;
use lockstep_cascade::cascade_input::MAX_BYTES;
use lockstep_cascade::tier::Tier;
use lockstep_model::ids::SessionId;

use super::{current_session, status, status_of};
use crate::cascade::{CascadeContext, CascadeSource, DiskInspector, LoadedCascade};
use crate::cli::CommandContext;
use crate::error::CommandResult;

/// Start a cascade from an impact report
///
/// Without `--from` or `--session`: from what differs from the last commit or, where nothing does, from what the last commit changed.
/// A report that is missing, empty or malformed, or that names no direct dependent, starts nothing: the status is `skipped`, and the
/// reason is a warning. The exit code is 1 where there was no data to act on.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lockstep cascade start
  lockstep cascade start --session ID
  lockstep impact --rev main...HEAD --format yaml | lockstep cascade start --from -
  lockstep cascade start --from impact.yaml --tier COMPLEX")]
pub(crate) struct CascadeStartArgs {
    #[command(flatten)]
    source: SourceArgs,
}

/// From what a cascade is started, and how.
#[derive(Debug, clap::Args)]
pub(crate) struct SourceArgs {
    /// The L1 of an impact report, YAML; `-` reads it from the standard input
    #[arg(long, value_name = "L1", conflicts_with = "session")]
    from: Option<PathBuf>,
    /// Changes of the agents of this session
    #[arg(long, value_name = "ID")]
    session: Option<SessionId>,
    /// Effort: TRIVIAL, STANDARD or COMPLEX; by default derived from the number and spread of the dependents
    #[arg(long, value_name = "TIER")]
    tier: Option<Tier>,
}

impl SourceArgs {
    /// Returns true if a report or session is given.
    pub(super) fn is_given(&self) -> bool {
        self.from.is_some() || self.session.is_some()
    }

    pub(super) fn start(
        &self,
        context: &CommandContext,
        cascades: &mut CascadeContext,
    ) -> CommandResult<LoadedCascade> {
        let session = current_session().or_else(|| self.session.clone());
        cascades.start(self.source(context), self.tier, session.as_ref())
    }

    /// Returns the cascade that would be started, and its disk reader.
    pub(super) fn plan<'c>(
        &self,
        context: &CommandContext,
        cascades: &'c CascadeContext,
    ) -> CommandResult<(Cascade, DiskInspector<'c>)> {
        let (state, contents) = cascades.plan(self.source(context), self.tier)?;
        Ok((state, cascades.preview(contents)?))
    }

    fn source(&self, context: &CommandContext) -> CascadeSource {
        match (&self.from, &self.session) {
            (Some(from), _) => CascadeSource::Report(read(&context.directory, from)),
            (None, Some(session)) => CascadeSource::Session(session.clone()),
            (None, None) => CascadeSource::Tree,
        }
    }
}

pub(crate) fn run(
    args: &CascadeStartArgs,
    context: &CommandContext,
    cascades: &mut CascadeContext,
) -> CommandResult {
    let opened = args.source.start(context, cascades)?;
    status::show(context, &opened);
    Ok(status_of(&opened.state))
}

/// Reads the report's text up to the size limit. The error is the reason why it cannot be read.
fn read(directory: &Path, from: &Path) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    let limit = MAX_BYTES as u64 + 1;
    let read = match from == Path::new("-") {
        true => std::io::stdin().lock().take(limit).read_to_end(&mut bytes),
        false => File::open(directory.join(from)).and_then(|file| file.take(limit).read_to_end(&mut bytes)),
    };
    read.map(|_| bytes).map_err(|error| format!("{}: {error}", from.display()))
}
