//! Divides files into at most two groups, one per agent, by proximity.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::MAX_GROUPS;
use crate::tier::Tier;

/// The kind of agent that a group needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AgentRole {
    /// For code. The agent may run commands.
    Implementer,
    /// For a framework's own files. The agent reads and writes, and runs no commands.
    InfraImplementer,
}

impl AgentRole {
    /// Returns the role that is responsible for a file.
    pub fn for_path(path: &str) -> Self {
        let infra = path.split('/').rev().skip(1).any(|part| part == ".claude");
        if infra { Self::InfraImplementer } else { Self::Implementer }
    }

    /// The name of the agent type.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Implementer => "implementer",
            Self::InfraImplementer => "infra-implementer",
        }
    }

    /// The tools that agents of this role may use.
    pub fn tools(self) -> &'static str {
        match self {
            Self::Implementer => "Read, Grep, Glob, Edit, Write and Bash",
            Self::InfraImplementer => "Read, Grep, Glob, Edit and Write; no Bash",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileToAssign<'a> {
    /// Relative to the root.
    pub path: &'a str,
    /// The first of the files it must follow.
    pub cause: &'a str,
    /// Size in bytes.
    pub size: u64,
}

/// The directory a file is in; empty for the root.
pub fn directory(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(directory, _)| directory)
}

/// Divides the files into at most two groups, each for one role. Files of one cycle of imports stay together.
pub fn partition(
    places: &[FileToAssign<'_>],
    cycles: &[BTreeSet<String>],
    tier: Tier,
) -> Vec<(AgentRole, Vec<String>)> {
    let mut by_role: BTreeMap<AgentRole, Vec<&FileToAssign<'_>>> = BTreeMap::new();
    for place in places {
        by_role.entry(AgentRole::for_path(place.path)).or_default().push(place);
    }
    let mut groups = Vec::new();
    let roles = by_role.len();
    for (role, places) in by_role {
        let units = units(&places, cycles);
        let divided =
            roles == 1 && tier.effort().implementers >= MAX_GROUPS && places.len() >= tier.split_threshold();
        match divided.then(|| best_split(&units)).flatten() {
            Some(at) => {
                groups.push((role, paths(&units[..at])));
                groups.push((role, paths(&units[at..])));
            }
            None => groups.push((role, paths(&units))),
        }
    }
    groups
}

/// Files that stay together: one file, or the files of one cycle.
struct FileCluster<'a> {
    places: Vec<&'a FileToAssign<'a>>,
}

impl FileCluster<'_> {
    /// Sort key: files of one directory are adjacent, then files with the same cause.
    fn key(&self) -> (&str, &str, &str) {
        let first = self.places[0];
        (directory(first.path), first.cause, first.path)
    }

    fn size(&self) -> u64 {
        self.places.iter().map(|place| place.size.max(1)).sum()
    }
}

fn units<'a>(places: &[&'a FileToAssign<'a>], cycles: &[BTreeSet<String>]) -> Vec<FileCluster<'a>> {
    let mut of_cycle: BTreeMap<usize, Vec<&'a FileToAssign<'a>>> = BTreeMap::new();
    let mut units = Vec::new();
    let mut sorted = places.to_vec();
    sorted.sort_by_key(|place| place.path);
    for place in sorted {
        match cycles.iter().position(|cycle| cycle.contains(place.path)) {
            Some(cycle) => of_cycle.entry(cycle).or_default().push(place),
            None => units.push(FileCluster { places: vec![place] }),
        }
    }
    units.extend(of_cycle.into_values().map(|places| FileCluster { places }));
    units.sort_by(|a, b| a.key().cmp(&b.key()));
    units
}

