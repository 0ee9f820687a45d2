//! Cached parts: sent again without reading anything, and never after a change of their inputs.

use std::cell::Cell;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use lockstep_cache::fixture::Shape;
use lockstep_cache::{BuildOptions, Cache, CachedPart, Freshness, Given, Provider, Settings};
use proptest::prelude::*;
use proptest::sample::Index;

use crate::project::{Project, time, touch};

const ASKED: &str = "part 1";

fn made(text: &str) -> CachedPart {
    CachedPart { hash: "0123abcd".into(), text: Some(text.to_owned()) }
}

/// A project with a cache, and a part of it that is ready.
fn with_part(shape: Shape) -> Project {
    let project = Project::of(shape);
    project.build();
    project.age();
    make(&project, &project.cache());
    assert_eq!(project.cache().ready(&project.given, ASKED), Some(made("one\n")));
    project
}

fn make(project: &Project, cache: &Cache) {
    let snapshot = cache.snapshot().unwrap().unwrap();
    cache.store_part(&project.given, &snapshot, ASKED, &made("one\n"));
}

#[test]
fn what_is_too_young_is_not_trusted() {
    let project = Project::of(Shape::SMALL);
    // However slow this machine is.
    let young = project.root().join("docs/isdlc/constitution.md");
    let soon = SystemTime::now() + Duration::from_secs(3600);
    fs::File::options().append(true).open(&young).unwrap().set_modified(soon).unwrap();
    project.build();
    project.age();
    make(&project, &project.cache());
    assert_eq!(project.cache().ready(&project.given, ASKED), None);
    touch(&young);
    project.age();
    project.build();
    project.age();
    make(&project, &project.cache());
    assert_eq!(project.cache().ready(&project.given, ASKED), Some(made("one\n")));
}

#[test]
fn each_question_has_its_own_answer() {
    let project = with_part(Shape::SMALL);
    let cache = project.cache();
    assert_eq!(cache.ready(&project.given, "part 2"), None);
    let nothing = CachedPart { text: None, ..made("") };
    let snapshot = cache.snapshot().unwrap().unwrap();
    cache.store_part(&project.given, &snapshot, "agent ../../x", &nothing);
    assert_eq!(cache.ready(&project.given, "agent ../../x"), Some(nothing));
    assert_eq!(cache.ready(&project.given, ASKED), Some(made("one\n")));
}

#[test]
fn configuration_place_and_given_text_count() {
    let mut project = with_part(Shape::SMALL);
    assert_eq!(project.with_budget(100_001).ready(&project.given, ASKED), None);
    let plain = Settings::default_for(project.root());
    let elsewhere =
        Settings::new(plain.sections().to_vec(), plain.budget(), "c.md".into(), Vec::new()).unwrap();
    assert_eq!(Cache::open(project.root(), elsewhere).ready(&project.given, ASKED), None);
    project = Project::empty();
    project.given.insert("TASK".into(), "do this".into());
    project.build();
    project.age();
    make(&project, &project.cache());
    assert!(project.cache().ready(&project.given, ASKED).is_some());
    project.given.insert("TASK".into(), "do that".into());
    assert_eq!(project.cache().ready(&project.given, ASKED), None);
    // A part that was created from another text than the cache's is not stored.
    make(&project, &project.cache());
    assert_eq!(project.cache().ready(&project.given, ASKED), None);
}

/// Texts with a stamp, and the number of requests for them.
struct Stamped {
    task: &'static str,
    stamp: Option<Vec<u8>>,
    asked: Cell<usize>,
}

impl Provider for Stamped {
    fn given(&self, section: &str) -> Given {
        self.asked.set(self.asked.get() + 1);
        if section == "TASK" { Given::Text(self.task.to_owned()) } else { Given::Nothing }
    }

    fn stamp(&self) -> Option<Vec<u8>> {
        self.stamp.clone()
    }
}

