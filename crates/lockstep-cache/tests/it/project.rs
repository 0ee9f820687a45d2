//! A project on disk for one test.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

use jiff::Timestamp;
use lockstep_cache::cache_document::{CacheDocument, SectionContent};
use lockstep_cache::fixture::{self, FixtureSize};
use lockstep_cache::{BuildOptions, BuildReport, CacheSettings, FrameworkPreset, SessionCache};

pub(crate) struct Project {
    dir: tempfile::TempDir,
    pub(crate) given: BTreeMap<String, String>,
}

impl Project {
    pub(crate) fn empty() -> Self {
        Self { dir: tempfile::tempdir().unwrap(), given: BTreeMap::new() }
    }

    pub(crate) fn of(shape: FixtureSize) -> Self {
        let project = Self::empty();
        fixture::write(project.root(), shape).unwrap();
        project.age();
        project
    }

    pub(crate) fn root(&self) -> &Path {
        self.dir.path()
    }

    pub(crate) fn put(&self, path: &str, text: &str) {
        fixture::write_file(self.root(), path, text).unwrap();
    }

    pub(crate) fn read(&self, path: &str) -> String {
        fs::read_to_string(self.root().join(path)).unwrap()
    }

    pub(crate) fn remove(&self, path: &str) {
        let path = self.root().join(path);
        if path.is_dir() { fs::remove_dir_all(path).unwrap() } else { fs::remove_file(path).unwrap() }
    }

    pub(crate) fn cache(&self) -> SessionCache {
        SessionCache::open(self.root(), CacheSettings::default_for(self.root()))
    }

    pub(crate) fn with_budget(&self, budget: usize) -> SessionCache {
        let settings = CacheSettings::new(
            FrameworkPreset::of(self.root()).sections(),
            budget,
            CacheSettings::default_for(self.root()).target().to_owned(),
            Vec::new(),
        );
        SessionCache::open(self.root(), settings.unwrap())
    }

    pub(crate) fn build(&self) -> BuildReport {
        self.build_with(&self.cache())
    }

    pub(crate) fn build_with(&self, cache: &SessionCache) -> BuildReport {
        let built = cache.build(&self.given, time(0), BuildOptions::default()).unwrap();
        assert_eq!(built.warnings, Vec::<String>::new());
        built
    }

    /// The cache's text and a section of it.
    pub(crate) fn section(&self, name: &str) -> SectionContent {
        let text = self.cache().read().unwrap().unwrap();
        let document = CacheDocument::parse(&text).unwrap();
        document.section(name).unwrap_or_else(|| panic!("no section {name}")).content()
    }

    pub(crate) fn text(&self, name: &str) -> String {
        match self.section(name) {
            SectionContent::Text(text) => text,
            SectionContent::Skipped(why) => panic!("{name} is skipped: {why}"),
        }
    }

    pub(crate) fn skipped(&self, name: &str) -> String {
        match self.section(name) {
            SectionContent::Text(text) => panic!("{name} is there: {text}"),
            SectionContent::Skipped(why) => why,
        }
    }

    /// Waits until the times of the last writes are no longer racy.
    pub(crate) fn age(&self) {
        std::thread::sleep(Duration::from_millis(30));
    }
}

pub(crate) fn time(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap()
}

/// Sets a file's times to now and changes nothing else.
pub(crate) fn touch(path: &Path) {
    fs::File::options().append(true).open(path).unwrap().set_modified(SystemTime::now()).unwrap();
}
