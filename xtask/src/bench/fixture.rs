//! The environment of the measured processes: temporary projects with their own journals, and the events.

use std::cell::RefCell;
use std::fs::{self, File, FileTimes};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, SystemTime};

use lockstep_cache::fixture::{self, FixtureSize};
use lockstep_wire::claude::samples;

use super::programs::Programs;
use crate::XtaskResult;

/// Files of the small projects.
pub(super) const SMALL: usize = 30;

/// A temporary directory with projects in it.
pub(super) struct BenchFixture {
    dir: PathBuf,
    lockstep: PathBuf,
    roots: RefCell<Vec<PathBuf>>,
}

/// One project. Each contestant has its own, so that none sweeps, reads or reports what another did.
#[derive(Debug, Clone)]
pub(super) struct FixtureProject {
    pub(super) root: PathBuf,
    pub(super) journals: PathBuf,
    home: PathBuf,
}

/// A project with a step whose agent has been started.
pub(super) struct StepProject {
    pub(super) project: FixtureProject,
    pub(super) prompt: String,
    /// The stop event of its agent.
    pub(super) stop: String,
}

impl StepProject {
    /// Returns the event of an agent's start with a prompt.
    pub(super) fn invocation(&self, prompt: &str) -> String {
        invocation(prompt)
    }

    /// The prompt with so much to read that it has 200 KB.
    pub(super) fn long_prompt(&self) -> String {
        let line = "Background that somebody has pasted: src/module.rs calls `hello`, REVIEW it, see G1 and the notes.\n";
        let missing = (200 * 1024_usize).saturating_sub(self.prompt.len());
        let background = line.repeat(missing / line.len() + 1);
        self.prompt.replace("## TASK_CONTEXT\n", &format!("## TASK_CONTEXT\n{background}"))
    }
}

fn invocation(prompt: &str) -> String {
    let mut event: serde_json::Value =
        serde_json::from_str(samples::PRE_TOOL_USE_AGENT).expect("a recorded event is JSON");
    event["tool_input"]["prompt"] = prompt.into();
    event.to_string()
}

impl BenchFixture {
    pub(super) fn new(dir: &Path, programs: &Programs) -> XtaskResult<Self> {
        // By its real name: a client too names a project by what the system calls its working directory.
        let dir = dir.canonicalize()?;
        fs::create_dir(dir.join("home"))?;
        Ok(Self { dir, lockstep: programs.lockstep.clone(), roots: RefCell::default() })
    }

    /// A directory with `files` files and no `lockstep.toml`.
    pub(super) fn inactive(&self, files: usize) -> XtaskResult<FixtureProject> {
        let name = format!("project-{}", self.roots.borrow().len());
        let root = self.dir.join(&name);
        let journals = self.dir.join(format!("{name}-journals"));
        fs::create_dir(&journals)?;
        plant(&root, files)?;
        self.roots.borrow_mut().push(root.clone());
        Ok(FixtureProject { root, journals, home: self.dir.join("home") })
    }

    /// Returns a project with a session that began some time ago and known files.
    pub(super) fn active(&self, files: usize) -> XtaskResult<FixtureProject> {
        let project = self.inactive(files)?;
        fs::write(project.root.join("lockstep.toml"), "")?;
        age(&project.root)?;
        self.send(&project, samples::SESSION_START)?;
        // Times this fresh are not trusted; the first sweep after a pause settles them, as it would in any session.
        sleep(Duration::from_millis(60));
        self.send(&project, samples::POST_TOOL_USE_BASH)?;
        Ok(project)
    }

    /// An active project with a framework of the usual size, and its session cache.
    pub(super) fn cached(&self) -> XtaskResult<FixtureProject> {
        let project = self.active(SMALL)?;
        fixture::write(&project.root, FixtureSize::USUAL)?;
        let config = project.root.join("lockstep.toml");
        let text = fs::read_to_string(&config)? + "[cache]\nbudget_chars = 200000\ndeliver = \"full\"\n";
        fs::write(&config, text)?;
        age(&project.root)?;
        // Times this fresh are not trusted, and every file would be read again.
        sleep(Duration::from_millis(60));
        let mut build = Command::new(&self.lockstep);
        build.args(["cache", "build", "--quiet"]).stdout(Stdio::null());
        project.set_environment(&mut build);
        let status = build.status()?;
        if status.success() { Ok(project) } else { Err(format!("the cache was not built: {status}").into()) }
    }

