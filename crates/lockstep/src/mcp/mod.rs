//! The MCP server: Lockstep's commands as tools and its documents as resources, over standard input and
//! output.
//!
//! A tool reads arguments, calls the function of the command with the same name, and sends the result as data
//! and as text. Nothing is decided here. [`tools`] has a file per subject, [`tool`] defines a tool,
//! [`server`] implements the protocol, [`call_context`] is a running request, [`pagination`] stores results that are too
//! long for one answer.
//!
//! This is the only part of the program with an async runtime, of one thread; the work itself runs on threads
//! that may block.

mod call_context;
mod identity;
mod limits;
mod lines;
mod pagination;
pub(crate) mod reference_page;
mod resources;
mod server;
mod slicing;
mod tool;
mod tools;
mod transport;

use std::path::PathBuf;

use rmcp::service::{QuitReason, ServerInitializeError, ServiceExt as _};

use crate::cli::VERSION;
use crate::error::{CommandError, CommandResult};
use crate::terminal::print_error;

pub(crate) use identity::CallerIdentity;

/// Threads that may block: as many requests as are worked on at once, and both ends of the pipe.
const BLOCKING_THREADS: usize = call_context::MAX_CONCURRENT_CALLS + 4;

/// Serves until standard input ends.
pub(crate) fn serve(directory: PathBuf, caller: CallerIdentity) -> CommandResult<()> {
    // A bug in one request must not end the session: the request gets an error, and the panic is printed
    // here.
    std::panic::set_hook(Box::new(|panic| {
        print_error(&format!("lockstep mcp: a bug in lockstep {VERSION}: {panic}\n"));
    }));
    let failed =
        |error: &dyn std::fmt::Display| CommandError::store(format!("the MCP server ended: {error}"));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .max_blocking_threads(BLOCKING_THREADS)
        .build()
        .map_err(|error| failed(&error))?;
    let ended = runtime.block_on(async {
        let served = server::McpServer::new(directory, caller).serve(transport::stdio()).await;
        match served {
            Ok(running) => running.waiting().await.map_err(|error| failed(&error)),
            // A client that closes the pipe before the first message has cancelled.
            Err(ServerInitializeError::ConnectionClosed(_)) => Ok(QuitReason::Closed),
            Err(error) => Err(failed(&error)),
        }
    });
    // Running work is abandoned: every write is atomic.
    runtime.shutdown_background();
    ended.map(drop)
}
