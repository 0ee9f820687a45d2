//! Cached parts: sent again without reading anything, and never after a change of their inputs.

use std::cell::Cell;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use lockstep_cache::fixture::FixtureSize;
use lockstep_cache::{
    BuildOptions, CacheSettings, CachedPart, ContentProvider, Freshness, ProvidedText, SessionCache,
};
use proptest::prelude::*;
use proptest::sample::Index;

use crate::project::{Project, time, touch};

const ASKED: &str = "part 1";

fn made(text: &str) -> CachedPart {
    CachedPart { hash: "0123abcd".into(), text: Some(text.to_owned()) }
}

/// A project with a cache, and a part of it that is ready.
fn with_part(shape: FixtureSize) -> Project {
    let project = Project::of(shape);
    project.build();
    project.age();
    make(&project, &project.cache());
    assert_eq!(project.cache().cached_part(&project.given, ASKED), Some(made("one\n")));
    project
}

fn make(project: &Project, cache: &SessionCache) {
    let snapshot = cache.snapshot().unwrap().unwrap();
    cache.store_part(&project.given, &snapshot, ASKED, &made("one\n"));
}

#[test]
fn racy_timestamps_are_not_cached() {
    let project = Project::of(FixtureSize::SMALL);
    // However slow this machine is.
    let young = project.root().join("docs/isdlc/constitution.md");
    let soon = SystemTime::now() + Duration::from_secs(3600);
    fs::File::options().append(true).open(&young).unwrap().set_modified(soon).unwrap();
    project.build();
    project.age();
    make(&project, &project.cache());
    assert_eq!(project.cache().cached_part(&project.given, ASKED), None);
    touch(&young);
    project.age();
    project.build();
    project.age();
    make(&project, &project.cache());
    assert_eq!(project.cache().cached_part(&project.given, ASKED), Some(made("one\n")));
}

#[test]
fn each_question_has_its_own_answer() {
    let project = with_part(FixtureSize::SMALL);
    let cache = project.cache();
    assert_eq!(cache.cached_part(&project.given, "part 2"), None);
    let nothing = CachedPart { text: None, ..made("") };
    let snapshot = cache.snapshot().unwrap().unwrap();
    cache.store_part(&project.given, &snapshot, "agent ../../x", &nothing);
    assert_eq!(cache.cached_part(&project.given, "agent ../../x"), Some(nothing));
    assert_eq!(cache.cached_part(&project.given, ASKED), Some(made("one\n")));
}

#[test]
fn configuration_place_and_given_text_count() {
    let mut project = with_part(FixtureSize::SMALL);
    assert_eq!(project.with_budget(100_001).cached_part(&project.given, ASKED), None);
    let plain = CacheSettings::default_for(project.root());
    let elsewhere =
        CacheSettings::new(plain.sections().to_vec(), plain.budget(), "c.md".into(), Vec::new()).unwrap();
    assert_eq!(SessionCache::open(project.root(), elsewhere).cached_part(&project.given, ASKED), None);
    project = Project::empty();
    project.given.insert("TASK".into(), "do this".into());
    project.build();
    project.age();
    make(&project, &project.cache());
    assert!(project.cache().cached_part(&project.given, ASKED).is_some());
    project.given.insert("TASK".into(), "do that".into());
    assert_eq!(project.cache().cached_part(&project.given, ASKED), None);
    // A part that was created from another text than the cache's is not stored.
    make(&project, &project.cache());
    assert_eq!(project.cache().cached_part(&project.given, ASKED), None);
}

/// Texts with a stamp, and the number of requests for them.
struct Stamped {
    task: &'static str,
    stamp: Option<Vec<u8>>,
    asked: Cell<usize>,
}

impl ContentProvider for Stamped {
    fn given(&self, section: &str) -> ProvidedText {
        self.asked.set(self.asked.get() + 1);
        if section == "TASK" { ProvidedText::Text(self.task.to_owned()) } else { ProvidedText::Nothing }
    }

    fn stamp(&self) -> Option<Vec<u8>> {
        self.stamp.clone()
    }
}

