//! The GitHub action: its script runs in a scratch clone with a simulated event, against an API on loopback.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};

use insta::assert_snapshot;
use lockstep_testkit::TestEnv;
use serde_json::{Value, json};

use crate::inactive;

/// The state of the simulated API.
#[derive(Debug, Default)]
struct Api {
    comments: Vec<Value>,
    checks: Vec<Value>,
    /// Method and path of every request.
    requests: Vec<String>,
    /// The status of every answer, if it is not a success.
    refusal: Option<u16>,
}

impl Api {
    fn answer(&mut self, method: &str, path: &str, body: &[u8]) -> (u16, Value) {
        self.requests.push(format!("{method} {path}"));
        if let Some(status) = self.refusal {
            return (status, json!({"message": "Resource not accessible by integration"}));
        }
        let sent: Value = serde_json::from_slice(body).unwrap_or_default();
        match (method, path.split('?').next().unwrap_or_default()) {
            ("GET", "/repos/o/r/issues/7/comments") => (200, json!(self.comments)),
            ("POST", "/repos/o/r/issues/7/comments") => {
                let id = 100 + self.comments.len();
                self.comments.push(json!({"id": id, "body": sent["body"]}));
                (201, json!({"id": id}))
            }
            ("POST", "/repos/o/r/check-runs") => {
                self.checks.push(sent);
                (201, json!({}))
            }
            ("PATCH", path) => {
                let id: u64 = path.rsplit('/').next().unwrap().parse().unwrap();
                let comment = self.comments.iter_mut().find(|comment| comment["id"] == id).unwrap();
                comment["body"] = sent["body"].clone();
                (200, json!({}))
            }
            _ => (404, json!({})),
        }
    }
}

/// Serves the API until the test process ends. Returns its address.
fn serve(api: &Arc<Mutex<Api>>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let api = Arc::clone(api);
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            serve_request(&mut stream.unwrap(), &api);
        }
    });
    address
}

fn serve_request(stream: &mut TcpStream, api: &Mutex<Api>) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut line = String::new();
    reader.read_line(&mut line).unwrap();
    let first = line.clone();
    let mut length = 0;
    while line.trim_end() != "" {
        line.clear();
        reader.read_line(&mut line).unwrap();
        let lower = line.to_ascii_lowercase();
        length = lower.strip_prefix("content-length:").map_or(length, |value| value.trim().parse().unwrap());
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    let mut words = first.split(' ');
    let (method, path) = (words.next().unwrap(), words.next().unwrap());
    let (status, answer) = api.lock().unwrap().answer(method, path, &body);
    let answer = answer.to_string();
    let head =
        format!("HTTP/1.1 {status} -\r\nConnection: close\r\nContent-Length: {}\r\n\r\n", answer.len());
    stream.write_all((head + &answer).as_bytes()).unwrap();
}

/// A repository with a pull request, and a clone of it as `actions/checkout` makes it.
struct PullRequest {
    env: TestEnv,
    clone: PathBuf,
    base: String,
}

impl PullRequest {
    /// `edit` makes the changes of the pull request, behind more commits of the base branch.
    fn new(edit: impl Fn(&TestEnv)) -> Self {
        let env = inactive();
        env.git(["init", "--quiet", "--initial-branch=main"]);
        env.git(["config", "uploadpack.allowAnySHA1InWant", "true"]);
        env.write("a.py", "def hello():\n    return 1\n");
        env.write("b.py", "from a import hello\n\nhello()\n");
        env.write("tests/test_a.py", "from a import hello\n\n\ndef test_hello():\n    assert hello()\n");
        commit(&env, "first");
        env.git(["switch", "--quiet", "--create", "feature"]);
        edit(&env);
        commit(&env, "change");
        env.git(["switch", "--quiet", "main"]);
        for n in 0..3 {
            env.write("other.txt", format!("{n}\n"));
            commit(&env, "more");
        }
        let base = revision(&env, "main");
        env.git(["switch", "--quiet", "--detach"]);
        env.git(["merge", "--quiet", "--no-ff", "-m", "merge", "feature"]);
        env.git(["update-ref", "refs/pull/7/merge", "HEAD"]);
        let clone = env.outside_dir().join("clone");
        let script = format!(
            "git init -q {0} && cd {0} && git remote add origin file://{1} && \
             git fetch -q --no-tags --depth=1 origin refs/pull/7/merge && git checkout -q FETCH_HEAD",
            clone.display(),
            env.project().display()
        );
        env.shell(&script);
        symlink(env!("CARGO_BIN_EXE_lockstep"), env.outside_dir().join("lockstep")).unwrap();
        Self { env, clone, base }
    }

