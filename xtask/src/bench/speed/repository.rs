//! One repository with its index, and what is run in it.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::super::programs::Programs;
use super::super::statistics::Times;
use super::synthetic_repo::{SyntheticRepo, generate};
use crate::XtaskResult;

pub(super) struct BenchRepository<'a> {
    root: PathBuf,
    home: PathBuf,
    forest: SyntheticRepo,
    programs: &'a Programs,
    ripgrep: &'a Path,
}

pub(super) struct RepositoryResult {
    pub(super) files: usize,
    pub(super) title: String,
    pub(super) bytes: u64,
    /// One pass of ripgrep over all files, for one name.
    pub(super) pass: Times,
    /// The same for several names.
    pub(super) search: Times,
    pub(super) build_words: Times,
    pub(super) build_all: Times,
    pub(super) no_change: Times,
    pub(super) one_file: Times,
    /// A query when no file changed since the previous one.
    pub(super) question: Times,
    /// A query right after the file was changed, which updates the index first.
    pub(super) first_question: Times,
    /// Peak memory in KiB: of the build of the words, of the whole build, of the question.
    pub(super) peak_words: u64,
    pub(super) peak_all: u64,
    pub(super) peak_question: u64,
    /// On disk: words, facts, the file table.
    pub(super) index_bytes: [u64; 3],
    /// The durations that the program itself reports: git, index, impact, in milliseconds.
    pub(super) parts: String,
    /// The number of dependents that the query found.
    pub(super) dependents: usize,
}

const REBUILD_WORDS: &[&str] = &["index", "--rebuild", "--words-only", "--quiet"];
const REBUILD: &[&str] = &["index", "--rebuild", "--quiet"];
const UPDATE: &[&str] = &["index", "--words-only", "--quiet"];

impl<'a> BenchRepository<'a> {
    /// A generated repository of about so many files.
    pub(super) fn new(
        dir: &Path,
        files: usize,
        seed: u64,
        programs: &'a Programs,
        ripgrep: &'a Path,
    ) -> XtaskResult<Self> {
        Self::with(dir, programs, ripgrep, |root| generate(root, files, seed))
    }

    /// A repository with what `fill` puts into it.
    pub(super) fn with(
        dir: &Path,
        programs: &'a Programs,
        ripgrep: &'a Path,
        fill: impl FnOnce(&Path) -> XtaskResult<SyntheticRepo>,
    ) -> XtaskResult<Self> {
        let dir = dir.canonicalize()?;
        let (root, home) = (dir.join("repository"), dir.join("home"));
        fs::create_dir_all(&root)?;
        fs::create_dir_all(&home)?;
        let forest = fill(&root)?;
        fs::write(root.join("lockstep.toml"), "")?;
        let scene = Self { root, home, forest, programs, ripgrep };
        scene.git(&["init", "--quiet"])?;
        scene.git(&["add", "--all"])?;
        scene.git(&[
            "-c",
            "user.name=bench",
            "-c",
            "user.email=bench@localhost",
            "commit",
            "--quiet",
            "-m",
            "all",
        ])?;
        Ok(scene)
    }

