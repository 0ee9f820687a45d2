//! `cargo xtask bench renames`: real renames and deletions in a public repository, and the files that had to
//! follow.
//!
//! It needs a clone of that repository: nothing is fetched. Later commits show which files were missed. The
//! control is a commit that missed no file: all files that lost a name in it had to follow.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::programs::Programs;
use super::{environment, results_page};
use crate::{XtaskResult, workspace};

/// Replay the renames of a public repository, and count the reported files that had to follow
///
/// The repository is cloned into a temporary directory; it is not changed.
#[derive(Debug, clap::Args)]
pub(crate) struct RenamesArgs {
    /// A clone of github.com/park-kyungchan/palantir
    #[arg(long, value_name = "PATH")]
    repository: PathBuf,
    /// Run this program instead of building one
    #[arg(long, value_name = "PROGRAM")]
    program: Option<PathBuf>,
    /// Put the results into docs/benchmarks/renames.md
    #[arg(long)]
    write: bool,
}

/// A change, and who had to follow but did not at first.
struct RenameCase {
    commit: &'static str,
    /// The renamed or deleted file.
    path: &'static str,
    missed: ExpectedFiles,
}

enum ExpectedFiles {
    Files(&'static [&'static str]),
    /// The files that named it in the commit and no longer do in this later one.
    MendedIn(&'static str),
}

/// The files that are known to have been missed. A name without a slash is a skill's.
const ROWS: &[RenameCase] = &[
    RenameCase {
        commit: "ab407d7",
        path: ".claude/rules/conventions.md",
        missed: ExpectedFiles::MendedIn("b9725bd"),
    },
    RenameCase {
        commit: "f24b294",
        path: ".claude/skills/plan-strategy/SKILL.md",
        missed: ExpectedFiles::Files(&[
            "execution-code",
            "audit-impact",
            "design-risk",
            "research-codebase",
            "research-external",
            "research-coordinator",
            "verify-structural-content",
            ".claude/README.md",
        ]),
    },
    RenameCase {
        commit: "f24b294",
        path: ".claude/skills/plan-interface/SKILL.md",
        missed: ExpectedFiles::Files(&[
            "execution-code",
            "execution-infra",
            "orchestrate-relational",
            "research-coordinator",
            "design-interface",
            "verify-structural-content",
            ".claude/README.md",
        ]),
    },
    RenameCase {
        commit: "f24b294",
        path: ".claude/skills/plan-decomposition/SKILL.md",
        missed: ExpectedFiles::Files(&[
            "design-interface",
            "research-codebase",
            "verify-structural-content",
            "task-management",
            "research-coordinator",
            ".claude/README.md",
        ]),
    },
    RenameCase {
        commit: "f24b294",
        path: ".claude/skills/orchestration-verify/SKILL.md",
        missed: ExpectedFiles::Files(&[
            "execution-code",
            "execution-infra",
            "verify-quality",
            "verify-structural-content",
            ".claude/README.md",
        ]),
    },
    RenameCase {
        commit: "100be05",
        path: ".claude/skills/manage-skills/SKILL.md",
        missed: ExpectedFiles::Files(&[
            "manage-infra",
            "self-diagnose",
            "self-implement",
            "verify-consistency",
            ".claude/README.md",
        ]),
    },
    RenameCase {
        commit: "2b2c49a",
        path: ".claude/hooks/file-lock-release.sh",
        missed: ExpectedFiles::Files(&[".claude/hooks/on-task-completed.sh"]),
    },
    RenameCase {
        commit: "d7b0ed3",
        path: ".claude/skills/permanent-tasks/SKILL.md",
        missed: ExpectedFiles::Files(&[".claude/agents/delivery-agent.md", ".claude/rsil-review-output.md"]),
    },
];

/// A commit that removed ten skills and missed no file.
const CONTROL: &str = "b48355c";

/// The number of expected files that were reported, and of all reported files.
#[derive(Default, Clone, Copy)]
struct RenameScore {
    wanted: usize,
    found: usize,
    told: usize,
}

impl RenameScore {
    fn and(self, other: Self) -> Self {
        Self {
            wanted: self.wanted + other.wanted,
            found: self.found + other.found,
            told: self.told + other.told,
        }
    }
}

pub(crate) fn run(args: &RenamesArgs) -> XtaskResult {
    let from =
        args.repository.canonicalize().map_err(|error| format!("{}: {error}", args.repository.display()))?;
    let lockstep = match &args.program {
        Some(program) => program.canonicalize()?,
        None => Programs::build(false)?.lockstep,
    };
    let temp = tempfile::Builder::new().prefix("lockstep-renames-").tempdir()?;
    let replay = Replay { root: temp.path().join("clone"), lockstep };
    git(temp.path(), &["clone", "--quiet", "--no-checkout", &from.to_string_lossy(), "clone"])?;
    let mut out = String::from(
        "| commit | what went | had to follow | told | of so many told |\n|---|---|--:|--:|--:|\n",
    );
    let mut all = RenameScore::default();
    for row in ROWS {
        let score = replay.row(row)?;
        all = all.and(score);
        line(&mut out, row.commit, row.path, score);
    }
    line(&mut out, "", "together", all);
    line(&mut out, CONTROL, "the control: ten skills", replay.control()?);
    let _ = writeln!(
        out,
        "\nRecall of the missed: {:.3}. Of those told, {:.2} are among the missed; the others named it too, and were mended in the commit \
         itself, later, or never.",
        all.found as f64 / all.wanted as f64,
        all.found as f64 / all.told as f64,
    );
    let report = format!("{}\n{out}", environment::describe("cargo xtask bench renames --repository PATH"));
    println!("{report}");
    if args.write {
        results_page::write("renames", &report)?;
    }
    Ok(())
}