#[test]
fn a_provider_is_asked_again_only_when_its_stamp_is_another() {
    let project = Project::empty();
    let provider = |task, stamp: u8| Stamped { task, stamp: Some(vec![stamp]), asked: Cell::new(0) };
    let ready =
        |provider: &Stamped| (project.cache().ready(provider, ASKED).is_some(), provider.asked.get() > 0);
    let one = provider("do this", 1);
    let cache = project.cache();
    cache.build(&one, time(0), BuildOptions::default()).unwrap();
    project.age();
    let snapshot = cache.snapshot().unwrap().unwrap();
    cache.store_part(&one, &snapshot, ASKED, &made("one\n"));
    assert_eq!(ready(&provider("do this", 1)), (true, false));
    assert_eq!(ready(&provider("do this", 2)), (true, true));
    assert_eq!(ready(&provider("do that", 2)), (false, true));
    let unknown = Stamped { stamp: None, ..provider("do that", 0) };
    assert_eq!(ready(&unknown), (false, true));
    // With other settings, the same stamp is not valid.
    let other = project.with_budget(100_001);
    let asked = provider("do this", 1);
    assert_eq!(other.ready(&asked, ASKED), None);
    assert!(asked.asked.get() > 0);
}

#[test]
fn a_part_of_another_text_than_was_built_is_not_kept() {
    let project = Project::of(Shape::SMALL);
    let path = project.build().path;
    fs::write(&path, fs::read_to_string(&path).unwrap().replace("agreed", "argued")).unwrap();
    project.age();
    make(&project, &project.cache());
    assert_eq!(project.cache().ready(&project.given, ASKED), None);
}

#[test]
fn what_cannot_be_used_is_always_looked_at_again() {
    let project = Project::of(Shape::SMALL);
    symlink("nowhere", project.root().join("src/claude/skills/area-1/link")).unwrap();
    project.age();
    project.build();
    project.age();
    make(&project, &project.cache());
    // Nothing that was listed changes when the link begins to lead somewhere.
    assert_eq!(project.cache().ready(&project.given, ASKED), None);
}

#[test]
fn damage_is_nothing() {
    let project = with_part(Shape::SMALL);
    let ready = project.root().join(".lockstep/cache/ready");
    for file in fs::read_dir(&ready).unwrap() {
        let path = file.unwrap().path();
        let whole = fs::read(&path).unwrap();
        for at in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] ^= 1;
            for damaged in [&damaged, &whole[..at]] {
                fs::write(&path, damaged).unwrap();
                assert_eq!(project.cache().ready(&project.given, ASKED), None, "{}, {at}", path.display());
            }
        }
        fs::write(&path, whole).unwrap();
        assert!(project.cache().ready(&project.given, ASKED).is_some());
    }
}

#[test]
fn there_is_an_end_to_what_is_kept() {
    let project = with_part(Shape::SMALL);
    let cache = project.cache();
    let snapshot = cache.snapshot().unwrap().unwrap();
    for number in 0..900 {
        cache.store_part(&project.given, &snapshot, &format!("agent {number}"), &made("x"));
    }
    let kept = fs::read_dir(project.root().join(".lockstep/cache/ready")).unwrap().count();
    assert!((2..=403).contains(&kept), "{kept}");
    assert!(cache.ready(&project.given, "agent 899").is_some());
}

/// Something that happens to a file or directory behind our back.
#[derive(Debug, Clone, Copy)]
enum Deed {
    /// Other bytes of the same length, with the same modification time.
    Forge,
    Append,
    Touch,
    Remove,
    Rename,
    Exchange,
    BecomeDirectory,
    BecomeLink,
    /// Something new beside it, or in it.
    Skill,
    Markdown,
}

const DEEDS: [Deed; 10] = [
    Deed::Forge,
    Deed::Append,
    Deed::Touch,
    Deed::Remove,
    Deed::Rename,
    Deed::Exchange,
    Deed::BecomeDirectory,
    Deed::BecomeLink,
    Deed::Skill,
    Deed::Markdown,
];

