//! The command line: a file per verb. A verb's arguments, help text and output are in its file; what it knows comes from the
//! other crates.

mod audit;
mod cache;
mod cascade;
mod changes;
mod completions;
mod config;
mod doctor;
mod gate;
mod handoff;
mod help;
mod hook;
mod impact;
mod index;
mod init;
mod map;
mod mcp;
mod own;
mod phase;
mod plan_output;
mod prompt;
mod refs;
mod schema;
mod scratch;
mod step;
mod task;
mod trust;
mod uninstall;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand, ValueEnum as _};
use lockstep_text::{is_unprintable, single_line};

use crate::command_output::CommandOutput;
use crate::env_vars::CLAUDECODE;
use crate::error::{CommandError, CommandResult};
use crate::exit_code;
use crate::output_format::OutputFormat;
use crate::terminal::{ColorChoice, Terminal, print_error};

/// The version, with the commit in a release.
pub(crate) const VERSION: &str = env!("LOCKSTEP_VERSION");

/// Show which files a change breaks, and tell your coding agent before it moves on
///
/// `impact` and `refs` answer in any git repository: they need no set-up and write nothing into it. `init` sets a project up: from then
/// on hooks record the files that an agent changes there and tell it which other files depend on them. In a project without
/// `lockstep.toml` the hooks do nothing.
#[derive(Debug, Parser)]
#[command(name = "lockstep", version = VERSION, propagate_version = true, arg_required_else_help = true)]
#[command(after_help = "Examples:
  lockstep impact          show which files the uncommitted changes, or else the last commit, affect
  lockstep refs NAME       find every reference to a file, a symbol or a name
  lockstep init            set up this project, then check it with `lockstep doctor`")]
struct Args {
    #[command(flatten)]
    global: GlobalArgs,
    #[command(subcommand)]
    verb: Verb,
}

/// The heading of the options that every command has, which separates them from the command's own.
const GLOBAL_OPTIONS: &str = "Global options";

/// Options of every command.
#[derive(Debug, clap::Args)]
pub(crate) struct GlobalArgs {
    /// Work as if started in DIR
    #[arg(short = 'C', value_name = "DIR", global = true, help_heading = GLOBAL_OPTIONS)]
    directory: Option<PathBuf>,
    /// Output format
    #[arg(long, value_enum, default_value_t, global = true, help_heading = GLOBAL_OPTIONS)]
    format: OutputFormat,
    /// Print the answer only
    #[arg(short, long, global = true, conflicts_with = "verbose", help_heading = GLOBAL_OPTIONS)]
    quiet: bool,
    /// Print more about what was done
    #[arg(short, long, global = true, help_heading = GLOBAL_OPTIONS)]
    verbose: bool,
    /// When to use colour
    #[arg(long, value_enum, default_value_t, value_name = "WHEN", global = true, help_heading = GLOBAL_OPTIONS)]
    color: ColorChoice,
}

#[derive(Debug, Subcommand)]
enum Verb {
    Init(init::InitArgs),
    Uninstall(uninstall::UninstallArgs),
    Doctor(doctor::DoctorArgs),
    Changes(changes::ChangesArgs),
    Cascade(cascade::CascadeArgs),
    Impact(impact::ImpactArgs),
    Refs(refs::RefsArgs),
    Index(index::IndexArgs),
    Map(map::MapArgs),
    Task(task::TaskArgs),
    Phase(phase::PhaseArgs),
    Handoff(handoff::HandoffArgs),
    Scratch(scratch::ScratchArgs),
    Step(step::StepArgs),
    Prompt(prompt::PromptArgs),
    Gate(gate::GateArgs),
    Audit(audit::AuditArgs),
    Schema(schema::SchemaArgs),
    Cache(cache::CacheArgs),
    Config(config::ConfigArgs),
    Trust(trust::TrustArgs),
    Hook(hook::HookArgs),
    Mcp(mcp::McpArgs),
    Completions(completions::CompletionsArgs),
    #[command(name = "self")]
    Own(own::SelfArgs),
}