fn line(out: &mut String, commit: &str, what: &str, score: RenameScore) {
    let _ = writeln!(out, "| {commit} | {what} | {} | {} | {} |", score.wanted, score.found, score.told);
}

struct Replay {
    root: PathBuf,
    lockstep: PathBuf,
}

impl Replay {
    /// The commit is checked out, with those that were missed as they were.
    fn row(&self, row: &RenameCase) -> XtaskResult<RenameScore> {
        self.check_out(row.commit)?;
        let reported = self.impact(&["--rev", &format!("{0}^..{0}", row.commit)])?;
        let reported = reported.get(row.path).cloned().unwrap_or_default();
        let wanted = match row.missed {
            ExpectedFiles::Files(names) => names.iter().map(|name| path_of(name)).collect(),
            ExpectedFiles::MendedIn(later) => self.lost(row.path, row.commit, later)?,
        };
        Ok(score(&wanted, &reported))
    }

    /// Checks out the commit before and makes one deletion at a time, so that all files still have to follow,
    /// also those that went in the same commit.
    fn control(&self) -> XtaskResult<RenameScore> {
        let before = format!("{CONTROL}^");
        self.check_out(&before)?;
        let deleted =
            git(&self.root, &["diff", "--name-only", "--no-renames", "--diff-filter=D", &before, CONTROL])?;
        let mut all = RenameScore::default();
        for path in deleted.lines().filter(|path| path.ends_with("/SKILL.md")) {
            std::fs::remove_file(self.root.join(path))?;
            let reported = self.impact(&[])?;
            self.check_out(&before)?;
            let wanted = self.lost(path, &before, CONTROL)?;
            all = all.and(score(&wanted, &reported.get(path).cloned().unwrap_or_default()));
        }
        Ok(all)
    }

    /// The files that name what is at a path in one commit and no longer in another.
    fn lost(&self, path: &str, from: &str, to: &str) -> XtaskResult<BTreeSet<String>> {
        let mut before = self.naming(path, from)?;
        let after = self.naming(path, to)?;
        before.retain(|file| !after.contains(file) && file != path);
        Ok(before)
    }

    /// Returns the files of a commit that contain a name as a complete word: a skill's name, or the name of a
    /// file.
    fn naming(&self, path: &str, commit: &str) -> XtaskResult<BTreeSet<String>> {
        let mut parts = path.rsplit('/');
        let name = match (parts.next(), parts.next()) {
            (Some("SKILL.md"), Some(skill)) => skill,
            (Some(name), _) => name,
            (None, _) => path,
        };
        let pattern = format!(r"(?<![\w-]){}(?![\w-])", name.replace('.', r"\."));
        // No match is exit code 1, and an answer.
        let output = Command::new("git")
            .args(["grep", "--perl-regexp", "--files-with-matches", "-I", "-e", &pattern, commit])
            .current_dir(&self.root)
            .output()?;
        if output.status.code().is_none_or(|code| code > 1) {
            return Err(format!("git grep: {}", String::from_utf8_lossy(&output.stderr)).into());
        }
        let text = String::from_utf8_lossy(&output.stdout);
        Ok(text.lines().filter_map(|line| line.split_once(':')).map(|(_, file)| file.to_owned()).collect())
    }

    fn check_out(&self, commit: &str) -> XtaskResult {
        git(&self.root, &["checkout", "--quiet", "--force", "--detach", commit]).map(drop)
    }

    /// Returns the files that `lockstep impact` reports, for each changed file.
    fn impact(&self, arguments: &[&str]) -> XtaskResult<BTreeMap<String, BTreeSet<String>>> {
        let output = Command::new(&self.lockstep)
            .args(["impact", "--quiet", "--format", "json"])
            .args(arguments)
            .current_dir(&self.root)
            .output()?;
        if !output.status.success() {
            return Err(format!("lockstep impact: {}", String::from_utf8_lossy(&output.stderr)).into());
        }
        let report: serde_json::Value = serde_json::from_slice(&output.stdout)?;
        let relative = |path: &serde_json::Value| {
            let path = Path::new(path.as_str()?);
            Some(path.strip_prefix(self.root.canonicalize().ok()?).ok()?.to_str()?.to_owned())
        };
        let mut reported: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for impact in report["impacts"].as_array().into_iter().flatten() {
            let Some(changed) = relative(&impact["changed_file"]) else { continue };
            let direct = impact["dependents"].as_array().into_iter().flatten();
            let direct = direct.filter(|dependent| dependent["type"] == "DIRECT");
            reported
                .entry(changed)
                .or_default()
                .extend(direct.filter_map(|dependent| relative(&dependent["file"])));
        }
        Ok(reported)
    }
}

fn score(wanted: &BTreeSet<String>, reported: &BTreeSet<String>) -> RenameScore {
    RenameScore { wanted: wanted.len(), found: wanted.intersection(reported).count(), told: reported.len() }
}

fn path_of(name: &str) -> String {
    if name.contains('/') { name.to_owned() } else { format!(".claude/skills/{name}/SKILL.md") }
}

fn git(dir: &Path, arguments: &[&str]) -> XtaskResult<String> {
    let mut git = Command::new("git");
    git.args(arguments).current_dir(dir);
    Ok(String::from_utf8(workspace::output(git)?)?)
}
