//! Resources: the task, the map, sections of the session cache, and written reports, as they are.
//!
//! A name in an address is checked before it becomes a path.

use std::fs;
use std::path::{Path, PathBuf};

use lockstep_cache::cache_document::CacheDocument;
use lockstep_cache::extract::ExtractQuery;
use lockstep_config::Project;
use lockstep_model::ids::SessionId;
use lockstep_text::{printable, single_line};
use rmcp::model::{
    ErrorData, ListResourcesResult, ReadResourceResult, Resource, ResourceContents, ResourceTemplate,
};

use super::call_context::CallContext;
use crate::cache::extract::ExtractOutput;
use crate::clock;
use crate::command_output::CommandOutput as _;
use crate::error::{CommandError, CommandResult};
use crate::map::CurrentMap;
use crate::project::ActiveProject;
use crate::task::TaskContext;
use crate::workspace::Workspace;

/// The form of each address, with its description.
pub(super) const RESOURCE_TEMPLATES: &[(&str, &str)] = &[
    ("lockstep://task", "The present version of the task, YAML"),
    ("lockstep://task/{version}", "A version of the task, YAML"),
    ("lockstep://map", "The map of the codebase as of this moment, nothing left out, Markdown"),
    ("lockstep://cache/{section}", "A section of the session cache, exactly as it went in"),
    ("lockstep://reports/{session}/{number}.yaml", "An impact report of a session: L1, for programs"),
    ("lockstep://reports/{session}/{number}.md", "An impact report of a session: L2, for people and models"),
    ("lockstep://cascades/{id}/report.yaml", "The report of a cascade: L1, for programs"),
    ("lockstep://cascades/{id}/report.md", "The report of a cascade: L2, for people and models"),
];

const SCHEME: &str = "lockstep://";

const MAP: &str = "lockstep://map";

/// The number of resources per page.
const PAGE: usize = 100;

/// Larger files are no reports.
const MAX_BYTES: u64 = 16 << 20;

/// The forms of addresses that have a name in them.
pub(super) fn templates() -> Vec<ResourceTemplate> {
    let named = RESOURCE_TEMPLATES.iter().filter(|(form, _)| form.contains('{'));
    named
        .map(|(form, what)| {
            let name = form.trim_start_matches(SCHEME);
            ResourceTemplate::new(*form, name).with_description(*what).with_mime_type(mime(form))
        })
        .collect()
}

/// Lists the resources. There are none if Lockstep is not active.
pub(super) fn list(directory: &Path, cursor: Option<&str>) -> Result<ListResourcesResult, ErrorData> {
    let from: usize = match cursor {
        None => 0,
        Some(cursor) => cursor.parse().map_err(|_| {
            ErrorData::invalid_params(format!("the cursor {cursor:?} leads nowhere; list without one"), None)
        })?,
    };
    let all = match Project::of_directory(directory) {
        Ok(Some(_)) => {
            ActiveProject::discover(directory).and_then(|project| all(&project)).map_err(resource_error)?
        }
        Ok(None) => Vec::new(),
        Err(fault) => return Err(resource_error(fault.into())),
    };
    let more = all.len() > from.saturating_add(PAGE);
    let mut page = ListResourcesResult::with_all_items(all.into_iter().skip(from).take(PAGE).collect());
    page.next_cursor = more.then(|| (from + PAGE).to_string());
    Ok(page)
}

fn all(project: &ActiveProject) -> CommandResult<Vec<Resource>> {
    let mut found = Vec::new();
    if let Some(tasks) = TaskContext::open_existing(project, clock::now().timestamp())?
        && let Some(present) = tasks.present()?
    {
        found.push(resource("lockstep://task", &present.record.subject));
    }
    found.push(resource(MAP, "The map of the codebase"));
    // An unusable cache is reported when it is read.
    let cache = crate::cache::open(project).ok().and_then(|cache| cache.read().ok().flatten());
    if let Some(text) = &cache
        && let Ok(document) = CacheDocument::parse(text)
    {
        let section = |name: &str| resource(&format!("lockstep://cache/{name}"), name);
        found.extend(document.sections.iter().map(|entry| section(entry.name)));
    }
    for (kind, folder) in [("cascades", "reports/cascade"), ("reports", "reports")] {
        for parent in names(&project.state.path().join(folder)) {
            for file in names(&project.state.path().join(folder).join(&parent)) {
                let uri = format!("{SCHEME}{kind}/{parent}/{file}");
                if path_of(project, &uri).is_some() {
                    found.push(resource(&uri, &format!("{kind}/{parent}/{file}")));
                }
            }
        }
    }
    Ok(found)
}