    /// Runs the script of the action. Returns its exit code and its output.
    fn run(&self, api: &str, inputs: &[(&str, &str)]) -> (Option<i32>, String) {
        let event = self.env.outside_dir().join("event.json");
        let head = revision(&self.env, "feature");
        let payload = json!({"pull_request": {
            "number": 7,
            "base": {"sha": self.base, "ref": "main"},
            "head": {"sha": head, "ref": "feature"},
        }});
        fs::write(&event, payload.to_string()).unwrap();
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packaging/action/impact.sh");
        let mut command = Command::new("sh");
        command.arg(script).current_dir(&self.clone).env_clear().envs(inputs.iter().copied());
        for (name, value) in [
            ("PATH", format!("{}:/usr/bin:/bin", self.env.outside_dir().display())),
            ("HOME", self.env.home().display().to_string()),
            ("RUNNER_TEMP", self.env.tmp().display().to_string()),
            ("GITHUB_EVENT_PATH", event.display().to_string()),
            ("GITHUB_OUTPUT", self.env.tmp().join("output").display().to_string()),
            ("GITHUB_API_URL", api.to_owned()),
            ("GITHUB_REPOSITORY", "o/r".to_owned()),
            ("GITHUB_REF", "refs/pull/7/merge".to_owned()),
            ("GITHUB_TOKEN", "t".to_owned()),
        ] {
            command.env(name, value);
        }
        let output = command.output().unwrap();
        let text = [output.stdout, output.stderr].concat();
        (output.status.code(), String::from_utf8(text).unwrap())
    }

    fn output(&self, name: &str) -> String {
        let text = fs::read_to_string(self.env.tmp().join("output")).unwrap();
        let line = text.lines().rfind(|line| line.starts_with(&format!("{name}="))).unwrap();
        line.split_once('=').unwrap().1.to_owned()
    }
}

fn commit(env: &TestEnv, message: &str) {
    env.git(["add", "--all"]);
    env.git(["commit", "--quiet", "-m", message]);
}

fn revision(env: &TestEnv, name: &str) -> String {
    env.git_output(["rev-parse", name]).assert_success().trim().to_owned()
}

/// Returns true if the tools of the script are there, which every runner of GitHub has; otherwise prints one line.
fn has_tools() -> bool {
    let missing =
        ["curl", "jq"].into_iter().find(|tool| Command::new(tool).arg("--version").output().is_err());
    if let Some(tool) = missing {
        let _ = writeln!(std::io::stderr(), "SKIPPED action: {tool} is not on PATH");
    }
    missing.is_none()
}

fn rename(env: &TestEnv) {
    env.write("a.py", "def greet():\n    return 1\n");
}

#[test]
fn second_run_updates_the_comment_of_the_first() {
    if !has_tools() {
        return;
    }
    let pull_request = PullRequest::new(rename);
    let api = Arc::new(Mutex::new(Api::default()));
    let address = serve(&api);
    api.lock().unwrap().comments.push(json!({"id": 1, "body": "A comment of a person."}));
    let (code, text) = pull_request.run(&address, &[("INPUT_CHECK", "true")]);
    assert_eq!(code, Some(1), "{text}");
    assert_eq!(pull_request.output("breaks"), "true");
    let sarif: Value =
        serde_json::from_str(&fs::read_to_string(pull_request.output("sarif")).unwrap()).unwrap();
    assert!(!sarif["runs"][0]["results"].as_array().unwrap().is_empty(), "{sarif:#}");
    let first = api.lock().unwrap().comments[1]["body"].as_str().unwrap().to_owned();
    // The range names commits, which differ with the paths of the test.
    assert_snapshot!(first.replace(&pull_request.base, "BASE"));
    assert_eq!(api.lock().unwrap().checks[0]["conclusion"], "failure");

    pull_request.env.git(["switch", "--quiet", "feature"]);
    pull_request.env.write("b.py", "from a import greet\n\ngreet()\n");
    pull_request
        .env
        .write("tests/test_a.py", "from a import greet\n\n\ndef test_hello():\n    assert greet()\n");
    commit(&pull_request.env, "follow");
    pull_request.env.git(["switch", "--quiet", "--detach", "main"]);
    pull_request.env.git(["merge", "--quiet", "--no-ff", "-m", "merge", "feature"]);
    pull_request.env.git(["update-ref", "refs/pull/7/merge", "HEAD"]);
    let clone = pull_request.clone.to_str().unwrap();
    pull_request.env.git(["-C", clone, "fetch", "--quiet", "--depth=1", "origin", "refs/pull/7/merge"]);
    pull_request.env.git(["-C", clone, "checkout", "--quiet", "FETCH_HEAD"]);
    let (code, text) = pull_request.run(&address, &[]);
    assert_eq!(code, Some(0), "{text}");
    let api = api.lock().unwrap();
    assert_eq!(api.comments.len(), 2, "{:?}", api.requests);
    assert!(api.requests.contains(&"PATCH /repos/o/r/issues/comments/101".to_owned()), "{:?}", api.requests);
    let second = api.comments[1]["body"].as_str().unwrap();
    assert!(second.contains("### Lockstep: nothing breaks"), "{second}");
    assert_eq!(api.comments[0]["body"], "A comment of a person.");
}

