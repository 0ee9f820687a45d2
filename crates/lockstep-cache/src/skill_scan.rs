//! Finds every `SKILL.md` below a directory of skills.
//!
//! A directory with such a file is a skill, and its other content belongs to it: it is neither listed nor
//! scanned. A framework of 250 skills therefore has half as many paths to check at every start of a session
//! or subagent.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::thread;

use crate::finding::BuildFindingKind;
use crate::skill::{Skill, SkillFacts};
use crate::skill_facts_cache::SkillFactsCache;
use crate::source_reader::{Base, DeadlineExceeded, DirEntryKind, SourceReader, SourceState};

/// The file that makes a directory a skill.
const SKILL_FILE: &str = "SKILL.md";

/// From so many entries of a directory on, a second thread pays: each is some ten system calls, and a thread as much as five of them.
const PARALLEL_THRESHOLD: usize = 64;

/// A walk below one base.
pub(crate) struct SkillScanner<'r, 'k> {
    pub(crate) reader: &'r mut SourceReader<'k>,
    pub(crate) memo: &'r mut SkillFactsCache,
    pub(crate) findings: &'r mut Vec<BuildFindingKind>,
}

/// The visited directories and the found skills.
#[derive(Debug, Default)]
struct ScanState {
    /// Real paths of directories. Each is scanned once, for any number of links.
    directories: BTreeSet<PathBuf>,
    skills: Vec<Skill>,
}

/// A directory: that of the walk, and the place below it.
#[derive(Clone, Copy)]
struct ScanDir<'a> {
    base: &'a Base,
    dir: &'a str,
    place: &'a str,
}

/// The entry at the path of a skill's file.
enum SkillFile {
    Skill(Skill),
    Unusable,
    Nothing,
}

impl SkillScanner<'_, '_> {
    /// The skills below `dir`, in the order of their paths.
    pub(crate) fn skills(&mut self, base: &Base, dir: &str) -> Result<Vec<Skill>, DeadlineExceeded> {
        let mut walked = ScanState::default();
        self.listed(ScanDir { base, dir, place: "" }, &mut walked)?;
        Ok(walked.skills)
    }

    /// A directory below that of the walk.
    fn directory(
        &mut self,
        at: ScanDir<'_>,
        sort: DirEntryKind,
        walked: &mut ScanState,
    ) -> Result<(), DeadlineExceeded> {
        let path = below(at.dir, at.place);
        let real = match sort {
            DirEntryKind::Directory => self.reader.enter(at.base, &path),
            _ => self.resolve_link(at.base, &path),
        };
        if real.is_none_or(|real| !walked.directories.insert(real)) {
            return Ok(());
        }
        let file = below(&path, SKILL_FILE);
        match self.skill(at.base, &file, at.place, DirEntryKind::Plain)? {
            SkillFile::Skill(skill) => walked.skills.push(skill),
            SkillFile::Unusable => {}
            SkillFile::Nothing => {
                // The listing already proves that it is absent.
                self.reader.untrack(at.base, &file);
                return self.listed(at, walked);
            }
        }
        Ok(())
    }

    fn listed(&mut self, at: ScanDir<'_>, walked: &mut ScanState) -> Result<(), DeadlineExceeded> {
        let path = below(at.dir, at.place);
        let Some(listing) = self.reader.list(at.base, &path)? else { return Ok(()) };
        if listing.unprintable_names > 0 {
            let why = format!("{} names in it cannot be written on a line", listing.unprintable_names);
            self.findings.push(BuildFindingKind::Unusable { path: at.base.label(&path), why });
        }
        if listing.entries.len() < PARALLEL_THRESHOLD || lockstep_fs::process::is_single_core() {
            self.entries(at, &listing.entries, walked)
        } else {
            self.scan_in_parallel(at, &listing.entries, walked)
        }
    }

    fn entries(
        &mut self,
        at: ScanDir<'_>,
        entries: &[(String, DirEntryKind)],
        walked: &mut ScanState,
    ) -> Result<(), DeadlineExceeded> {
        for (name, sort) in entries {
            let inner = below(at.place, name);
            if name == SKILL_FILE {
                // Of the directory of the walk itself, or one that has just become a skill.
                if let SkillFile::Skill(skill) =
                    self.skill(at.base, &below(at.dir, &inner), at.place, *sort)?
                {
                    walked.skills.push(skill);
                }
            } else if !name.starts_with('.')
                && name != "node_modules"
                && matches!(sort, DirEntryKind::Directory | DirEntryKind::Perhaps)
            {
                self.directory(ScanDir { place: &inner, ..at }, *sort, walked)?;
            }
        }
        Ok(())
    }

