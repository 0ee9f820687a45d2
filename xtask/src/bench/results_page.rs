//! The pages of `docs/benchmarks/`: results between two markers, the rest written by people.

use std::fs;

use crate::{XtaskResult, workspace};

/// Replaces the results of a benchmark on its page and prints the page's path.
///
/// `bench` is the part of the command after `cargo xtask bench`. Its first word names the page.
pub(super) fn write(bench: &str, results: &str) -> XtaskResult {
    let name = bench.split(' ').next().unwrap_or(bench);
    let path = format!("docs/benchmarks/{name}.md");
    let page = workspace::root().join(&path);
    let text = fs::read_to_string(&page).map_err(|error| format!("{path}: {error}"))?;
    let [begin, end] = markers(bench);
    let new =
        replace(&text, bench, results).ok_or_else(|| format!("{path} lacks the markers {begin} … {end}"))?;
    fs::write(page, new)?;
    println!("wrote {path}");
    Ok(())
}

fn markers(bench: &str) -> [String; 2] {
    ["begin", "end"].map(|side| format!("<!-- results of `cargo xtask bench {bench} --write`: {side} -->"))
}

fn replace(page: &str, bench: &str, results: &str) -> Option<String> {
    let [begin, end] = markers(bench);
    let (head, rest) = page.split_once(&begin)?;
    let (_, tail) = rest.split_once(&end)?;
    Some(format!("{head}{begin}\n\n{}\n\n{end}{tail}", results.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replaces_only_the_text_between_the_markers() {
        let [begin, end] = markers("hooks");
        let page = format!("# Title\n{begin}\nold\n{end}\nfoot\n");
        let once = replace(&page, "hooks", "new\n").unwrap();
        assert_eq!(once, format!("# Title\n{begin}\n\nnew\n\n{end}\nfoot\n"));
        assert_eq!(replace(&once, "hooks", "new\n").unwrap(), once);
        assert_eq!(replace(&page, "impact", "new"), None);
    }

    #[test]
    fn every_benchmark_has_its_markers_on_its_page() {
        let benches = [
            "hooks",
            "speed",
            "speed --real",
            "map",
            "walk",
            "renames",
            "cascade",
            "impact --language rust",
            "impact --language python",
            "impact --language typescript",
        ];
        for bench in benches {
            let name = bench.split(' ').next().unwrap();
            let page = workspace::root().join(format!("docs/benchmarks/{name}.md"));
            let text = fs::read_to_string(&page).unwrap();
            assert!(replace(&text, bench, "").is_some(), "{} has no place for {bench}", page.display());
        }
    }
}
