//! The `lockstep` binary. Everything is in the library beside it, where tests and `xtask` reach it.

use std::process::ExitCode;

use mimalloc::MiMalloc;

/// Tables of megabytes come and go in every run. This one keeps the memory that it has; the system's gives each back, and every page of
/// the next is a fault.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    lockstep_cli::main()
}
