//! One run of the client against the scripted model, in a project directory.
//!
//! [`Rehearsal`] is the request, [`RunningRehearsal`] has the processes, [`RehearsalResult`] is the result. The client gets a
//! cleared environment, a private home, a time limit and the most isolated [`NetworkAccess`] that the machine
//! offers.

use std::collections::BTreeMap;
use std::env;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::client::ClientBinary;
use crate::network_sandbox::{NetworkAccess, NetworkSandbox};
pub use crate::process_group::ExitReason;
use crate::process_group::ProcessGroup;
use crate::scenario::{Scenario, ScenarioError};
use crate::scripted_model::ScriptedModel;
use crate::transcript::{RequestAgent, Transcript};

/// A run takes a few seconds; on a machine under load, it has taken two minutes.
const DEFAULT_LIMIT: Duration = Duration::from_secs(420);
/// The number of bytes that are kept of each output.
const MAX_OUTPUT: u64 = 16 * 1024 * 1024;
/// A port that only root can open and that is unused.
const CLOSED_PROXY: &str = "http://127.0.0.1:1";

/// The scenario, the client and the directory of a run.
#[derive(Debug, Clone)]
pub struct Rehearsal {
    client: ClientBinary,
    scenario: Scenario,
    project: PathBuf,
    home: Option<PathBuf>,
    limit: Duration,
    args: Vec<OsString>,
    env: BTreeMap<OsString, OsString>,
    path_prefix: Vec<PathBuf>,
    on_host_network: bool,
}

/// A client at work. Dropping it kills the client and everything it started.
#[derive(Debug)]
pub struct RunningRehearsal {
    // In this order: the client ends before its model and its home are dropped.
    group: ProcessGroup,
    model: ScriptedModel,
    private: TempDir,
    network: NetworkAccess,
    limit: Duration,
    start: Instant,
}

#[derive(Debug)]
#[must_use = "a run proves nothing until its outcome is looked at"]
pub struct RehearsalResult {
    pub ended: ExitReason,
    /// In print mode, the Lead's last text.
    pub stdout: String,
    pub stderr: String,
    /// The requests to the model.
    pub transcript: Transcript,
    /// Scripted turns that were never requested, by agent: a sign that the run took another course.
    pub unplayed: BTreeMap<RequestAgent, usize>,
    /// The network that the client could reach.
    pub network: NetworkAccess,
    pub took: Duration,
}

/// The reason why a run did not take place.
#[derive(Debug, thiserror::Error)]
pub enum RehearsalError {
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    /// Something of the system was missing.
    #[error("cannot {what}")]
    System {
        /// The attempted action.
        what: &'static str,
        source: io::Error,
    },
}

impl Rehearsal {
    /// A run in `project`, which must exist.
    pub fn new(client: ClientBinary, scenario: Scenario, project: impl Into<PathBuf>) -> Self {
        Self {
            client,
            scenario,
            project: project.into(),
            home: None,
            limit: DEFAULT_LIMIT,
            args: Vec::new(),
            env: BTreeMap::new(),
            path_prefix: Vec::new(),
            on_host_network: false,
        }
    }

    /// Sets the time after which the client is killed.
    #[must_use]
    pub fn limit(mut self, limit: Duration) -> Self {
        self.limit = limit;
        self
    }

    /// One more argument for the client, after the usual ones.
    #[must_use]
    pub fn arg(mut self, arg: impl Into<OsString>) -> Self {
        self.args.push(arg.into());
        self
    }