/// The common inputs of all commands.
pub(crate) struct CommandContext {
    /// The absolute directory the command is about.
    pub(crate) directory: PathBuf,
    pub(crate) format: OutputFormat,
    pub(crate) terminal: Terminal,
}

impl CommandContext {
    /// Prints an answer, in the format that was asked for.
    fn print(&self, reply: &impl CommandOutput) {
        self.terminal.print(&self.format.render(reply).unwrap_or_else(|| reply.text()));
    }
}

/// The answer of a command that did what was asked.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum CommandStatus {
    Success,
    CheckFailed,
    /// The time limit was reached before the answer was complete.
    Partial,
}

/// Refuses an action in a client's session that is reserved for people.
pub(crate) fn refuse_in_session(what: &str) -> CommandResult<()> {
    match CLAUDECODE.get() {
        None => Ok(()),
        Some(_) => Err(CommandError::usage(format!("an agent's session does not {what}"))
            .hint("run the command in your own terminal")),
    }
}

/// The description of the command line, for completions and the reference.
pub fn command() -> clap::Command {
    help::with_grouped_commands(Args::command())
}

/// The commands in the groups in which `lockstep --help` lists them.
pub(crate) use help::grouped_commands;

/// Runs the command line of this process.
pub fn main() -> ExitCode {
    std::panic::set_hook(Box::new(|panic| {
        print_error(&format!(
            "error: a bug in lockstep {VERSION}: {panic}\nhint: please report it with the command and its output\n"
        ));
        std::process::exit(exit_code::BUG.into());
    }));
    let args = match parse(std::env::args_os()) {
        Ok(args) => args,
        Err(error) => return usage_error(error),
    };
    // A hook speaks to its client, by the client's rules.
    if let Verb::Hook(args) = &args.verb {
        return hook::run(args);
    }
    if let Verb::Cascade(args) = &args.verb
        && let Some(code) = cascade::run_supervisor(args)
    {
        return code;
    }
    let answered = run(args.verb, &args.global);
    ExitCode::from(match answered {
        Ok(CommandStatus::Success) => exit_code::DONE,
        Ok(CommandStatus::CheckFailed) => exit_code::NO,
        Ok(CommandStatus::Partial) => exit_code::PARTIAL,
        Err(error) => {
            print_error(&error.render());
            error.exit_code()
        }
    })
}

/// Parses the arguments of this process. A hook starts for every event, so it does not format the help of all commands.
fn parse(args: impl Iterator<Item = OsString>) -> Result<Args, clap::Error> {
    if is_hook() {
        return Args::try_parse_from(args);
    }
    Args::from_arg_matches(&command().try_get_matches_from(args)?)
}

/// Returns true if a client started this process for one of its events.
fn is_hook() -> bool {
    std::env::args_os().nth(1).is_some_and(|verb| verb == "hook")
}

/// Help and version are answers; the rest is wrong usage. A client would take the usual code for a hook's block, and settings
/// written by a newer Lockstep must not stop its work.
fn usage_error(error: clap::Error) -> ExitCode {
    // The message quotes arguments, which a shell may have made of file names.
    let args = || std::env::args_os().map(|arg| arg.to_string_lossy().into_owned());
    let error = match args().any(|arg| arg.contains(is_unprintable)) {
        true => parse(args().map(|arg| single_line(&arg).into())).err().unwrap_or(error),
        false => error,
    };
    // Standard error is closed: the message cannot be reported anywhere else.
    let _ = error.print();
    let by_client = is_hook();
    if error.use_stderr() && !by_client {
        let format = requested_format(args());
        let terminal = Terminal::new(ColorChoice::Never, false, false, format);
        terminal.print_error_data(&usage_data(&error.to_string()).data());
    }
    ExitCode::from(match (error.use_stderr(), by_client) {
        (false, _) => exit_code::DONE,
        (true, true) => exit_code::NO,
        (true, false) => exit_code::USAGE,
    })
}

