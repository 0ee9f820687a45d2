//! `lockstep refs`.

use std::fmt::Write as _;

use anstyle::Style;
use lockstep_index::index::Unwatched;
use lockstep_refs::reference::Certainty;
use serde::Serialize;

use super::{Answer, Context};
use crate::error::{CommandError, Kind};
use crate::impact::references::{Found, Sought};
use crate::impact::tree::Tree;

/// Show who references a file, a symbol or a name
///
/// Every place that imports it, uses it, leads to it by a path, or names it. With --out: what a file references. With
/// --dangling: references to what no longer exists.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  lockstep refs src/parser.rs            who uses this file
  lockstep refs parse_line               who uses the symbol, wherever it is defined
  lockstep refs Parser.parse             a method of a type
  lockstep refs execution-code           who names this skill
  lockstep refs --out src/parser.rs      what this file uses
  lockstep refs --dangling               references to files and names that are gone; exit code 1 if any")]
pub(crate) struct RefsArgs {
    /// A path, a symbol, or the name of a skill or agent
    #[arg(value_name = "NAME", required_unless_present = "dangling", conflicts_with = "dangling")]
    name: Option<String>,
    /// What the file references, instead of who references it
    #[arg(long, conflicts_with = "dangling")]
    out: bool,
    /// References to what no longer exists
    #[arg(long)]
    dangling: bool,
}

pub(crate) fn run(args: &RefsArgs, context: &Context) -> Result<Answer, CommandError> {
    let tree = Tree::of_command(&context.directory)?;
    let mut index = tree.open_index(&Unwatched)?;
    let mut answer = match &args.name {
        None => References { sought: "what no longer exists".to_owned(), ..tree.dangling(&index)?.into() },
        Some(name) => {
            let sought = tree.seek(&index, &context.directory, name);
            if sought.is_nothing() {
                return Err(unknown(name));
            }
            let found =
                if args.out { sought.outgoing(&index, &tree.aliases()) } else { sought.referrers(&index) };
            References { sought: name.clone(), defined: defined(&sought), ..found.into() }
        }
    };
    // The facts parsed for this answer are there for the next; that they could not be kept harms nobody.
    let basis = crate::impact::index::basis(&index);
    let _ = index.keep_parsed();
    (answer.fresh, answer.revision, answer.unseen_files) = (basis.fresh, basis.revision, basis.unseen);
    show(args, context, &answer);
    Ok(if args.dangling && !answer.references.is_empty() { Answer::No } else { Answer::Yes })
}

fn unknown(name: &str) -> CommandError {
    CommandError::new(Kind::Usage, format!("nothing in this tree is called {name:?}"))
        .hint("give a path, a symbol that some file defines (`Type.method` for a member), or the name of a skill or agent")
}

fn defined(sought: &Sought) -> Vec<String> {
    sought.defined.iter().map(|(path, line)| format!("{path}:{line}")).collect()
}

#[derive(Serialize, Default)]
struct References {
    sought: String,
    /// Where a symbol is defined, or the file itself.
    defined: Vec<String>,
    references: Vec<Found>,
    unresolved: usize,
    fresh: bool,
    revision: String,
    unseen_files: usize,
}

impl From<(Vec<Found>, usize)> for References {
    fn from((references, unresolved): (Vec<Found>, usize)) -> Self {
        Self { references, unresolved, ..Self::default() }
    }
}

fn show(args: &RefsArgs, context: &Context, answer: &References) {
    let terminal = &context.terminal;
    if let Some(data) = context.format.render(answer) {
        return terminal.say(&data);
    }
    let (dim, bold) = (Style::new().dimmed(), Style::new().bold());
    let mut out = String::new();
    let mut group = None;
    for found in &answer.references {
        let key = (&found.file, found.kind);
        if group.is_some_and(|(file, _)| file != &found.file) {
            out.push('\n');
        }
        if group.replace(key) != Some(key) {
            let target = found.target.as_ref().map(|target| format!(" → {target}")).unwrap_or_default();
            let heading = format!("{} ({}{})", found.file, found.kind.word(), target);
            let _ = writeln!(out, "{}", terminal.styled(bold, &one_line(&heading)));
        }
        let doubt = if found.certainty == Certainty::Resolved { "" } else { "  (perhaps)" };
        let line = one_line(&format!("{}:{}:{}", found.file, found.line, found.text));
        let _ = writeln!(out, "{line}{}", terminal.styled(dim, doubt));
    }
    terminal.say(&out);
    terminal.note(&summary(args, answer));
}

fn summary(args: &RefsArgs, answer: &References) -> String {
    let files: std::collections::BTreeSet<_> = answer.references.iter().map(|found| &found.file).collect();
    let mut text = match (answer.references.len(), args.dangling) {
        (0, true) => "Nothing refers to what no longer exists.\n".to_owned(),
        (0, false) if args.out => format!("{} references nothing in this tree.\n", answer.sought),
        (0, false) => format!("Nothing references {}.\n", answer.sought),
        (n, _) => format!("{} in {}\n", count(n, "reference"), count(files.len(), "file")),
    };
    if !answer.defined.is_empty() {
        text.push_str(&format!("defined in {}\n", answer.defined.join(", ")));
    }
    if answer.unresolved > 0 {
        text.push_str(&format!("{} imports could not be resolved\n", answer.unresolved));
    }
    if answer.unseen_files > 0 {
        text.push_str(&format!("{} files could not be looked into\n", answer.unseen_files));
    }
    if !answer.fresh {
        text.push_str("the index is not up to date: files changed since are not reflected\n");
    }
    text
}

fn count(n: usize, one: &str) -> String {
    format!("{n} {one}{}", if n == 1 { "" } else { "s" })
}

fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() && c != '\t' { '\u{fffd}' } else { c }).collect()
}
