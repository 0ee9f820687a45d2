//! Submodules: their files are not read, so a change inside is reported as not analysed.

use lockstep_index::sweep::newest_change;
use lockstep_model::ids::SessionId;
use lockstep_store::Store;
use lockstep_store::originals::OriginalStore;
use lockstep_text::single_line;

use super::HookRun;
use super::fault::HookError;

/// The subject of the notice.
const SUBJECT: &str = "submodules";

/// The maximum number of submodules that are checked.
const MAX_SUBMODULES: usize = 50;

impl HookRun {
    /// Sends a notice if files in submodules were written since the last notice or the start of the session.
    pub(super) fn report_submodules(&self, store: &mut Store, session: &SessionId) -> Result<(), HookError> {
        let root = &self.project.root;
        let listed = lockstep_fs::read_text(root.join(".gitmodules")).unwrap_or_default();
        let paths: Vec<&str> = submodule_paths(&listed).take(MAX_SUBMODULES).collect();
        if paths.is_empty() {
            return Ok(());
        }
        let befores = OriginalStore::for_session(&self.project.state, session);
        let since = befores.submodules_checked().unwrap_or_else(|| self.session_start(session));
        let times = paths.iter().map(|path| (*path, newest_change(&root.join(path)).unwrap_or(0)));
        let changed: Vec<(&str, i64)> = times.filter(|(_, at)| *at > since).collect();
        let Some(newest) = changed.iter().map(|(_, at)| *at).max() else { return Ok(()) };
        let names: Vec<&str> = changed.iter().map(|(path, _)| *path).collect();
        let text = single_line(&format!(
            "SRC: files changed in a submodule, which Lockstep does not read: {}. Dependents are not analysed.",
            names.join(", ")
        ));
        store.put_notice(session, SUBJECT, &text, self.now.timestamp())?;
        befores.set_submodules_checked(newest)?;
        Ok(())
    }
}

/// Returns the paths in a `.gitmodules` file. Paths that leave the project are left out.
fn submodule_paths(text: &str) -> impl Iterator<Item = &str> {
    text.lines()
        .filter_map(path_value)
        .filter(|path| !path.split('/').any(|it| matches!(it, "" | "." | "..")))
}

fn path_value(line: &str) -> Option<&str> {
    let (key, value) = line.split_once('=')?;
    (key.trim() == "path").then(|| value.trim().trim_matches('"'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_submodules_stay_inside_the_project() {
        let text = "[submodule \"lib\"]\n\tpath = lib/a\n\turl = ../lib\n[submodule \"x\"]\n\tpath = ../x\n[submodule \"y\"]\n path=\"y\"\n";
        assert_eq!(submodule_paths(text).collect::<Vec<_>>(), ["lib/a", "y"]);
    }
}