/// Returns the format that arguments ask for, although they are not valid.
fn requested_format(args: impl Iterator<Item = String>) -> OutputFormat {
    let args: Vec<String> = args.take_while(|arg| arg != "--").collect();
    let after = args.windows(2).filter(|pair| pair[0] == "--format").map(|pair| &*pair[1]);
    let inside = args.iter().filter_map(|arg| arg.strip_prefix("--format="));
    let format = after.chain(inside).next().and_then(|name| OutputFormat::from_str(name, false).ok());
    format.unwrap_or_default()
}

/// Returns clap's message as an error: the first paragraph is the message, each further line a hint.
fn usage_data(message: &str) -> CommandError {
    let (first, rest) = message.split_once("\n\n").unwrap_or((message, ""));
    let first = first.strip_prefix("error: ").unwrap_or(first);
    let words: Vec<&str> = first.split_whitespace().collect();
    let lines = rest.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.fold(CommandError::usage(words.join(" ")), |error, line| error.hint(line))
}

fn run(verb: Verb, global: &GlobalArgs) -> CommandResult {
    let terminal = Terminal::new(global.color, global.quiet, global.verbose, global.format);
    let directory = directory(global).inspect_err(|error| terminal.print_error_data(&error.data()))?;
    let context = CommandContext { directory, format: global.format, terminal };
    let answer =
        answer(verb, &context).inspect_err(|error| context.terminal.print_error_data(&error.data()))?;
    let failed = |error| CommandError::store(format!("cannot write the answer: {error}"));
    context.terminal.finish().map_err(failed)?;
    Ok(answer)
}

fn answer(verb: Verb, context: &CommandContext) -> CommandResult {
    if context.format.is_for_findings() && !matches!(verb, Verb::Impact(_)) {
        return Err(CommandError::usage("only `impact` has the formats `gcc` and `sarif`")
            .hint("other commands have `--format json` for programs"));
    }
    match verb {
        Verb::Init(args) => init::run(&args, context),
        Verb::Uninstall(args) => uninstall::run(&args, context),
        Verb::Doctor(args) => doctor::run(&args, context),
        Verb::Changes(args) => changes::run(&args, context),
        Verb::Cascade(args) => cascade::run(&args, context),
        Verb::Impact(args) => impact::run(&args, context),
        Verb::Refs(args) => refs::run(&args, context),
        Verb::Index(args) => index::run(&args, context),
        Verb::Map(args) => map::run(&args, context),
        Verb::Task(args) => task::run(&args, context),
        Verb::Phase(args) => phase::run(&args, context),
        Verb::Handoff(args) => handoff::run(&args, context),
        Verb::Scratch(args) => scratch::run(&args, context),
        Verb::Step(args) => step::run(&args, context),
        Verb::Prompt(args) => prompt::run(&args, context),
        Verb::Gate(args) => gate::run(&args, context),
        Verb::Audit(args) => audit::run(&args, context),
        Verb::Schema(args) => schema::run(&args, context),
        Verb::Cache(args) => cache::run(&args, context),
        Verb::Config(args) => config::run(&args, context),
        Verb::Trust(args) => trust::run(&args, context),
        Verb::Mcp(args) => mcp::run(&args, context),
        Verb::Hook(_) => unreachable!("a hook is answered before"),
        Verb::Completions(args) => completions::run(&args, context),
        Verb::Own(args) => own::run(&args, context),
    }
}

/// Returns the absolute directory that the command is about.
fn directory(global: &GlobalArgs) -> CommandResult<PathBuf> {
    let given = global.directory.clone().unwrap_or_else(|| PathBuf::from("."));
    let directory = given
        .canonicalize()
        .map_err(|error| CommandError::usage(format!("cannot work in {}: {error}", given.display())))?;
    if !directory.is_dir() {
        return Err(CommandError::usage(format!("{} is not a directory", directory.display())));
    }
    Ok(directory)
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_command_line_is_well_described() {
        super::command().debug_assert();
    }
}