#[test]
fn report_only_reports_and_a_token_without_rights_is_a_warning() {
    if !has_tools() {
        return;
    }
    let pull_request = PullRequest::new(rename);
    let api = Arc::new(Mutex::new(Api { refusal: Some(403), ..Api::default() }));
    let (code, text) = pull_request.run(&serve(&api), &[("INPUT_FAIL_ON", "never")]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("::warning::") && text.contains("403"), "{text}");
    assert!(text.contains("b.py:3: hello is now greet"), "{text}");
    assert!(fs::read_to_string(pull_request.output("report")).unwrap().contains("test_a.py"));
}

#[test]
fn source_text_cannot_end_the_code_block_of_the_comment() {
    if !has_tools() {
        return;
    }
    let pull_request = PullRequest::new(|env| {
        rename(env);
        env.write("b.py", "from a import hello  # ```` <b>not a report</b>\n");
    });
    let api = Arc::new(Mutex::new(Api::default()));
    let (code, output) = pull_request.run(&serve(&api), &[]);
    assert_eq!(code, Some(1), "{output}");
    let api = api.lock().unwrap();
    let body = api.comments[0]["body"].as_str().unwrap();
    assert_eq!(body.matches("`````").count(), 2, "{body}");
    let (_, block) = body.split_once("`````text\n").unwrap();
    assert!(block.split_once("\n`````\n").unwrap().0.contains("not a report"), "{body}");
}

#[test]
fn missing_ancestor_is_named_as_a_limit() {
    if !has_tools() {
        return;
    }
    let pull_request = PullRequest::new(rename);
    // The remote disappears after its base commit was fetched: nothing older can be had.
    let clone = pull_request.clone.to_str().unwrap();
    pull_request.env.git(["-C", clone, "fetch", "--quiet", "--depth=1", "origin", &pull_request.base]);
    pull_request.env.git(["-C", clone, "remote", "set-url", "origin", "file:///missing"]);
    let api = Arc::new(Mutex::new(Api::default()));
    let (code, output) = pull_request.run(&serve(&api), &[]);
    assert_eq!(code, Some(1), "{output}");
    let api = api.lock().unwrap();
    let body = api.comments[0]["body"].as_str().unwrap();
    assert!(body.contains("**Limits of this answer**") && body.contains("common ancestor"), "{body}");
}

#[test]
fn action_passes_every_input_to_its_script() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let text = fs::read_to_string(root.join("action.yml")).unwrap();
    let action: Value = serde_saphyr::from_str(&text).unwrap();
    let script = fs::read_to_string(root.join("packaging/action/impact.sh")).unwrap();
    assert_eq!(action["runs"]["using"], "composite");
    for name in action["inputs"].as_object().unwrap().keys() {
        assert!(text.contains(&format!("inputs.{name}")), "{name} is not used");
        let variable = format!("INPUT_{}", name.to_uppercase().replace('-', "_"));
        let is_variable = action["runs"]["steps"][1]["env"][&variable].is_string();
        assert_eq!(is_variable, script.contains(&variable), "{variable}");
    }
    for step in action["runs"]["steps"].as_array().unwrap() {
        for path in step["run"]
            .as_str()
            .unwrap()
            .split_whitespace()
            .filter_map(|word| word.split("ACTION_PATH/").nth(1))
        {
            assert!(root.join(path.trim_matches('"')).is_file(), "{path}");
        }
    }
}