    /// One more variable for the client; it wins over the usual ones.
    #[must_use]
    pub fn env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.env.insert(name.into(), value.into());
        self
    }

    /// A folder to search before the rest of PATH.
    #[must_use]
    pub fn path_prefix(mut self, folder: impl Into<PathBuf>) -> Self {
        self.path_prefix.push(folder.into());
        self
    }

    /// Sets a home that outlives the run, for example to resume its session. The default is a private one.
    #[must_use]
    pub fn home(mut self, home: impl Into<PathBuf>) -> Self {
        self.home = Some(home.into());
        self
    }

    /// Offers the client's task list to the model. The newest version withholds it from newer models unless a
    /// variable requests it.
    #[must_use]
    pub fn with_task_list(self) -> Self {
        self.env("CLAUDE_CODE_ENABLE_TODO_TOOLS", "1")
    }

    /// Uses no network namespace even where one is to be had: for hooks that talk to a server on this machine.
    #[must_use]
    pub fn on_host_network(mut self) -> Self {
        self.on_host_network = true;
        self
    }

    /// Plays the scenario to its end.
    pub fn run(self) -> Result<RehearsalResult, RehearsalError> {
        self.start()?.wait()
    }

    /// Lays out the files and starts model and client.
    pub fn start(mut self) -> Result<RunningRehearsal, RehearsalError> {
        self.scenario.check()?;
        // The client sees the real path, so `{project}` must be that one.
        self.project = self.project.canonicalize().map_err(system("find the project"))?;
        self.scenario = self.scenario.with_project_path(&self.project);
        self.scenario.create_files(&self.project)?;
        let private = tempfile::tempdir().map_err(system("make a private folder"))?;
        let place = if self.on_host_network {
            NetworkSandbox::host("it was asked for")
        } else {
            NetworkSandbox::most_isolated()
        };
        let network = place.network();
        let scenario = self.scenario.clone();
        let start = Instant::now();
        let started = place.run_inside(|| {
            let model = ScriptedModel::serve(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?, scenario)?;
            let group = ProcessGroup::spawn(self.command(&model, &network, private.path())?)?;
            Ok((model, group))
        });
        let (model, group) = started.map_err(system("start the model and the client"))?;
        Ok(RunningRehearsal { group, model, private, network, limit: self.limit, start })
    }

    fn command(&self, model: &ScriptedModel, network: &NetworkAccess, private: &Path) -> io::Result<Command> {
        let home = self.home.clone().unwrap_or_else(|| private.join("home"));
        let scratch = private.join("tmp");
        fs::create_dir_all(&home)?;
        fs::create_dir_all(&scratch)?;
        let mut command = Command::new(self.client.program());
        command.arg("-p").arg(&self.scenario.prompt).args(["--permission-mode", "bypassPermissions"]);
        command.args(&self.args).current_dir(&self.project).env_clear();
        command.env("PATH", self.path()?).env("HOME", home).env("CLAUDE_CODE_TMPDIR", scratch);
        command.env("ANTHROPIC_BASE_URL", model.base_url()).env("ANTHROPIC_API_KEY", "not-a-key");
        command.envs(CLIENT_ENV);
        if let NetworkAccess::Host { .. } = network {
            command.envs(
                ["HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"].map(|name| (name, CLOSED_PROXY)),
            );
            command.envs(["NO_PROXY", "no_proxy"].map(|name| (name, "127.0.0.1")));
        }
        command.envs(&self.env).stdin(Stdio::null());
        command.stdout(File::create(private.join("stdout"))?).stderr(File::create(private.join("stderr"))?);
        Ok(command)
    }

    fn path(&self) -> io::Result<OsString> {
        let inherited = env::var_os("PATH").unwrap_or_default();
        let folders = self.path_prefix.iter().cloned().chain(env::split_paths(&inherited));
        env::join_paths(folders).map_err(io::Error::other)
    }
}

/// A terminal without capabilities, and a client that connects only to the model.
const CLIENT_ENV: [(&str, &str); 8] = [
    ("TERM", "dumb"),
    ("LANG", "C.UTF-8"),
    // Without it the client refuses to skip permissions as root.
    ("IS_SANDBOX", "1"),
    ("DISABLE_TELEMETRY", "1"),
    ("DISABLE_ERROR_REPORTING", "1"),
    ("DISABLE_AUTOUPDATER", "1"),
    ("DISABLE_INSTALLATION_CHECKS", "1"),
    ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
];

impl RunningRehearsal {
    /// Returns the requests to the model so far.
    pub fn transcript(&self) -> Transcript {
        self.model.transcript()
    }

    /// Waits for the client's end, or kills it at the limit.
    pub fn wait(self) -> Result<RehearsalResult, RehearsalError> {
        let Self { group, model, private, network, limit, start } = self;
        let ended =
            group.wait(limit.saturating_sub(start.elapsed())).map_err(system("wait for the client"))?;
        let read = |name| read_output(&private.path().join(name)).map_err(system("read the client's output"));
        Ok(RehearsalResult {
            ended,
            stdout: read("stdout")?,
            stderr: read("stderr")?,
            transcript: model.transcript(),
            unplayed: model.unused_turns(),
            network,
            took: start.elapsed(),
        })
    }
}

impl RehearsalResult {
    /// Returns true if the client exited successfully.
    pub fn success(&self) -> bool {
        matches!(self.ended, ExitReason::Exited(status) if status.success())
    }
}

fn read_output(path: &Path) -> io::Result<String> {
    let mut bytes = Vec::new();
    File::open(path)?.take(MAX_OUTPUT).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn system(what: &'static str) -> impl FnOnce(io::Error) -> RehearsalError {
    move |source| RehearsalError::System { what, source }
}
