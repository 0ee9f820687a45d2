//! `cargo xtask docs`: writes the reference pages and the plugin's hooks, which are made from the program, or checks that they are
//! what it would write.

use std::fs;

use lockstep_cli::plugin::hooks_json;
use lockstep_cli::reference_pages::{cli_page, configuration_page, mcp_page};

use crate::{XtaskResult, clients, workspace};

/// Write the reference pages that are made from the program itself
#[derive(Debug, clap::Args)]
pub(crate) struct DocsArgs {
    /// Write nothing; fail if a page differs from the program
    #[arg(long)]
    check: bool,
}

const REPEAT: &str = "cargo xtask docs";

/// Returns each page with its expected text.
fn pages() -> XtaskResult<[(&'static str, String); 5]> {
    Ok([
        ("docs/clients.md", clients::page()?),
        ("docs/reference/cli.md", cli_page()),
        ("docs/reference/configuration.md", configuration_page()),
        ("docs/reference/mcp.md", mcp_page()),
        ("plugin/hooks/hooks.json", hooks_json()),
    ])
}

pub(crate) fn run(args: &DocsArgs) -> XtaskResult {
    let mut stale = Vec::new();
    for (path, text) in pages()? {
        let file = workspace::root().join(path);
        if fs::read_to_string(&file).is_ok_and(|present| present == text) {
            continue;
        }
        if args.check {
            stale.push(path);
            continue;
        }
        fs::create_dir_all(file.parent().expect("a page lies in a folder"))?;
        fs::write(&file, text).map_err(|error| format!("{path}: {error}"))?;
        println!("wrote {path}");
    }
    if stale.is_empty() {
        return Ok(());
    }
    Err(format!(
        "stale: {}\nThe program describes itself differently by now. `{REPEAT}` writes what it says.",
        stale.join(", ")
    )
    .into())
}
