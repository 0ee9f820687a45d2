//! Reads untrusted YAML with limits on size, depth and nodes. Anchors, aliases and merge keys are
//! refused, not expanded.

use lockstep_text::yaml;
use serde::de::DeserializeOwned;
use serde_saphyr::budget::BudgetBreach;
use serde_saphyr::{Error, Options};

/// The deepest nesting accepted. A report of dependents is five levels deep.
const MAX_DEPTH: usize = 16;

/// Reads one document of at most `limit` bytes. The error is one line.
pub(crate) fn read<T: DeserializeOwned>(bytes: &[u8], limit: usize) -> Result<T, String> {
    if bytes.len() > limit {
        return Err(format!("it has {} bytes, more than the {limit} that are read", bytes.len()));
    }
    let text = std::str::from_utf8(bytes).map_err(|error| {
        format!("it is not UTF-8: the first bad byte is at offset {}", error.valid_up_to())
    })?;
    yaml::read(text, options(limit)).map_err(|error| refused(&error))
}

fn options(limit: usize) -> Options {
    // A node takes at least two bytes.
    let mut options = yaml::options(MAX_DEPTH, limit / 2);
    if let Some(budget) = &mut options.budget {
        budget.max_events = limit;
        budget.max_documents = 1;
    }
    options
}

fn refused(error: &Error) -> String {
    let error = error.without_snippet();
    let place = error.location().map(|at| format!("line {}, column {}: ", at.line(), at.column()));
    let reason = match error {
        Error::Budget { breach: BudgetBreach::Anchors { .. } | BudgetBreach::Aliases { .. }, .. }
        | Error::UnknownAnchor { .. }
        | Error::MergeKeyNotAllowed { .. } => "anchors, aliases and merge keys are not accepted".to_owned(),
        Error::Budget { breach: BudgetBreach::Depth { .. }, .. } => {
            format!("nested deeper than {MAX_DEPTH} levels")
        }
        other => {
            let message = other.to_string();
            message.split(" at line ").next().unwrap_or(&message).replace('\n', " ")
        }
    };
    format!("{}{reason}", place.unwrap_or_default())
}
