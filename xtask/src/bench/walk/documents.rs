//! Edits of documents, skills and manifests. Their effect is known by their construction.

use std::collections::BTreeMap;

use lockstep_refs::language::Language;
use lockstep_refs::world::{join, parent};

use super::checkout::{Change, Checkout};
use super::edits::{Edit, Kind, beside, file_edit, shuffle};
use super::source;
use crate::bench::ground_truth::SplitMix64;

pub(super) fn choose(checkout: &Checkout, random: &mut SplitMix64, cases: usize) -> Vec<Edit> {
    let documents: Vec<&String> =
        checkout.texts.keys().filter(|path| Language::of(path) == Language::Markdown).collect();
    let documents = shuffle(documents, random);
    let mut edits = Vec::new();
    // To search all links for every document takes minutes in a large collection.
    let linked = documents.iter().filter(|path| !links_to(checkout, path).is_empty());
    for path in linked.take(cases) {
        edits.push(file_edit(
            Kind::MoveFile,
            path,
            Change::Move { from: path.to_string(), to: beside(path) },
        ));
        edits.push(file_edit(Kind::DeleteFile, path, Change::Delete { path: path.to_string() }));
    }
    edits.extend(documents.iter().filter_map(|path| rename_skill(checkout, path)).take(2 * cases));
    edits.extend(documents.iter().filter_map(|path| rename_heading(checkout, path)).take(cases));
    for path in documents.iter().take(cases) {
        let text = &checkout.texts[*path];
        let with_remark = format!("{text}\n{}\n", source::comment(Language::Markdown));
        let change = Change::Write { path: path.to_string(), text: with_remark };
        edits.push(file_edit(Kind::CommentOnly, path, change));
    }
    edits.extend(bump_manifest(checkout));
    edits
}

/// Returns the name of a skill or agent from its front matter, if the name is distinctive.
fn skill_name<'t>(path: &str, text: &'t str) -> Option<&'t str> {
    let is_skill = path.ends_with("/SKILL.md") || path.contains("agents/");
    let head = text.strip_prefix("---\n")?.split("\n---").next()?;
    let name = head.lines().find_map(|line| line.strip_prefix("name: "))?.trim();
    (is_skill && name.contains('-')).then_some(name)
}

fn rename_skill(checkout: &Checkout, path: &str) -> Option<Edit> {
    let text = checkout.texts.get(path)?;
    let name = skill_name(path, text)?;
    let is_alone =
        checkout.texts.iter().filter(|(path, text)| skill_name(path, text) == Some(name)).count() == 1;
    is_alone.then_some(())?;
    let new = format!("{name}-walked");
    let written = text.replacen(&format!("name: {name}"), &format!("name: {new}"), 1);
    let mut changes = vec![Change::Write { path: path.to_owned(), text: written }];
    let directory = parent(path);
    if directory.ends_with(&format!("/{name}")) {
        let to = format!("{}/{new}", parent(directory));
        changes.push(Change::Move { from: directory.to_owned(), to });
    } else if path.ends_with(&format!("/{name}.md")) {
        changes.push(Change::Move { from: path.to_owned(), to: format!("{directory}/{new}.md") });
    }
    let edit = file_edit(Kind::RenameSkill, path, changes[0].clone());
    Some(Edit { changes, rename: Some((name.to_owned(), new)), ..edit })
}

fn rename_heading(checkout: &Checkout, path: &str) -> Option<Edit> {
    let text = checkout.texts.get(path)?;
    let heading = text.lines().filter(|line| line.starts_with("## ")).find(|line| {
        let slug = slug(line.trim_start_matches('#'));
        text.contains(&format!("](#{slug})"))
    })?;
    let written = text.replacen(&format!("{heading}\n"), &format!("{heading} walked\n"), 1);
    let edit = file_edit(Kind::RenameHeading, path, Change::Write { path: path.to_owned(), text: written });
    Some(Edit { rename: Some((slug(heading.trim_start_matches('#')), String::new())), ..edit })
}

fn slug(heading: &str) -> String {
    let text = heading.trim().to_lowercase();
    let text = text.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    text.map(|c| if c == ' ' { '-' } else { c }).collect()
}