/// Returns the best position to divide the units: between directories, else between causes, else in the
/// middle of the bytes.
fn best_split(units: &[FileCluster<'_>]) -> Option<usize> {
    let total: u64 = units.iter().map(FileCluster::size).sum();
    let mut left = 0;
    let cost = |at: usize, left: u64| {
        let ((dir_a, cause_a, _), (dir_b, cause_b, _)) = (units[at - 1].key(), units[at].key());
        (dir_a == dir_b, cause_a == cause_b, left.abs_diff(total - left), at)
    };
    let cuts = (1..units.len()).map(|at| {
        left += units[at - 1].size();
        cost(at, left)
    });
    cuts.min().map(|(.., at)| at)
}

fn paths(units: &[FileCluster<'_>]) -> Vec<String> {
    let mut paths: Vec<String> =
        units.iter().flat_map(|unit| &unit.places).map(|place| place.path.to_owned()).collect();
    paths.sort();
    paths
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn divided(files: &[(&str, &str, u64)], cycles: &[&[&str]], tier: Tier) -> Vec<(AgentRole, Vec<String>)> {
        let places: Vec<FileToAssign<'_>> =
            files.iter().map(|(path, cause, size)| FileToAssign { path, cause, size: *size }).collect();
        let cycles: Vec<BTreeSet<String>> =
            cycles.iter().map(|cycle| cycle.iter().map(ToString::to_string).collect()).collect();
        partition(&places, &cycles, tier)
    }

    fn names(groups: &[(AgentRole, Vec<String>)]) -> Vec<Vec<&str>> {
        groups.iter().map(|(_, files)| files.iter().map(String::as_str).collect()).collect()
    }

    #[test]
    fn files_of_a_framework_go_to_the_agent_that_runs_nothing() {
        for (path, role) in [
            (".claude/skills/a/SKILL.md", AgentRole::InfraImplementer),
            ("tools/.claude/settings.json", AgentRole::InfraImplementer),
            ("src/a.rs", AgentRole::Implementer),
            ("docs/.claude.md", AgentRole::Implementer),
            (".claude", AgentRole::Implementer),
        ] {
            assert_eq!(AgentRole::for_path(path), role, "{path}");
        }
        let files = [("src/a.rs", "r", 1), (".claude/agents/b.md", "r", 1)];
        let groups = divided(&files, &[], Tier::Complex);
        assert_eq!(
            groups.iter().map(|(role, _)| *role).collect::<Vec<_>>(),
            [AgentRole::Implementer, AgentRole::InfraImplementer]
        );
    }

    #[test]
    fn work_is_divided_between_directories_then_causes_then_by_size() {
        let dirs = [("a/1", "r", 1), ("a/2", "r", 1), ("a/3", "r", 1), ("b/4", "r", 9)];
        assert_eq!(names(&divided(&dirs, &[], Tier::Standard)), [vec!["a/1", "a/2", "a/3"], vec!["b/4"]]);
        let causes = [("1", "r", 1), ("2", "s", 1), ("3", "s", 1), ("4", "s", 1)];
        assert_eq!(names(&divided(&causes, &[], Tier::Standard)), [vec!["1"], vec!["2", "3", "4"]]);
        let sizes = [("1", "r", 30), ("2", "r", 10), ("3", "r", 10), ("4", "r", 10)];
        assert_eq!(names(&divided(&sizes, &[], Tier::Standard)), [vec!["1"], vec!["2", "3", "4"]]);
    }

    #[test]
    fn a_cycle_is_not_divided() {
        let files = [("a/1", "r", 1), ("a/2", "r", 1), ("b/1", "r", 1), ("b/2", "r", 1)];
        let cycle: &[&str] = &["a/2", "b/1", "b/2"];
        assert_eq!(
            names(&divided(&files, &[cycle], Tier::Standard)),
            [vec!["a/1"], vec!["a/2", "b/1", "b/2"]]
        );
        let all: &[&str] = &["a/1", "a/2", "b/1", "b/2"];
        assert_eq!(divided(&files, &[all], Tier::Complex).len(), 1);
    }

    #[test]
    fn the_tier_bounds_the_number() {
        let files = [("a/1", "r", 1), ("b/2", "r", 1)];
        for (tier, count) in [(Tier::Trivial, 1), (Tier::Standard, 1), (Tier::Complex, 2)] {
            assert_eq!(divided(&files, &[], tier).len(), count, "{tier:?}");
        }
    }

    proptest! {
        #[test]
        fn every_file_is_in_exactly_one_of_at_most_two_groups(
            names in prop::collection::btree_set("(\\.claude/)?[ab]/[a-d]{1,2}", 1..12),
            sizes in prop::collection::vec(0_u64..1000, 12),
            pairs in prop::collection::vec((0_usize..12, 0_usize..12), 0..3),
        ) {
            let names: Vec<String> = names.into_iter().collect();
            let places: Vec<FileToAssign<'_>> = names
                .iter()
                .enumerate()
                .map(|(at, path)| FileToAssign { path, cause: if at % 2 == 0 { "r" } else { "s" }, size: sizes[at] })
                .collect();
            let pick = |at: usize| names[at % names.len()].clone();
            let cycles: Vec<BTreeSet<String>> =
                pairs.iter().map(|(a, b)| [pick(*a), pick(*b)].into()).collect();
            for tier in Tier::ALL {
                let groups = partition(&places, &cycles, tier);
                prop_assert!(groups.len() <= MAX_GROUPS);
                prop_assert!(groups.iter().all(|(role, files)| files.iter().all(|f| AgentRole::for_path(f) == *role)));
                let mut all: Vec<String> = groups.iter().flat_map(|(_, files)| files.clone()).collect();
                all.sort();
                prop_assert_eq!(&all, &names);
            }
        }
    }
}
