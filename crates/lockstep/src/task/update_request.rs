//! A proposal for the next version, from a text: the complete document or one section.

use std::path::Path;

use lockstep_task::document::{DocumentLimits, TaskDocument};
use lockstep_task::key_path::KeyPath;
use lockstep_task::pointer::PointerResolver;
use lockstep_task::problem::{Diagnostics, DocumentProblem};
use lockstep_task::yaml;

use super::TaskContext;
use super::output::{TaskRefusalOutput, TaskWriteOutput};
use super::writer::TaskWriter;
use crate::error::CommandResult;

/// A text that is to be the next version. JSON is YAML.
#[derive(Debug, Clone)]
pub(crate) struct UpdateRequest<'a> {
    /// The version it was made from.
    pub(crate) base: u64,
    /// The complete document, or a section's value.
    pub(crate) text: &'a [u8],
    /// The section to replace, if it is only one.
    pub(crate) section: Option<&'a str>,
    pub(crate) merge: bool,
    pub(crate) drops: Vec<KeyPath>,
    pub(crate) title: Option<String>,
}

impl TaskContext<'_> {
    /// Judges a request and writes it.
    pub(crate) fn submit_update(
        &mut self,
        writer: &TaskWriter,
        request: UpdateRequest<'_>,
    ) -> CommandResult<Result<TaskWriteOutput, TaskRefusalOutput>> {
        let document = match request.section {
            None => parse_document(request.text, self.limits()),
            Some(name) => {
                let Some(present) = self.present()? else { return Ok(Err(TaskRefusalOutput::none())) };
                // A base that does not exist yet is a reason to refuse, reported with the others.
                let base = match request.base <= present.record.version {
                    true => self.version_or_error(&present, request.base)?,
                    false => present,
                };
                with_section(base.document, name, request.text, self.limits().max_parse_bytes())
            }
        };
        let document = match document {
            Ok(document) => document,
            Err(findings) => return Ok(Err(TaskRefusalOutput::unreadable(findings))),
        };
        Ok(self.update(writer, &request, &document)?.into_output())
    }
}

/// A text as a document, its shape not yet judged; else everything that keeps it from being one.
pub(crate) fn parse_document(bytes: &[u8], limits: DocumentLimits) -> Result<TaskDocument, Diagnostics> {
    TaskDocument::parse(bytes, limits).map_err(|_| {
        let nothing_exists = |_: &Path| false;
        TaskDocument::read(bytes, limits, &PointerResolver::new(&nothing_exists)).findings
    })
}

fn with_section(
    mut document: TaskDocument,
    name: &str,
    bytes: &[u8],
    limit: usize,
) -> Result<TaskDocument, Diagnostics> {
    match yaml::read(bytes, limit) {
        Ok(value) => {
            document.set(name, value);
            Ok(document)
        }
        Err(error) => Err(Diagnostics {
            problems: vec![DocumentProblem::of(name, error.to_string(), "nothing was stored")],
            warnings: Vec::new(),
        }),
    }
}