/// The names in a folder, the newest number first.
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    let number = |name: &str| name.split('.').next().and_then(|stem| stem.parse::<u64>().ok());
    names.sort_by(|a, b| number(b).cmp(&number(a)).then_with(|| a.cmp(b)));
    names
}

fn resource(uri: &str, name: &str) -> Resource {
    Resource::new(uri, single_line(name)).with_mime_type(mime(uri))
}

fn mime(uri: &str) -> &'static str {
    match uri.rsplit('.').next() {
        Some("md") => "text/markdown",
        Some("yaml") => "application/yaml",
        _ if uri.starts_with("lockstep://task") => "application/yaml",
        _ if uri == MAP => "text/markdown",
        _ => "text/plain",
    }
}

pub(super) fn read(work: &CallContext, uri: &str) -> Result<ReadResourceResult, ErrorData> {
    let text = match uri {
        MAP => map(work).map_err(resource_error)?,
        uri => text(&ActiveProject::discover(&work.directory).map_err(resource_error)?, uri)?,
    };
    let contents = ResourceContents::text(printable(&text), uri).with_mime_type(mime(uri));
    Ok(ReadResourceResult::new(vec![contents]))
}

fn map(work: &CallContext) -> CommandResult<String> {
    let current = CurrentMap::of(&Workspace::of_active(&work.directory)?, work)?;
    Ok(current.view().document(None).text)
}

fn text(project: &ActiveProject, uri: &str) -> Result<String, ErrorData> {
    if let Some(rest) = uri.strip_prefix("lockstep://task") {
        let number = match rest.strip_prefix('/') {
            None if rest.is_empty() => None,
            Some(number) => Some(number.parse().map_err(|_| unknown(uri))?),
            None => return Err(unknown(uri)),
        };
        return task(project, number);
    }
    if let Some(name) = uri.strip_prefix("lockstep://cache/") {
        let extract = ExtractOutput::of(project, ExtractQuery::Section(name)).map_err(resource_error)?;
        return Ok(extract.text());
    }
    let path = path_of(project, uri).ok_or_else(|| unknown(uri))?;
    lockstep_fs::read_to_string(path).map_err(|error| {
        ErrorData::internal_error(format!("{} cannot be read: {error}", single_line(uri)), None)
    })
}

fn task(project: &ActiveProject, number: Option<u64>) -> Result<String, ErrorData> {
    let mut tasks =
        TaskContext::open(project, clock::now().timestamp()).map_err(|error| resource_error(error.into()))?;
    match tasks.show(None, number, None).map_err(resource_error)? {
        Ok(view) => Ok(view.text()),
        Err(refused) => Err(ErrorData::resource_not_found(refused.text(), None)),
    }
}

/// The file of a report, if there is one of that name.
fn path_of(project: &ActiveProject, uri: &str) -> Option<PathBuf> {
    let mut parts = uri.strip_prefix(SCHEME)?.split('/');
    let (kind, parent, file) = (parts.next()?, parts.next()?, parts.next()?);
    let (stem, extension) = file.split_once('.')?;
    let known = parts.next().is_none() && matches!(extension, "yaml" | "md");
    let folder = match kind {
        "reports" => {
            stem.parse::<u32>().ok()?;
            Path::new("reports").join(SessionId::new(parent).ok()?.as_str())
        }
        "cascades" if stem == "report" => {
            Path::new("reports/cascade").join(parent.parse::<u32>().ok()?.to_string())
        }
        _ => return None,
    };
    let path = project.state.path().join(folder).join(file);
    let plain = fs::symlink_metadata(&path).is_ok_and(|found| found.is_file() && found.len() <= MAX_BYTES);
    (known && plain).then_some(path)
}

fn unknown(uri: &str) -> ErrorData {
    let forms: Vec<&str> = RESOURCE_TEMPLATES.iter().map(|(form, _)| *form).collect();
    ErrorData::resource_not_found(
        format!("there is no {}; the forms are {}", single_line(uri), forms.join(", ")),
        None,
    )
}

fn resource_error(error: CommandError) -> ErrorData {
    ErrorData::resource_not_found(error.render(), None)
}
