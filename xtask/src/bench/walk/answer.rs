//! The answer of the program about the present edit.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use super::checkout::Checkout;
use crate::XtaskResult;

#[derive(Debug, Default)]
pub(super) struct Answer {
    /// The files that are reported as broken, each with the first evidence.
    pub(super) broken: Vec<(String, String)>,
    /// The notes about files that were not analysed.
    pub(super) admitted: Vec<String>,
    /// The files that are listed as dependents without being called broken.
    pub(super) listed: BTreeSet<String>,
}

impl Answer {
    pub(super) fn says_broken(&self, file: &str) -> bool {
        self.broken.iter().any(|(known, _)| known == file)
    }
}

/// Runs `lockstep impact` in a checkout.
pub(super) fn ask(program: &Path, checkout: &Checkout) -> XtaskResult<Answer> {
    let mut command = Command::new(program);
    command.args(["impact", "--format", "json", "--time-limit", "300"]).current_dir(&checkout.root);
    let output = command.stdin(Stdio::null()).stderr(Stdio::piped()).output()?;
    let report: Value = serde_json::from_slice(&output.stdout)
        .map_err(|error| format!("{error}: {}", String::from_utf8_lossy(&output.stderr)))?;
    let relative = |path: &Value| {
        let path = Path::new(path.as_str().unwrap_or_default());
        path.strip_prefix(&checkout.root).unwrap_or(path).to_string_lossy().into_owned()
    };
    let mut answer = Answer::default();
    for file in array(&report["impacts"]) {
        for dependent in array(&file["dependents"]) {
            let path = relative(&dependent["file"]);
            if dependent["breaks"] == true {
                answer.broken.push((path, first_place(&dependent["places"])));
            } else {
                answer.listed.insert(path);
            }
        }
        if !array(&file["broken_in_file"]).is_empty() {
            answer.broken.push((relative(&file["changed_file"]), first_place(&file["broken_in_file"])));
        }
        if file["analysed"] == false || file["content_analysed"] == false || !file["unparsed_line"].is_null()
        {
            answer.admitted.push(relative(&file["changed_file"]));
        }
    }
    let notes = array(&report["notes"]).iter().filter_map(Value::as_str);
    answer.admitted.extend(notes.filter(|note| note.contains("not analysed")).map(str::to_owned));
    Ok(answer)
}

fn array(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn first_place(places: &Value) -> String {
    let places = array(places);
    let first = places.iter().find(|place| place["breaks"] == true).or_else(|| places.first());
    first
        .map(|place| {
            format!(
                "{} {} {}",
                place["line"],
                place["text"].as_str().unwrap_or("").trim(),
                place["certainty"]
            )
        })
        .unwrap_or_default()
}
