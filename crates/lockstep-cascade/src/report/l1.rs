//! L1: YAML for programs, with the keys of boundary B5 in their order.

use std::fmt::Write as _;

use lockstep_text::yaml_quoted;

use super::files_changed;
use crate::MAX_ITERATIONS;
use crate::state::Cascade;

impl Cascade {
    pub fn l1(&self) -> String {
        let convergence = self.convergence().map_or("null".to_owned(), |converged| converged.to_string());
        let mut out = format!(
            "domain: execution\nskill: cascade\nstatus: {}\niterations: {}\nmax_iterations: {MAX_ITERATIONS}\n\
             files_updated: {}\nfiles_skipped: {}\nconvergence: {convergence}\n",
            self.status().as_str(),
            self.iterations.len(),
            self.updated().len(),
            self.skipped().len(),
        );
        out.push_str(if self.iterations.is_empty() {
            "iteration_details: []\n"
        } else {
            "iteration_details:\n"
        });
        for iteration in &self.iterations {
            let _ = write!(
                out,
                "  - iteration: {}\n    implementers_spawned: {}\n    files_changed: {}\n    new_impacts_detected: {}\n",
                iteration.number,
                iteration.agents,
                files_changed(iteration),
                iteration.new_impacts.as_ref().map_or(0, Vec::len),
            );
        }
        let warnings = self.all_warnings();
        out.push_str(if warnings.is_empty() { "warnings: []\n" } else { "warnings:\n" });
        for warning in warnings {
            let _ = writeln!(out, "  - {}", yaml_quoted(&warning));
        }
        out
    }
}
