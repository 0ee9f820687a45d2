//! Short names: the shortest unique end of a path, in complete components. If the complete path is the end of
//! another path, it is used as the name.

use std::collections::HashMap;

use lockstep_refs::world::base;

/// The short name of each of these paths, by its place.
pub fn short_names<'a>(paths: &[&'a str]) -> Vec<&'a str> {
    let mut groups: HashMap<&str, Vec<usize>> = HashMap::with_capacity(paths.len());
    for (at, path) in paths.iter().enumerate() {
        groups.entry(base(path)).or_default().push(at);
    }
    let mut names = vec![""; paths.len()];
    for (base, mut group) in groups {
        if let [only] = *group {
            names[only] = &paths[only][paths[only].len() - base.len()..];
            continue;
        }
        // Sorted this way, the neighbours of a path share the most trailing components with it.
        group.sort_unstable_by(|a, b| paths[*a].rsplit('/').cmp(paths[*b].rsplit('/')));
        let shared: Vec<usize> =
            group.windows(2).map(|pair| in_common(paths[pair[0]], paths[pair[1]])).collect();
        for (at, member) in group.iter().enumerate() {
            let before = at.checked_sub(1).map_or(0, |before| shared[before]);
            let after = shared.get(at).copied().unwrap_or(0);
            names[*member] = last_parts(paths[*member], before.max(after) + 1);
        }
    }
    names
}

/// Returns the number of common trailing components.
fn in_common(a: &str, b: &str) -> usize {
    a.rsplit('/').zip(b.rsplit('/')).take_while(|(a, b)| a == b).count()
}

/// The last parts of a path; all of it where it has no more.
fn last_parts(path: &str, count: usize) -> &str {
    path.rmatch_indices('/').nth(count - 1).map_or(path, |(at, _)| &path[at + 1..])
}

#[derive(Debug, Clone)]
pub struct ShortNameIndex<'a> {
    by_base: HashMap<&'a str, Vec<(usize, &'a str)>>,
}

impl<'a> ShortNameIndex<'a> {
    pub fn new(paths: impl IntoIterator<Item = &'a str>) -> Self {
        let mut by_base: HashMap<&str, Vec<(usize, &str)>> = HashMap::new();
        for (at, path) in paths.into_iter().enumerate() {
            by_base.entry(base(path)).or_default().push((at, path));
        }
        Self { by_base }
    }

    /// Returns the place of the path with this name, or `None` if there is none or more than one.
    pub fn find(&self, name: &str) -> Option<usize> {
        match *self.all(name) {
            [only] => Some(only),
            _ => None,
        }
    }

    /// Returns the indices of all possible paths: the exact match, otherwise all that end with the name.
    pub fn all(&self, name: &str) -> Vec<usize> {
        let Some(group) = self.by_base.get(base(name)) else { return Vec::new() };
        if let Some((at, _)) = group.iter().find(|(_, path)| *path == name) {
            return vec![*at];
        }
        let ends = |path: &str| path.strip_suffix(name).is_some_and(|before| before.ends_with('/'));
        group.iter().filter(|(_, path)| ends(path)).map(|(at, _)| *at).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn names_are_as_short_as_they_can_be() {
        let paths = [
            ".claude/agents/implementer.md",
            ".claude/skills/a/SKILL.md",
            ".claude/skills/b/SKILL.md",
            "README.md",
            "docs/README.md",
            "x/docs/README.md",
        ];
        assert_eq!(
            short_names(&paths),
            ["implementer.md", "a/SKILL.md", "b/SKILL.md", "README.md", "docs/README.md", "x/docs/README.md"]
        );
    }

    proptest! {
        #[test]
        fn a_name_means_its_path_and_a_shorter_one_would_not(
            paths in proptest::collection::btree_set("[ab]{1,2}(/[ab]{1,2}){0,3}", 1..40)
        ) {
            let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
            let names = short_names(&paths);
            let meanings = ShortNameIndex::new(paths.iter().copied());
            prop_assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), paths.len());
            for (at, name) in names.iter().enumerate() {
                prop_assert!(paths[at].ends_with(name));
                prop_assert_eq!(meanings.find(name), Some(at));
                if let Some((_, shorter)) = name.split_once('/') {
                    prop_assert_ne!(meanings.find(shorter), Some(at));
                }
            }
        }
    }
}
