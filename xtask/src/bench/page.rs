//! `docs/benchmarks.md`: the results between two markers, the rest written by people.

use std::fs;
use std::path::Path;

use crate::Outcome;

pub(super) const PATH: &str = "docs/benchmarks.md";

const BEGIN: &str = "<!-- results of `cargo xtask bench hooks --write`: begin -->";
const END: &str = "<!-- results of `cargo xtask bench hooks --write`: end -->";

pub(super) fn put(page: &Path, results: &str) -> Outcome {
    let text = fs::read_to_string(page).map_err(|error| format!("{}: {error}", page.display()))?;
    let new = replaced(&text, results)
        .ok_or_else(|| format!("{} has no place for results: {BEGIN} … {END}", page.display()))?;
    Ok(fs::write(page, new)?)
}

fn replaced(page: &str, results: &str) -> Option<String> {
    let (head, rest) = page.split_once(BEGIN)?;
    let (_, tail) = rest.split_once(END)?;
    Some(format!("{head}{BEGIN}\n\n{}\n\n{END}{tail}", results.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_between_the_markers_changes() {
        let page = format!("# Title\n{BEGIN}\nold\n{END}\nfoot\n");
        let once = replaced(&page, "new\n").unwrap();
        assert_eq!(once, format!("# Title\n{BEGIN}\n\nnew\n\n{END}\nfoot\n"));
        assert_eq!(replaced(&once, "new\n").unwrap(), once);
        assert_eq!(replaced("# Title\n", "new"), None);
    }
}
