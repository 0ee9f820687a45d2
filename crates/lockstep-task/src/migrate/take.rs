//! What migrated sections say, as entries of the task.

use crate::document::Document;
use crate::markdown::Heading;
use crate::value::{Map, Value};

/// The items of a section: its list items and the rows of its tables, headers aside.
pub(super) fn lines(section: &Heading) -> Vec<String> {
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

/// Adds the items as constraints that are not there yet.
pub(super) fn constraints(section: &Heading, document: &mut Document) -> Result<String, Vec<String>> {
    let items = lines(section);
    if items.is_empty() {
        return Err(vec![
            "it has no list items or table rows to take; write each constraint as a list item".to_owned(),
        ]);
    }
    let Some(list) = document.section_mut("constraints").list_mut() else {
        return Err(vec!["the task's constraints are no list".to_owned()]);
    };
    let highest =
        list.iter().filter_map(|c| c.get("id")?.as_text()?.strip_prefix("C-")?.parse::<u32>().ok()).max();
    let mut next = highest.unwrap_or(0) + 1;
    let (mut added, mut there) = (Vec::new(), 0);
    for item in items {
        if list.iter().any(|c| c.get("constraint").and_then(Value::as_text) == Some(item.as_str())) {
            there += 1;
            continue;
        }
        let mut entry = Map::new();
        let id = format!("C-{next}");
        entry.set("id", id.clone());
        entry.set("constraint", item);
        entry.set("source", format!("global-context.md, {}", section.title));
        list.push(Value::Map(entry));
        added.push(id);
        next += 1;
    }
    Ok(format!(
        "added {}; {there} were there already",
        if added.is_empty() { "none".to_owned() } else { added.join(", ") }
    ))
}

/// Adds the items as interfaces that are not there yet. An item says `FROM → TO: CONTRACT`.
pub(super) fn interfaces(section: &Heading, document: &mut Document) -> Result<String, Vec<String>> {
    let items = lines(section);
    if items.is_empty() {
        return Err(vec![
            "it has no list items or table rows to take; write each as `- FROM → TO: CONTRACT`".to_owned(),
        ]);
    }
    let read: Vec<_> = items.iter().map(|item| interface(item).ok_or(item)).collect();
    let unread: Vec<_> = read
        .iter()
        .filter_map(|r| r.as_ref().err())
        .map(|item| format!("{item:?} does not say FROM → TO: CONTRACT; write it so"))
        .collect();
    if !unread.is_empty() {
        return Err(unread);
    }
    let Some(map) = document.section_mut("codebase_impact_map").map_mut() else {
        return Err(vec!["the task's codebase_impact_map is no mapping".to_owned()]);
    };
    for key in ["modules", "interfaces", "risk_hotspots"] {
        map.entry(key).list_mut();
    }
    let Some(list) = map.entry("interfaces").list_mut() else {
        return Err(vec!["the task's codebase_impact_map.interfaces is no list".to_owned()]);
    };
    let mut added = 0;
    for entry in read.into_iter().flatten() {
        if !list.contains(&entry) {
            list.push(entry);
            added += 1;
        }
    }
    Ok(format!("added {added} of {}", items.len()))
}

fn interface(item: &str) -> Option<Value> {
    let item = item.replace('`', "");
    let (from, to, contract) = match item.split(" | ").collect::<Vec<_>>().as_slice() {
        [from, to, contract @ ..] if !contract.is_empty() => {
            ((*from).to_owned(), (*to).to_owned(), contract.join(" | "))
        }
        _ => {
            let (from, rest) = ["→", "->"].iter().find_map(|arrow| item.split_once(arrow))?;
            let (to, contract) = rest.split_once(": ")?;
            (from.to_owned(), to.to_owned(), contract.to_owned())
        }
    };
    let mut entry = Map::new();
    for (key, text) in [("from", from), ("to", to), ("contract", contract)] {
        if text.trim().is_empty() {
            return None;
        }
        entry.set(key, text.trim());
    }
    Some(Value::Map(entry))
}
