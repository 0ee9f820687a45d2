//! Hotspots of the map, for new sessions.

use lockstep_fs::FileStamp;
use lockstep_map::document::MapDocument;
use lockstep_map::hotspot::Hotspot;

use crate::project::ActiveProject;

/// The number of listed hotspots.
const SHOWN: usize = 20;

/// Lists the files with the most dependents; `None` if there is no map or no such file.
pub(crate) fn hotspots(project: &ActiveProject) -> Result<Option<String>, String> {
    let place = project.map_settings().map_err(|error| error.message().to_owned())?;
    let text = match lockstep_fs::read_to_string(&place.path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(format!("cannot read {}: {error}", place.shown)),
        Ok(text) => text,
    };
    let document = MapDocument::parse(&text).map_err(|error| format!("{}: {error}", place.shown))?;
    let mut hot: Vec<_> = document.entries.iter().filter(|entry| entry.hotspot == Hotspot::High).collect();
    if hot.is_empty() {
        return Ok(None);
    }
    hot.sort_by_key(|entry| (usize::MAX - entry.refd_by.len(), &entry.path));
    let lines = hot.iter().take(SHOWN).map(|entry| {
        format!("- {}: referenced by {}, references {}", entry.path, entry.refd_by.len(), entry.refs.len())
    });
    let more = hot.len().saturating_sub(SHOWN);
    let more = if more > 0 { format!("\n- and {more} more") } else { String::new() };
    let day = document.header.incremental;
    Ok(Some(format!(
        "Files that much depends on, or that changed in every one of the last runs, by {} of {day}. A change there reaches far.\n{}{more}",
        place.shown,
        lines.collect::<Vec<_>>().join("\n"),
    )))
}

/// Returns a stamp that stays the same while that text does. `None` if the map was written too recently to be
/// sure.
pub(crate) fn hotspots_stamp(project: &ActiveProject) -> Option<[u8; 32]> {
    let Ok(place) = project.map_settings() else { return Some([0; 32]) };
    let stamp = match place.path.symlink_metadata() {
        Ok(meta) => Some(FileStamp::settled(&meta, lockstep_fs::now()))
            .filter(|stamp| *stamp != FileStamp::default())?,
        Err(_) => FileStamp::default(),
    };
    Some(stamp.to_bytes())
}