    /// Returns an active project with a step that has a boundary, and its running agent.
    pub(super) fn stepped(&self) -> XtaskResult<StepProject> {
        let project = self.active(SMALL)?;
        let run_output = |arguments: &[&str]| -> XtaskResult<String> {
            let mut command = Command::new(&self.lockstep);
            command.args(arguments);
            project.set_environment(&mut command);
            let output = command.output()?;
            let text = String::from_utf8(output.stdout)?;
            if output.status.success() { Ok(text) } else { Err(format!("{arguments:?}: {text}").into()) }
        };
        run_output(&[
            "step",
            "new",
            "01-01",
            "--project",
            "bench",
            "--description",
            "Work",
            "--allow",
            "**/*.py",
        ])?;
        let prompt = run_output(&[
            "prompt",
            "render",
            "execute_step",
            "--step",
            "01-01",
            "--set",
            "agent_name=crafter",
        ])?;
        run_output(&["step", "phase", "start", "01-01", "PREPARE"])?;
        run_output(&["step", "phase", "done", "01-01", "PREPARE", "--outcome", "PASS"])?;
        self.send(&project, &invocation(&prompt))?;
        let transcript = project.root.with_extension("jsonl");
        let line = |role: &str, content: &str| {
            serde_json::json!({"message": {"role": role, "id": content, "content": content}}).to_string()
                + "\n"
        };
        let turns: String = (0..20).map(|turn| line("assistant", &format!("turn {turn}"))).collect();
        fs::write(&transcript, line("user", &prompt) + &turns)?;
        let mut stop: serde_json::Value = serde_json::from_str(samples::SUBAGENT_STOP)?;
        stop["agent_transcript_path"] =
            transcript.to_str().ok_or("the temporary directory has no readable name")?.into();
        Ok(StepProject { project, prompt, stop: stop.to_string() })
    }

    /// Sends a recorded event to the hook, unmeasured.
    pub(super) fn send(&self, project: &FixtureProject, sample: &str) -> XtaskResult {
        let payload = self.dir.join("unmeasured.json");
        fs::write(&payload, project.event(sample))?;
        let mut hook = Command::new(&self.lockstep);
        hook.args(["hook", "claude"]).stdin(File::open(payload)?).stdout(Stdio::null());
        project.set_environment(&mut hook);
        let status = hook.status()?;
        if status.success() { Ok(()) } else { Err(format!("the hook failed: {status}").into()) }
    }

    /// Checks that no hook failed: observing hooks fail silently.
    pub(super) fn prove_nothing_failed(&self) -> XtaskResult {
        for root in self.roots.borrow().iter() {
            let log = root.join(".lockstep/log/hooks.log");
            if let Ok(text) = fs::read_to_string(&log) {
                return Err(
                    format!("a measured hook has failed, so the numbers mean nothing:\n{text}").into()
                );
            }
        }
        Ok(())
    }
}

impl FixtureProject {
    /// A recorded event as this project's client would have sent it.
    pub(super) fn event(&self, sample: &str) -> String {
        let root = self.root.to_str().expect("checked when the project was made");
        sample.replace("\"/repo", &format!("\"{}", root.replace('\\', "\\\\").replace('"', "\\\"")))
    }

    /// The surroundings a client gives a hook, and nothing of ours.
    pub(super) fn set_environment(&self, command: &mut Command) {
        command.env_clear().current_dir(&self.root);
        command.envs(std::env::var_os("PATH").map(|path| ("PATH", path)));
        command.env("HOME", &self.home).env("CLAUDE_PROJECT_DIR", &self.root);
        // Journals are in the temporary directory by default; another place outside the project would need approval.
        command.env("CHANGES_DIR", &self.journals).env("TMPDIR", &self.journals);
    }

    /// Removes the session cache and all that is remembered of it.
    pub(super) fn forget_cache(&self) -> XtaskResult {
        for path in [
            fs::remove_dir_all(self.root.join(".lockstep/cache")),
            fs::remove_file(self.root.join(".isdlc/session-cache.md")),
        ] {
            match path {
                Err(error) if error.kind() != ErrorKind::NotFound => return Err(error.into()),
                _ => {}
            }
        }
        Ok(())
    }

    /// Lines in the journal of the recorded session.
    pub(super) fn journaled(&self) -> usize {
        let entries = fs::read_dir(&self.journals).into_iter().flatten().flatten();
        entries.map(|entry| fs::read_to_string(entry.path()).map_or(0, |text| text.lines().count())).sum()
    }
}

/// A tree like a repository's: some files at the top, the rest a hundred to a folder, two levels deep.
fn plant(root: &Path, files: usize) -> XtaskResult {
    fs::create_dir_all(root)?;
    fs::create_dir(root.join(".git"))?;
    fs::write(root.join(".gitignore"), "/target\n*.tmp\n")?;
    // The files that the recorded events are about.
    fs::write(root.join("a.py"), "def greet(): pass\n")?;
    fs::write(root.join("b.py"), "import a\n")?;
    for number in 3..files {
        let folder = root.join(format!("part{:02}/module{:03}", number / 1_000, number / 100));
        fs::create_dir_all(&folder)?;
        fs::write(folder.join(format!("file{number:05}.py")), format!("import a\n\nN = {number}\n"))?;
    }
    Ok(())
}

/// Makes everything an hour old, as most of a repository is: files written within the last clock tick are
/// checked more closely.
fn age(directory: &Path) -> XtaskResult {
    let then = FileTimes::new().set_modified(SystemTime::now() - Duration::from_secs(3600));
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            age(&entry.path())?;
        } else {
            File::options().append(true).open(entry.path())?.set_times(then)?;
        }
    }
    Ok(File::open(directory)?.set_times(then)?)
}
