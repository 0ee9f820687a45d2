//! The `lockstep` binary. Everything is in the library beside it, where tests and `xtask` reach it.

use std::process::ExitCode;

fn main() -> ExitCode {
    lockstep_cli::main()
}
