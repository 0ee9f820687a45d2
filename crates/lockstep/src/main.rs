//! The `lockstep` binary. Everything is in the library, where tests and `xtask` can use it.

use std::process::ExitCode;

fn main() -> ExitCode {
    lockstep_cli::main()
}
