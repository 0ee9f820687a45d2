//! Finds every `SKILL.md` below a directory of skills, and knows what it says.

use std::collections::BTreeSet;

use crate::finding::FindingKind;
use crate::memo::Memo;
use crate::reader::{Base, Late, Reader, Seen, Sort};
use crate::skill::{Skill, SkillFacts};

/// The file that makes a directory a skill.
const SKILL_FILE: &str = "SKILL.md";

/// A walk below one base.
pub(crate) struct Walk<'r, 'k> {
    pub(crate) reader: &'r mut Reader<'k>,
    pub(crate) memo: &'r mut Memo,
    pub(crate) findings: &'r mut Vec<FindingKind>,
}

impl Walk<'_, '_> {
    /// The skills below `dir`, in the order of their paths.
    pub(crate) fn skills(&mut self, base: &Base, dir: &str) -> Result<Vec<Skill>, Late> {
        let mut found = Vec::new();
        self.directory(base, dir, "", &mut BTreeSet::new(), &mut found)?;
        Ok(found)
    }

    /// Walks `dir/place`. A directory is walked once, however many links lead to it.
    fn directory(
        &mut self,
        base: &Base,
        dir: &str,
        place: &str,
        visited: &mut BTreeSet<(u64, u64)>,
        found: &mut Vec<Skill>,
    ) -> Result<(), Late> {
        let path = below(dir, place);
        let Some(listing) = self.reader.list(base, &path)? else { return Ok(()) };
        if !visited.insert(listing.identity) {
            return Ok(());
        }
        if listing.odd > 0 {
            let why = format!("{} names in it cannot be written on a line", listing.odd);
            self.findings.push(FindingKind::Unusable { path: base.label(&path), why });
        }
        for (name, sort) in listing.entries {
            if name == SKILL_FILE {
                found.extend(self.skill(base, &below(&path, SKILL_FILE), place, sort)?);
            } else if !name.starts_with('.') && name != "node_modules" {
                let inner = below(place, &name);
                if sort == Sort::Directory
                    || sort == Sort::Perhaps && self.leads_to_directory(base, dir, &inner)
                {
                    self.directory(base, dir, &inner, visited, found)?;
                }
            }
        }
        Ok(())
    }

    fn leads_to_directory(&mut self, base: &Base, dir: &str, place: &str) -> bool {
        let path = below(dir, place);
        match self.reader.located(base, &path) {
            Ok(found) => found.is_some_and(|(_, meta)| meta.is_dir()),
            Err(why) => {
                let path = base.label(&path);
                // It may begin to lead somewhere while everything that was listed stays as it is.
                self.reader.unusable(&path, &why);
                self.findings.push(FindingKind::Unusable { path, why });
                false
            }
        }
    }

    fn skill(&mut self, base: &Base, path: &str, place: &str, sort: Sort) -> Result<Option<Skill>, Late> {
        let label = base.label(path);
        let facts = match self.reader.known_digest(base, path).and_then(|digest| self.memo.get(&digest)) {
            Some(facts) => facts.clone(),
            None => match self.read(base, path, sort)? {
                Seen::File(file) => {
                    let facts = SkillFacts::of(&file.text);
                    self.reader.forget(&label);
                    if let Some(digest) = self.reader.digest(&label) {
                        self.memo.insert(&digest, facts.clone());
                    }
                    facts
                }
                Seen::Unusable(why) => {
                    self.findings.push(FindingKind::Unusable { path: label, why });
                    return Ok(None);
                }
                Seen::Absent => return Ok(None),
            },
        };
        Ok(Some(Skill { path: label, place: place.to_owned(), facts }))
    }

    fn read(&mut self, base: &Base, path: &str, sort: Sort) -> Result<Seen, Late> {
        if sort == Sort::Plain { self.reader.plain(base, path) } else { self.reader.file(base, path) }
    }
}

fn below(dir: &str, name: &str) -> String {
    match (dir, name) {
        ("", name) => name.to_owned(),
        (dir, "") => dir.to_owned(),
        (dir, name) => format!("{dir}/{name}"),
    }
}