fn everything(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.ends_with(".lockstep") {
            continue;
        }
        if path.is_dir() {
            everything(&path, found);
        }
        found.push(path);
    }
    found.sort();
}

fn remove(path: &Path) {
    if path.is_dir() { fs::remove_dir_all(path).unwrap() } else { fs::remove_file(path).unwrap() }
}

fn happens(deed: Deed, path: &Path, other: &Path) {
    let dir = if path.is_dir() { path } else { path.parent().unwrap() };
    let renamed = path.with_file_name("renamed.md");
    match deed {
        Deed::Forge | Deed::Append | Deed::Touch if path.is_dir() => {}
        Deed::Forge => {
            let modified = fs::metadata(path).unwrap().modified().unwrap();
            let mut bytes = fs::read(path).unwrap();
            if let Some(byte) = bytes.last_mut() {
                *byte = b'#';
            }
            fs::write(path, bytes).unwrap();
            fs::File::options().append(true).open(path).unwrap().set_modified(modified).unwrap();
        }
        Deed::Append => fs::write(path, fs::read_to_string(path).unwrap() + "more\n").unwrap(),
        Deed::Touch => touch(path),
        Deed::Remove => remove(path),
        Deed::Rename => fs::rename(path, renamed).unwrap(),
        Deed::Exchange if path.starts_with(other) || other.starts_with(path) => {}
        Deed::Exchange => {
            let aside = path.with_file_name("aside");
            fs::rename(path, &aside).unwrap();
            fs::rename(other, path).unwrap();
            fs::rename(aside, other).unwrap();
        }
        Deed::BecomeDirectory => {
            remove(path);
            fs::create_dir(path).unwrap();
        }
        Deed::BecomeLink if other.starts_with(path) => {}
        Deed::BecomeLink => {
            remove(path);
            symlink(other, path).unwrap();
        }
        Deed::Skill => {
            fs::create_dir_all(dir.join("new")).unwrap();
            fs::write(dir.join("new/SKILL.md"), "---\nskill_id: FIX-001\n---\n").unwrap();
        }
        Deed::Markdown => fs::write(dir.join("persona-new.md"), "new\n").unwrap(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    /// After any change of any input, a cached part is returned only if a full check finds the cache fresh.
    #[test]
    fn any_change_of_an_input_is_noticed(which: Index, other: Index, deed: Index) {
        let project = with_part(Shape::SMALL);
        let mut all = Vec::new();
        everything(project.root(), &mut all);
        let deed = DEEDS[deed.index(DEEDS.len())];
        let (path, other) = (&all[which.index(all.len())], &all[other.index(all.len())]);
        happens(deed, path, other);
        let checked = project.cache().check(&project.given);
        if !checked.is_ok_and(|checked| checked.freshness == Freshness::Fresh) {
            let ready = project.cache().ready(&project.given, ASKED);
            prop_assert_eq!(ready, None, "{:?} of {}", deed, path.display());
        }
    }
}

/// The same for every input there is and the change that is hardest to see.
#[test]
fn no_forged_file_is_overlooked() {
    let project = with_part(Shape::SMALL);
    let mut all = Vec::new();
    everything(project.root(), &mut all);
    let mut noticed = 0;
    for path in all.iter().filter(|path| path.is_file()) {
        let before = fs::read(path).unwrap();
        happens(Deed::Forge, path, path);
        let cache = project.cache();
        if cache.check(&project.given).unwrap().freshness != Freshness::Fresh {
            assert_eq!(cache.ready(&project.given, ASKED), None, "{}", path.display());
            noticed += 1;
        }
        fs::write(path, before).unwrap();
        project.build();
        project.age();
        // The original state: it must be checked again, and the part is cached again.
        cache.freshness(&project.given, None).unwrap();
        project.age();
        make(&project, &project.cache());
        assert!(project.cache().ready(&project.given, ASKED).is_some(), "{}", path.display());
    }
    assert!(noticed > 15, "{noticed}");
}
