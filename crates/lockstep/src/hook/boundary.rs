//! The boundary of a step for a client: before its agent writes a file, by whichever tool.

use std::path::{Path, PathBuf};

use lockstep_fs::has_other_links;
use lockstep_model::decision::Decision;
use lockstep_model::event::{Actor, EventKind, ToolUse};
use lockstep_model::ids::SessionId;
use lockstep_model::path::absolute_lexical;

use super::error::{HookError, HookResult};
use super::{HookRun, cwd_of};
use crate::steps::StepsError;
use crate::steps::audit::event;
use crate::steps::files::StepFile;
use crate::steps::step_runs::SessionRuns;
use crate::trust::user_dir;

impl HookRun {
    /// Before an agent that runs a step writes a file.
    pub(super) fn gate_boundary(&mut self, session: &SessionId) -> HookResult<Decision> {
        let runs = SessionRuns::of(&self.project.state, session);
        let (Actor::Subagent { id, .. }, EventKind::PreToolUse(call)) = (&self.event.actor, &self.event.kind)
        else {
            return Ok(Decision::Silent);
        };
        if !runs.are_there() {
            return Ok(Decision::Silent);
        }
        let runs = runs.of_agent(id, self.event.transcript.as_deref(), false, &self.steps())?;
        if runs.is_empty() {
            return Ok(Decision::Silent);
        }
        self.check_configuration()?;
        let places = written_places(&call.tool, &cwd_of(&self.event));
        let names: Vec<&str> = runs.iter().filter_map(|run| run.step_file.as_deref()).collect();
        let mut refused = None;
        for written in &places {
            refused = refused.or(self.refuse_for_all(&names, written)?);
        }
        let Some((name, Refusal { file, shown: display, why })) = refused else {
            return Ok(Decision::Silent);
        };
        let steps = self.steps();
        let record = steps
            .record(event::BOUNDARY, Some(&file))
            .with("path", display.as_str())
            .with("reason", why.as_str());
        steps.append_audit(Some(&file), &record.with("agent_id", id.as_str()));
        Ok(Decision::Block(format!(
            "lockstep: {display} is outside the boundary of the step {name}: {why}. Whoever planned the step can widen it with `lockstep \
             step boundary`."
        )))
    }

    /// Returns why all of an agent's steps forbid to write a file: it may write what one of them allows.
    fn refuse_for_all<'n>(
        &self,
        names: &[&'n str],
        written: &Path,
    ) -> HookResult<Option<(&'n str, Refusal)>> {
        let mut refused = None;
        for name in names {
            match self.refuse_write(name, written)? {
                None => return Ok(None),
                Some(refusal) => refused = Some((*name, refusal)),
            }
        }
        Ok(refused)
    }

    /// Returns why the boundary of a step forbids to write a file; `None` if it does not.
    fn refuse_write(&self, step_file: &str, written: &Path) -> HookResult<Option<Refusal>> {
        let steps = self.steps();
        let refused = |problems| HookError::from(StepsError::Refused(problems));
        let file = steps.resolve_from_root(step_file).map_err(|problem| refused(vec![problem]))?;
        let step = steps.read(&file).map_err(refused)?;
        let relative = steps.relative(written);
        let display = relative.clone().unwrap_or_else(|| written.display().to_string());
        let boundary = step.boundary();
        let why = match steps.is_lockstep_file(relative.as_deref()) {
            true => Some("it is written by `lockstep step` only".to_owned()),
            false => unsafe_write(written, !boundary.is_unrestricted())
                .map(str::to_owned)
                .or_else(|| boundary.refusal_reason(relative.as_deref())),
        };
        Ok(why.map(|why| Refusal { file, shown: display, why }))
    }
}

/// A write that the boundary of a step forbids.
struct Refusal {
    file: StepFile,
    shown: String,
    why: String,
}

/// Returns why no agent of a step writes a file: git and Lockstep keep their records in it, or another file may change
/// with it.
fn unsafe_write(written: &Path, is_bounded: bool) -> Option<&'static str> {
    let is_git = |part: std::path::Component<'_>| part.as_os_str().eq_ignore_ascii_case(".git");
    if written.components().any(is_git) {
        return Some("it is in git's own directory");
    }
    if user_dir().is_some_and(|dir| written.starts_with(dir.path())) {
        return Some("it is in Lockstep's memory outside the project");
    }
    if is_bounded && ["/proc", "/dev"].iter().any(|dir| written.starts_with(dir)) {
        return Some("the path names another file in every process");
    }
    let is_linked =
        std::fs::metadata(written).is_ok_and(|meta| meta.is_file() && has_other_links(written, &meta));
    (is_bounded && is_linked).then_some("it has a second name (a hard link), which may be outside")
}

/// Returns the real paths of the files that a tool writes.
///
/// A program may resolve `..` behind a link in the text of the path, or on the disk. Both places count.
fn written_places(tool: &ToolUse, cwd: &Path) -> Vec<PathBuf> {
    let paths = match tool {
        ToolUse::File { path: Some(path), .. } => std::slice::from_ref(path),
        ToolUse::Mcp { writes, .. } => writes,
        _ => &[],
    };
    let mut places = Vec::new();
    for path in paths {
        places.push(canonicalize_existing(&absolute_lexical(cwd, path)));
        let on_disk = cwd.join(path);
        if on_disk.parent().is_some_and(Path::exists) {
            places.push(canonicalize_existing(&on_disk));
        }
    }
    places.dedup();
    places
}

/// The number of links that are followed.
const MAX_LINKS: usize = 40;

/// Returns the real path of a file that may not exist yet. Links are followed, including dangling ones.
fn canonicalize_existing(path: &Path) -> PathBuf {
    follow(path, MAX_LINKS)
}

fn follow(path: &Path, links: usize) -> PathBuf {
    if let Ok(real) = path.canonicalize() {
        return real;
    }
    let (Some(above), Some(name)) = (path.parent(), path.file_name()) else { return path.to_owned() };
    let above = follow(above, links);
    let full = above.join(name);
    match std::fs::read_link(&full) {
        Ok(target) if links > 0 => follow(&absolute_lexical(&above, &target), links - 1),
        _ => full,
    }
}
