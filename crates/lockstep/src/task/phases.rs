//! Entering and completing the phases of the task.

use std::path::{Path, PathBuf};

use lockstep_model::ids::SessionId;
use lockstep_task::phase::TaskPhase;
use lockstep_task::phase::complete::{CompleteRequest, InputFile, complete};
use lockstep_task::phase::enter::{EnterRequest, EntryContext, enter};
use lockstep_task::pointer::PointerResolver;
use lockstep_task::problem::DocumentProblem;

use super::output::{TaskRefusalOutput, TaskWriteOutput};
use super::writer::TaskWriter;
use super::{TaskContext, TaskError, files};
use crate::command_output::CommandOutput;

/// The files a phase is completed with, as they were named from `directory`.
#[derive(Debug, Clone)]
pub(crate) struct PhaseFiles<'a> {
    pub(crate) directory: &'a Path,
    /// The phase's L2 file.
    pub(crate) l2: PathBuf,
    pub(crate) gate: Option<PathBuf>,
}

impl CommandOutput for EntryContext {
    fn text(&self) -> String {
        self.to_string()
    }
}

impl TaskContext<'_> {
    /// Returns the data that a phase starts from, or every reason why it cannot begin.
    pub(crate) fn enter(
        &self,
        phase: TaskPhase,
        session: Option<&SessionId>,
    ) -> Result<Result<EntryContext, TaskRefusalOutput>, TaskError> {
        let Some(present) = self.present()? else { return Ok(Err(TaskRefusalOutput::none())) };
        let (exists, content) = (|path: &Path| self.files.exists(path), |path: &Path| self.files.read(path));
        let entered = enter(&EnterRequest {
            phase,
            held: present.as_current_version(),
            access: &self.access,
            session: session.map(SessionId::as_str),
            l2_template: &self.project.config().task.l2_path.0,
            lookup: &PointerResolver::new(&exists),
            content: &content,
        });
        Ok(entered.map_err(|problems| TaskRefusalOutput::not_ready(present.record.version, problems)))
    }

    /// Completes a phase: one version, or every reason why not.
    pub(crate) fn complete(
        &mut self,
        mut writer: TaskWriter,
        phase: TaskPhase,
        produced: &PhaseFiles<'_>,
    ) -> Result<Result<TaskWriteOutput, TaskRefusalOutput>, TaskError> {
        let mut missing = Vec::new();
        let mut given = |path: &Path| match read_given(self, produced.directory, path) {
            Ok(file) => file,
            Err(problem) => {
                missing.push(problem);
                (path.display().to_string(), Vec::new())
            }
        };
        let l2 = given(&produced.l2);
        let gate = produced.gate.as_deref().map(&mut given);
        writer.why.get_or_insert_with(|| format!("{phase} is complete"));
        let mut notes = Vec::new();
        let written = self.write_derived(&writer, |present, rules| {
            let done = complete(&CompleteRequest {
                phase,
                held: present.as_current_version(),
                l2: InputFile { path: &l2.0, bytes: &l2.1 },
                gate: gate.as_ref().map(|(path, bytes)| InputFile { path, bytes }),
                lookup: rules.lookup,
            });
            match done {
                Ok(completion) if missing.is_empty() => {
                    notes = completion.gate.map(|gate| gate.notes).unwrap_or_default();
                    Ok(completion.document)
                }
                Ok(_) => Err(missing.clone()),
                Err(problems) => Err(without_duplicates(&missing, problems)),
            }
        })?;
        Ok(written.into_output().map(|written| written.with_notes(notes)))
    }
}

/// Removes problems that only follow from an unreadable file.
fn without_duplicates(missing: &[DocumentProblem], problems: Vec<DocumentProblem>) -> Vec<DocumentProblem> {
    let about = |problem: &DocumentProblem| missing.iter().any(|m| problem.at.starts_with(&m.at));
    let rest: Vec<_> = problems.into_iter().filter(|problem| !about(problem)).collect();
    missing.iter().cloned().chain(rest).collect()
}

fn read_given(
    tasks: &TaskContext<'_>,
    directory: &Path,
    path: &Path,
) -> Result<(String, Vec<u8>), DocumentProblem> {
    let problem = |why: String| {
        let what = format!("it cannot be read: {why}");
        DocumentProblem::of(&path.display().to_string(), what, "give a file of the project")
    };
    let relative = tasks.files.relative(directory, path).map_err(problem)?;
    let bytes = files::read(&directory.join(path)).map_err(problem)?;
    Ok((relative, bytes))
}