    fn git(&self, arguments: &[&str]) -> XtaskResult {
        let mut git = self.command(Path::new("git"), arguments);
        let status = git.status()?;
        if status.success() { Ok(()) } else { Err(format!("git {arguments:?}: {status}").into()) }
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    pub(super) fn home(&self) -> &Path {
        &self.home
    }

    /// The file that the question is about.
    pub(super) fn file(&self) -> &str {
        &self.forest.file
    }

    /// The name in it that is changed.
    pub(super) fn function(&self) -> &str {
        &self.forest.function
    }

    pub(super) fn command(&self, program: &Path, arguments: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.args(arguments).env_clear().current_dir(&self.root).env("HOME", &self.home);
        command.envs(std::env::var_os("PATH").map(|path| ("PATH", path)));
        command.stdin(Stdio::null()).stdout(Stdio::null());
        command
    }

    pub(super) fn lockstep(&self, arguments: &[&str]) -> Command {
        self.command(&self.programs.lockstep, arguments)
    }

    /// A search for whole words, as a person would make it.
    fn search(&self, names: &[&str]) -> Command {
        let mut arguments = vec!["--word-regexp", "--line-number", "--no-heading"];
        names.iter().for_each(|name| arguments.extend(["-e", name]));
        arguments.push(".");
        self.command(self.ripgrep, &arguments)
    }

    pub(super) fn measure(&self, runs: u32, builds: u32) -> XtaskResult<RepositoryResult> {
        let name = [self.forest.function.as_str()];
        let all: Vec<&str> =
            name.iter().copied().chain(self.forest.names.iter().map(String::as_str)).collect();
        let pass = self.times(runs, || Ok(self.search(&name)))?;
        let search = self.times(runs, || Ok(self.search(&all)))?;
        let build_words = self.times(builds, || Ok(self.lockstep(REBUILD_WORDS)))?;
        let peak_words = self.peak(REBUILD_WORDS)?;
        let build_all = self.times(builds.div_ceil(2), || Ok(self.lockstep(REBUILD)))?;
        let peak_all = self.peak(REBUILD)?;
        // Racy times are not trusted; the first scan after a pause trusts them.
        sleep(Duration::from_millis(60));
        let no_change = self.times(runs, || Ok(self.lockstep(UPDATE)))?;
        let mut turn = 0;
        let one_file = self.times(runs, || {
            turn += 1;
            self.edit(&format!("\nNOTE_{turn} = {turn}\n"))?;
            sleep(Duration::from_millis(60));
            Ok(self.lockstep(UPDATE))
        })?;
        self.rename()?;
        sleep(Duration::from_millis(60));
        let question = ["impact", "--format", "json", self.forest.file.as_str()];
        let asked = self.times(runs, || Ok(self.lockstep(&question)))?;
        let first = self.times(runs, || {
            turn += 1;
            self.edit(&format!("\n# note {turn}\n"))?;
            sleep(Duration::from_millis(60));
            Ok(self.lockstep(&question))
        })?;
        let (parts, dependents) = self.answer(&question)?;
        Ok(RepositoryResult {
            files: self.forest.files,
            title: format!("{} files", self.forest.files),
            bytes: self.forest.bytes,
            pass,
            search,
            build_words,
            build_all,
            no_change,
            one_file,
            question: asked,
            first_question: first,
            peak_words,
            peak_all,
            peak_question: self.peak(&question)?,
            index_bytes: ["words", "facts", "files"].map(|part| self.size_of(part)),
            parts,
            dependents,
        })
    }

    /// Makes two warm-up runs, then the measured ones.
    pub(super) fn times(
        &self,
        runs: u32,
        mut prepared: impl FnMut() -> XtaskResult<Command>,
    ) -> XtaskResult<Times> {
        let mut times = Vec::new();
        for turn in 0..runs + 2 {
            let mut command = prepared()?;
            let start = Instant::now();
            let status = command.status()?;
            let took = start.elapsed();
            if !status.success() {
                return Err(format!("{command:?}: {status}").into());
            }
            if turn >= 2 {
                times.push(took);
            }
        }
        Ok(Times::new(times))
    }

    fn peak(&self, arguments: &[&str]) -> XtaskResult<u64> {
        let mut command = self.command(&self.programs.peak_rss, &[]);
        command.arg(&self.programs.lockstep).args(arguments).stdout(Stdio::piped());
        Ok(String::from_utf8(command.output()?.stdout)?.trim().parse()?)
    }

    pub(super) fn edit(&self, addition: &str) -> XtaskResult<String> {
        use std::io::Write as _;
        let path = self.root.join(&self.forest.file);
        File::options().append(true).open(path)?.write_all(addition.as_bytes())?;
        Ok(self.forest.file.clone())
    }

    /// Writes a file that was not there.
    pub(super) fn create(&self, path: &str, text: &str) -> XtaskResult {
        let path = self.root.join(path);
        fs::create_dir_all(path.parent().ok_or("a file has a folder")?)?;
        Ok(fs::write(path, text)?)
    }

    /// Returns the size of a file in bytes.
    pub(super) fn size(&self, path: &str) -> u64 {
        fs::metadata(self.root.join(path)).map_or(0, |meta| meta.len())
    }

    fn rename(&self) -> XtaskResult {
        self.git(&["checkout", "--quiet", "--", "."])?;
        let path = self.root.join(&self.forest.file);
        let text = fs::read_to_string(&path)?;
        let name = &self.forest.function;
        Ok(fs::write(&path, text.replace(name, &format!("{name}_renamed")))?)
    }

    fn answer(&self, question: &[&str]) -> XtaskResult<(String, usize)> {
        let output = self.lockstep(question).stdout(Stdio::piped()).output()?;
        let answer: serde_json::Value = serde_json::from_slice(&output.stdout)?;
        let dependents = answer["impact_candidates"].as_u64().ok_or("the answer has no candidates")?;
        if dependents == 0 {
            return Err("the query found no dependent, so its time means nothing".into());
        }
        Ok((answer["timings_ms"].to_string(), usize::try_from(dependents)?))
    }

    fn size_of(&self, part: &str) -> u64 {
        let entries = fs::read_dir(self.root.join(".lockstep/index")).into_iter().flatten().flatten();
        let of_part =
            entries.filter(|entry| entry.path().extension().is_some_and(|extension| extension == part));
        of_part.filter_map(|entry| Some(entry.metadata().ok()?.len())).sum()
    }
}
