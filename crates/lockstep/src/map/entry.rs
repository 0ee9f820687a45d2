//! One entry of the map, found by a path or its short name.

use std::fmt::Write as _;
use std::path::Path;

use lockstep_map::hotspot::Hotspot;
use lockstep_map::scope::WHOLE;
use lockstep_map::short_names::ShortNameIndex;
use lockstep_map::view::MapView;
use schemars::JsonSchema;
use serde::Serialize;

use super::CurrentMap;
use crate::command_output::CommandOutput;
use crate::error::{CommandError, CommandResult};
use crate::workspace::Workspace;

/// A file, its references, and the files that reference it.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct MapEntry {
    /// From the root.
    pub(crate) path: String,
    /// The files that it references.
    pub(crate) refs: Vec<String>,
    /// The files that reference it.
    pub(crate) refd_by: Vec<String>,
    /// The importance of the file: low, medium or high.
    #[schemars(with = "String")]
    pub(crate) hotspot: Hotspot,
    /// The day of its last change, as recorded in the map.
    pub(crate) updated: String,
}

impl MapEntry {
    pub(crate) fn of(view: &MapView<'_>, place: usize) -> Self {
        let entries = &view.record.entries;
        let paths = |places: &[u32]| places.iter().map(|at| entries[*at as usize].path.to_string()).collect();
        Self {
            path: entries[place].path.to_string(),
            refs: paths(view.record.refs(place)),
            refd_by: paths(&view.referring[place]),
            hotspot: view.hotspots[place],
            updated: entries[place].updated.to_string(),
        }
    }
}

impl CommandOutput for MapEntry {
    fn text(&self) -> String {
        let mut out = format!("{}\nhotspot {}, updated {}\n", self.path, self.hotspot, self.updated);
        for (title, paths) in [("references", &self.refs), ("is referenced by", &self.refd_by)] {
            let _ = writeln!(out, "{title} {}", paths.len());
            paths.iter().for_each(|path| out.push_str(&format!("  {path}\n")));
        }
        out
    }
}

impl CurrentMap {
    /// Returns the entry of a path that was given in `directory`, or of a short name.
    pub(crate) fn find(&self, tree: &Workspace, directory: &Path, path: &str) -> CommandResult<usize> {
        let record = &self.record;
        let by_path = tree.relative(directory, path.as_ref()).ok().and_then(|path| record.find(&path));
        if let Some(place) = by_path.or_else(|| record.find(path)) {
            return Ok(place);
        }
        let paths = || record.entries.iter().map(|entry| &*entry.path);
        let scope = self.scope.text();
        let of = if scope == WHOLE { String::new() } else { format!(" of {scope}") };
        match *ShortNameIndex::new(paths()).all(path) {
            [only] => Ok(only),
            [] => Err(CommandError::store(format!("the map{of} has no entry for {path:?}")).hint(
                "give the path of a text file in the map's scope, or an end of it that no other file has",
            )),
            ref several => {
                let names: Vec<&str> = several.iter().take(5).map(|at| &*record.entries[*at].path).collect();
                let more = if several.len() > names.len() { ", …" } else { "" };
                let message =
                    format!("{path:?} may be any of {} files: {}{more}", several.len(), names.join(", "));
                Err(CommandError::usage(message).hint("give more of the path"))
            }
        }
    }
}