    /// Walks the second half of a directory on another thread.
    fn scan_in_parallel(
        &mut self,
        at: ScanDir<'_>,
        entries: &[(String, DirEntryKind)],
        walked: &mut ScanState,
    ) -> Result<(), DeadlineExceeded> {
        let (own, others) = entries.split_at(entries.len() / 2);
        let before = walked.directories.clone();
        let mut reader = self.reader.fork();
        let (mut memo, mut findings) = (self.memo.clone(), Vec::new());
        let mut aside = ScanState { directories: before.clone(), skills: Vec::new() };
        let both = thread::scope(|scope| {
            let mut other = SkillScanner { reader: &mut reader, memo: &mut memo, findings: &mut findings };
            let aside = &mut aside;
            let other = scope.spawn(move || other.entries(at, others, aside));
            let own = self.entries(at, own, walked);
            own.and(other.join().expect("a walk does not panic"))
        });
        both?;
        let mut new = aside.directories.difference(&before);
        if new.any(|directory| walked.directories.contains(directory)) {
            // If a link connects both halves, the first path is used.
            return self.entries(at, others, walked);
        }
        self.reader.merge(reader);
        self.memo.merge(memo);
        self.findings.append(&mut findings);
        walked.directories.append(&mut aside.directories);
        walked.skills.append(&mut aside.skills);
        Ok(())
    }

    /// Returns the target of a link if it is a directory inside.
    fn resolve_link(&mut self, base: &Base, path: &str) -> Option<PathBuf> {
        match self.reader.resolve_inside(base, path) {
            Ok(found) => found.filter(|(_, meta)| meta.is_dir()).map(|(real, _)| real),
            Err(why) => {
                let path = base.label(path);
                // The target of a broken link may appear while the listing stays the same.
                self.reader.unusable(&path, &why);
                self.findings.push(BuildFindingKind::Unusable { path, why });
                None
            }
        }
    }

    fn skill(
        &mut self,
        base: &Base,
        path: &str,
        place: &str,
        sort: DirEntryKind,
    ) -> Result<SkillFile, DeadlineExceeded> {
        let label = base.label(path);
        let facts = match self.reader.known_digest(base, path).and_then(|digest| self.memo.get(&digest)) {
            Some(facts) => facts.clone(),
            None => match self.read(base, path, sort)? {
                SourceState::File(file) => {
                    let facts = SkillFacts::of(&file.text);
                    self.reader.forget(&label);
                    if let Some(digest) = self.reader.digest(&label) {
                        self.memo.insert(&digest, facts.clone());
                    }
                    facts
                }
                SourceState::Unusable(why) => {
                    self.findings.push(BuildFindingKind::Unusable { path: label, why });
                    return Ok(SkillFile::Unusable);
                }
                SourceState::Absent => return Ok(SkillFile::Nothing),
            },
        };
        Ok(SkillFile::Skill(Skill { path: label, place: place.to_owned(), facts }))
    }

    fn read(&mut self, base: &Base, path: &str, sort: DirEntryKind) -> Result<SourceState, DeadlineExceeded> {
        if sort == DirEntryKind::Plain {
            self.reader.read_listed_file(base, path)
        } else {
            self.reader.file(base, path)
        }
    }
}

fn below(dir: &str, name: &str) -> String {
    match (dir, name) {
        ("", name) => name.to_owned(),
        (dir, "") => dir.to_owned(),
        (dir, name) => format!("{dir}/{name}"),
    }
}

#[cfg(test)]
mod tests {
    use lockstep_fs::symlink;
    use std::fs;

    use super::*;
    use crate::build_record::BuildRecord;

    fn places(root: &std::path::Path) -> Vec<String> {
        let (known, base) = (BuildRecord::default(), Base::project(root).unwrap());
        let (mut memo, mut findings) = (SkillFactsCache::default(), Vec::new());
        let mut reader = SourceReader::new(root, &known, None);
        let mut walk = SkillScanner { reader: &mut reader, memo: &mut memo, findings: &mut findings };
        let skills = walk.skills(&base, "skills").unwrap();
        assert_eq!(reader.opened, skills.len(), "each is read once");
        skills.into_iter().map(|skill| skill.place).collect()
    }

    #[test]
    fn first_of_two_paths_to_a_skill_wins_on_any_thread() {
        let root = tempfile::tempdir().unwrap();
        let skills = root.path().join("skills");
        let names: Vec<String> = (0..2 * PARALLEL_THRESHOLD).map(|n| format!("s{n:03}")).collect();
        for name in &names {
            fs::create_dir_all(skills.join(name)).unwrap();
            fs::write(skills.join(name).join(SKILL_FILE), format!("# {name}\n")).unwrap();
        }
        assert_eq!(places(root.path()), names);

        let last = names.last().unwrap();
        symlink(skills.join(&names[0]), skills.join("z")).unwrap();
        assert_eq!(
            places(root.path()),
            names,
            "what stands in the first half is not found again in the second"
        );
        symlink(skills.join(last), skills.join("a")).unwrap();
        let mut expected = names.clone();
        expected.insert(0, "a".to_owned());
        expected.pop();
        assert_eq!(places(root.path()), expected, "nor the other way round");
    }

    #[test]
    fn files_below_a_skill_belong_to_it() {
        let root = tempfile::tempdir().unwrap();
        for place in ["outer/a", "outer/a/examples/b", "c", "c/d", "e/f/g"] {
            let dir = root.path().join("skills").join(place);
            fs::create_dir_all(&dir).unwrap();
            fs::write(dir.join(SKILL_FILE), "# x\n").unwrap();
        }
        assert_eq!(places(root.path()), ["c", "e/f/g", "outer/a"]);
    }
}
