//! The MCP server: Lockstep's verbs as tools and its documents as resources, over standard input and output.
//!
//! A tool is a skin: it reads arguments, calls the function that the verb of the same name calls, and sends what comes of it as
//! data and as text. Nothing is decided here. [`tools`] has a file per subject, [`tool`] says what a tool is, [`server`] speaks the
//! protocol, [`work`] is a request while it is worked on, [`pages`] keeps what was too long for one answer.
//!
//! This is the only part of the program with an async runtime, of one thread; the work itself is done on threads that may block.

mod caller;
mod cut;
mod limits;
pub(crate) mod page;
mod pages;
mod resources;
mod server;
mod tool;
mod tools;
mod transport;
mod work;

use std::path::PathBuf;

use rmcp::service::{QuitReason, ServerInitializeError, ServiceExt as _};

use crate::cli::VERSION;
use crate::error::{CommandError, Kind};
use crate::terminal::complain;

pub(crate) use caller::Caller;

/// Threads that may block: as many requests as are worked on at once, and both ends of the pipe.
const BLOCKING_THREADS: usize = work::AT_ONCE + 4;

/// Serves until standard input ends.
pub(crate) fn serve(directory: PathBuf, caller: Caller) -> Result<(), CommandError> {
    // A bug in one request must not end the session: the request is answered with an error, and this is what is left of it.
    std::panic::set_hook(Box::new(|panic| {
        complain(&format!("lockstep mcp: a bug in lockstep {VERSION}: {panic}\n"));
    }));
    let failed = |error: &dyn std::fmt::Display| {
        CommandError::new(Kind::Store, format!("the MCP server ended: {error}"))
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .max_blocking_threads(BLOCKING_THREADS)
        .build()
        .map_err(|error| failed(&error))?;
    let ended = runtime.block_on(async {
        let served = server::Server::new(directory, caller).serve(transport::stdio()).await;
        match served {
            Ok(running) => running.waiting().await.map_err(|error| failed(&error)),
            // Whoever closes the pipe before the first word has changed their mind.
            Err(ServerInitializeError::ConnectionClosed(_)) => Ok(QuitReason::Closed),
            Err(error) => Err(failed(&error)),
        }
    });
    // What is still at work is abandoned: every write is whole or absent.
    runtime.shutdown_background();
    ended.map(drop)
}
