//! Converts migrated sections to entries of the task.

use crate::document::TaskDocument;
use crate::markdown::Heading;
use crate::problem::DocumentProblem;
use crate::value::{Map, Value, ValueExt};

/// The items of a section: its list items and the rows of its tables, headers aside.
pub(super) fn section_items(section: &Heading) -> Vec<String> {
    let mut lines = section.items();
    let rows: Vec<_> = section.body.lines().map(str::trim).filter(|line| line.starts_with('|')).collect();
    let is_rule = |row: &&str| row.chars().all(|c| matches!(c, '|' | '-' | ':' | ' '));
    let mut body = rows.iter().skip_while(|row| !is_rule(row)).filter(|row| !is_rule(row)).peekable();
    if body.peek().is_some() {
        lines.extend(body.map(|row| cells(row).join(" | ")));
    }
    lines
}

fn cells(row: &str) -> Vec<String> {
    row.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect()
}

/// Returns the items of a section. All must be migrated: text that is not an item would be lost.
fn items(section: &Heading, form: &str) -> Result<Vec<String>, Vec<DocumentProblem>> {
    let fix = format!("write each as {form}");
    let mut problems: Vec<_> = section
        .prose()
        .into_iter()
        .filter(|line| !line.starts_with('|'))
        .map(|line| {
            DocumentProblem::of(
                &section.title,
                format!("{line:?} is neither a list item nor a row of a table"),
                fix.clone(),
            )
        })
        .collect();
    let items = section_items(section);
    if items.is_empty() {
        problems.push(DocumentProblem::of(
            &section.title,
            "it has no list items and no table rows to take",
            fix,
        ));
    }
    if problems.is_empty() { Ok(items) } else { Err(problems) }
}

/// Adds the items as constraints that are not there yet.
pub(super) fn constraints(
    section: &Heading,
    document: &mut TaskDocument,
) -> Result<String, Vec<DocumentProblem>> {
    let items = items(section, "`- CONSTRAINT`")?;
    let list = document
        .section_mut("constraints")
        .list_mut()
        .ok_or_else(|| wrong_shape_problem(section, "constraints"))?;
    let number = |entry: &Value| entry.get("id")?.as_str()?.strip_prefix("C-")?.parse::<u32>().ok();
    let mut next = list.iter().filter_map(number).max().unwrap_or(0) + 1;
    let (mut added, mut there) = (Vec::new(), 0);
    for item in items {
        if list.iter().any(|entry| entry.get("constraint").and_then(Value::as_str) == Some(item.as_str())) {
            there += 1;
            continue;
        }
        let id = format!("C-{next}");
        next += 1;
        let source = format!("global-context.md, {}", section.title);
        list.push(entry([("id", id.clone()), ("constraint", item), ("source", source)]));
        added.push(id);
    }
    let added = if added.is_empty() { "nothing".to_owned() } else { added.join(", ") };
    Ok(format!("added {added}; there already: {there}"))
}

/// Adds items that are not interfaces yet. An item has the form `FROM → TO: CONTRACT`.
pub(super) fn interfaces(
    section: &Heading,
    document: &mut TaskDocument,
) -> Result<String, Vec<DocumentProblem>> {
    const FORM: &str = "`- FROM → TO: CONTRACT`";
    let items = items(section, FORM)?;
    let unread = |item: &&String| interface(item).is_none();
    let problems: Vec<_> = items
        .iter()
        .filter(unread)
        .map(|item| {
            DocumentProblem::of(
                &section.title,
                format!("{item:?} does not say who promises what to whom"),
                format!("write it as {FORM}"),
            )
        })
        .collect();
    if !problems.is_empty() {
        return Err(problems);
    }
    let place = "codebase_impact_map";
    let map = document.section_mut(place).map_mut().ok_or_else(|| wrong_shape_problem(section, place))?;
    for key in ["modules", "interfaces", "risk_hotspots"] {
        map.entry(key)
            .or_insert(Value::Null)
            .list_mut()
            .ok_or_else(|| wrong_shape_problem(section, place))?;
    }
    let list = map["interfaces"].list_mut().expect("it is a list by the lines above");
    let new: Vec<_> =
        items.iter().filter_map(|item| interface(item)).filter(|entry| !list.contains(entry)).collect();
    let note = format!("added {} of {}", new.len(), items.len());
    list.extend(new);
    Ok(note)
}

fn wrong_shape_problem(section: &Heading, place: &str) -> Vec<DocumentProblem> {
    let what = format!("the task's {place} is not of its shape");
    vec![DocumentProblem::of(&section.title, what, "mend it with `lockstep task update` first")]
}

fn entry<const N: usize>(fields: [(&str, String); N]) -> Value {
    Value::Object(fields.into_iter().map(|(key, text)| (key.to_owned(), text.into())).collect::<Map>())
}

fn interface(item: &str) -> Option<Value> {
    let item = item.replace('`', "");
    let (from, to, contract) = match item.splitn(3, " | ").collect::<Vec<_>>().as_slice() {
        [from, to, contract] => (*from, *to, *contract),
        _ => {
            let (from, rest) = ["→", "->"].iter().find_map(|arrow| item.split_once(arrow))?;
            let (to, contract) = rest.split_once(": ")?;
            (from, to, contract)
        }
    };
    let fields =
        [("from", from), ("to", to), ("contract", contract)].map(|(key, text)| (key, text.trim().to_owned()));
    fields.iter().all(|(_, text)| !text.is_empty()).then(|| entry(fields))
}