#[test]
fn a_provider_is_queried_again_only_if_its_stamp_changed() {
    let project = Project::empty();
    let provider = |task, stamp: u8| Stamped { task, stamp: Some(vec![stamp]), asked: Cell::new(0) };
    let ready = |provider: &Stamped| {
        (project.cache().cached_part(provider, ASKED).is_some(), provider.asked.get() > 0)
    };
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
    assert_eq!(other.cached_part(&asked, ASKED), None);
    assert!(asked.asked.get() > 0);
}

#[test]
fn a_part_of_another_text_than_was_built_is_not_kept() {
    let project = Project::of(FixtureSize::SMALL);
    let path = project.build().path;
    fs::write(&path, fs::read_to_string(&path).unwrap().replace("agreed", "argued")).unwrap();
    project.age();
    make(&project, &project.cache());
    assert_eq!(project.cache().cached_part(&project.given, ASKED), None);
}

#[test]
fn unusable_inputs_are_checked_every_time() {
    let project = Project::of(FixtureSize::SMALL);
    symlink("nowhere", project.root().join("src/claude/skills/area-1/link")).unwrap();
    project.age();
    project.build();
    project.age();
    make(&project, &project.cache());
    // Nothing that was listed changes when the link begins to lead somewhere.
    assert_eq!(project.cache().cached_part(&project.given, ASKED), None);
}

#[test]
fn corrupt_part_file_is_ignored() {
    let project = with_part(FixtureSize::SMALL);
    let ready = project.root().join(".lockstep/cache/ready");
    for file in fs::read_dir(&ready).unwrap() {
        let path = file.unwrap().path();
        let whole = fs::read(&path).unwrap();
        for at in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] ^= 1;
            for damaged in [&damaged, &whole[..at]] {
                fs::write(&path, damaged).unwrap();
                assert_eq!(
                    project.cache().cached_part(&project.given, ASKED),
                    None,
                    "{}, {at}",
                    path.display()
                );
            }
        }
        fs::write(&path, whole).unwrap();
        assert!(project.cache().cached_part(&project.given, ASKED).is_some());
    }
}

#[test]
fn part_cache_is_bounded() {
    let project = with_part(FixtureSize::SMALL);
    let cache = project.cache();
    let snapshot = cache.snapshot().unwrap().unwrap();
    for number in 0..900 {
        cache.store_part(&project.given, &snapshot, &format!("agent {number}"), &made("x"));
    }
    let remaining = fs::read_dir(project.root().join(".lockstep/cache/ready")).unwrap().count();
    assert!((2..=403).contains(&remaining), "{remaining}");
    assert!(cache.cached_part(&project.given, "agent 899").is_some());
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
        let project = with_part(FixtureSize::SMALL);
        let mut all = Vec::new();
        everything(project.root(), &mut all);
        let deed = DEEDS[deed.index(DEEDS.len())];
        let (path, other) = (&all[which.index(all.len())], &all[other.index(all.len())]);
        happens(deed, path, other);
        let checked = project.cache().check(&project.given);
        if !checked.is_ok_and(|checked| checked.freshness == Freshness::Fresh) {
            let ready = project.cache().cached_part(&project.given, ASKED);
            prop_assert_eq!(ready, None, "{:?} of {}", deed, path.display());
        }
    }
}

/// The same for every input there is and the change that is hardest to see.
#[test]
fn every_forged_file_is_detected() {
    let project = with_part(FixtureSize::SMALL);
    let mut all = Vec::new();
    everything(project.root(), &mut all);
    let mut noticed = 0;
    for path in all.iter().filter(|path| path.is_file()) {
        let before = fs::read(path).unwrap();
        happens(Deed::Forge, path, path);
        let cache = project.cache();
        if cache.check(&project.given).unwrap().freshness != Freshness::Fresh {
            assert_eq!(cache.cached_part(&project.given, ASKED), None, "{}", path.display());
            noticed += 1;
        }
        fs::write(path, before).unwrap();
        project.build();
        project.age();
        // The original state: it must be checked again, and the part is cached again.
        cache.freshness(&project.given, None).unwrap();
        project.age();
        make(&project, &project.cache());
        assert!(project.cache().cached_part(&project.given, ASKED).is_some(), "{}", path.display());
    }
    assert!(noticed > 15, "{noticed}");
}
