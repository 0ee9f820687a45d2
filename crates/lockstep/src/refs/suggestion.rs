//! Names of the project that resemble one that was mistyped.

use std::collections::BTreeSet;

use lockstep_index::index::Index;
use lockstep_refs::entity::{Aliases, Names};
use lockstep_refs::world::{World as _, base};

/// Names that are suggested at most.
const MAX_NAMES: usize = 3;

/// Names of definitions and files that differ from `name` by a few characters, the closest first. `former` are
/// names that the project no longer defines.
pub(crate) fn similar_names(
    index: &Index,
    name: &str,
    former: &[String],
    aliases: &Aliases,
    is_over: &dyn Fn() -> bool,
) -> Vec<String> {
    let last = name.rsplit(['.', ':', '#', '/']).find(|part| !part.is_empty()).unwrap_or(name);
    let wanted = last.to_lowercase();
    let wanted_file = base(name).to_lowercase();
    let most = match wanted.chars().count() {
        0..=3 => 1,
        4..=7 => 2,
        _ => 3,
    };
    let mut close: BTreeSet<(usize, String)> = BTreeSet::new();
    let mut consider = |candidate: &str, display: &str| {
        let candidate = candidate.to_lowercase();
        let distance = |wanted: &str| strsim::damerau_levenshtein(wanted, &candidate);
        let distance = distance(&wanted).min(distance(&wanted_file));
        if distance <= most && candidate.chars().count() > distance {
            close.insert((distance, display.to_owned()));
        }
    };
    for file in index.files() {
        let path = index.path(file);
        let file_name = base(path);
        consider(file_name, path);
        consider(file_name.split('.').next().unwrap_or_default(), path);
    }
    former.iter().for_each(|known| consider(known, known));
    Names::of(index, aliases).all().for_each(|known| consider(known, known));
    for file in index.files() {
        if is_over() {
            break;
        }
        for definition in index.parse_facts_uncached(file).iter().flat_map(|facts| &facts.definitions) {
            consider(&definition.name, &definition.name);
        }
    }
    close.into_iter().take(MAX_NAMES).map(|(_, name)| name).collect()
}