/// The files that break by an edit of a document, each with a reason.
pub(super) fn broken(checkout: &Checkout, edit: &Edit) -> BTreeMap<String, String> {
    let path = &edit.file;
    match edit.kind {
        Kind::MoveFile | Kind::DeleteFile => links_to(checkout, path),
        Kind::RenameHeading => {
            let slug = edit.rename.as_ref().map(|(slug, _)| slug.as_str()).unwrap_or_default();
            let mut broken = links(checkout, &|target, from| {
                let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
                anchor == slug && if file.is_empty() { from == path } else { reaches(from, file, path) }
            });
            broken.entry(path.clone()).or_insert_with(|| format!("links to #{slug}"));
            broken
        }
        _ => BTreeMap::new(),
    }
}

fn links_to(checkout: &Checkout, path: &str) -> BTreeMap<String, String> {
    links(checkout, &|target, from| {
        from != path && reaches(from, target.split('#').next().unwrap_or_default(), path)
    })
}

/// The Markdown files with a link whose destination fits.
fn links(checkout: &Checkout, fits: &dyn Fn(&str, &str) -> bool) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for (from, text) in checkout.texts.iter().filter(|(path, _)| Language::of(path) == Language::Markdown) {
        for line in text.lines() {
            let destinations = line.split("](").skip(1).filter_map(|rest| rest.split([')', ' ']).next());
            if destinations.into_iter().any(|target| fits(target, from)) {
                found.entry(from.clone()).or_insert_with(|| line.trim().to_owned());
            }
        }
    }
    found
}

fn reaches(from: &str, target: &str, path: &str) -> bool {
    !target.is_empty() && (join(parent(from), target).as_deref() == Some(path))
}

/// The files of the table that a rename of a skill is judged by: those that contain the whole name.
pub(super) fn mentions(checkout: &Checkout, name: &str) -> BTreeMap<String, String> {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_');
    let has = |text: &str| {
        text.match_indices(name)
            .any(|(at, _)| !text[..at].ends_with(is_part) && !text[at + name.len()..].starts_with(is_part))
    };
    let found = checkout.texts.iter().filter(|(_, text)| has(text));
    found.map(|(path, _)| (path.clone(), format!("contains {name}"))).collect()
}

/// Another version of the package.
pub(super) fn bump_manifest(checkout: &Checkout) -> Option<Edit> {
    let (path, text) =
        ["Cargo.toml", "package.json", "pyproject.toml", "composer.json", ".claude-plugin/plugin.json"]
            .iter()
            .find_map(|path| checkout.texts.get_key_value(*path))?;
    let line = text
        .lines()
        .find(|line| line.contains("version") && line.bytes().any(|byte| byte.is_ascii_digit()))?;
    let digit = line.rfind(|c: char| c.is_ascii_digit())?;
    let new = format!("{}9{}", &line[..digit], &line[digit..]);
    let change = Change::Write { path: path.clone(), text: text.replacen(line, &new, 1) };
    Some(file_edit(Kind::Manifest, path, change))
}

/// The files other than its own that use a skill by its name: as a name in backticks, behind a plugin, in a path.
pub(super) fn uses_of_skill(checkout: &Checkout, edit: &Edit, name: &str) -> BTreeMap<String, String> {
    let forms = [format!("`{name}`"), format!(":{name}"), format!("/{name}/"), format!("skill: {name}")];
    // A record of the past keeps the names of its time.
    let is_historical_record = |path: &str| {
        let is_dated = path
            .split('/')
            .any(|part| part.len() > 10 && part.as_bytes()[..4].iter().all(u8::is_ascii_digit));
        is_dated || ["RELEASE-NOTES", "CHANGELOG", "CHANGES"].iter().any(|name| path.contains(name))
    };
    let mut found = mentions(checkout, name);
    found.retain(|path, _| !is_historical_record(path));
    found.retain(|path, _| {
        let is_own = parent(path) == parent(&edit.file) && path.ends_with("SKILL.md") || *path == edit.file;
        !is_own && forms.iter().any(|form| checkout.texts[path].contains(form.as_str()))
    });
    found
}
