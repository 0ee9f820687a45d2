//! Runs of the map: which files changed in each of the last ones.

use std::collections::HashSet;

use jiff::Timestamp;

use crate::{Store, StoreResult};

#[derive(Debug)]
pub struct MapRun<'a> {
    /// The number of the run. Recording the same number again replaces the run.
    pub run: u64,
    pub at: Timestamp,
    /// The paths that changed, relative to the root.
    pub changed: &'a [&'a str],
    /// Former paths of renamed files with their present paths. Records of the former apply to the latter.
    pub renamed: &'a [(&'a str, &'a str)],
}

/// The number of runs that are stored.
const MAX_RUNS: u32 = 10;

impl Store {
    pub fn record_map_run(&mut self, run: &MapRun<'_>) -> StoreResult {
        // SQLite's numbers have a sign.
        let number = run.run.cast_signed();
        self.write(|db| {
            db.execute(
                "DELETE FROM map_run_file WHERE run IN (SELECT id FROM map_run WHERE run = ?1)",
                [number],
            )?;
            db.execute("DELETE FROM map_run WHERE run = ?1", [number])?;
            for (from, to) in run.renamed {
                db.execute("UPDATE OR REPLACE map_run_file SET path = ?2 WHERE path = ?1", [from, to])?;
            }
            db.execute("INSERT INTO map_run (run, at) VALUES (?1, ?2)", (number, run.at.as_second()))?;
            let id = db.last_insert_rowid();
            let mut insert = db.prepare("INSERT OR IGNORE INTO map_run_file (run, path) VALUES (?1, ?2)")?;
            for path in run.changed {
                insert.execute((id, path))?;
            }
            let old = "SELECT id FROM map_run ORDER BY id DESC LIMIT -1 OFFSET ?1";
            db.execute(&format!("DELETE FROM map_run_file WHERE run IN ({old})"), [MAX_RUNS])?;
            db.execute(&format!("DELETE FROM map_run WHERE id IN ({old})"), [MAX_RUNS]).map(drop)
        })
    }

    /// Returns the paths that changed in each of the last `runs` runs of the map; none if there were fewer
    /// runs.
    pub fn paths_changed_in_every_run(&self, runs: usize) -> StoreResult<HashSet<String>> {
        let runs = i64::try_from(runs).unwrap_or(i64::MAX);
        self.read(|db| {
            let mut query = db.prepare(
                "SELECT path FROM map_run_file WHERE run IN (SELECT id FROM map_run ORDER BY id DESC LIMIT ?1)
                 GROUP BY path HAVING count(*) >= ?1",
            )?;
            query.query_map([runs], |row| row.get(0))?.collect()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::StateDir;

    #[test]
    fn paths_that_changed_in_every_run_have_their_current_name() {
        let root = tempfile::tempdir().unwrap();
        let mut store = Store::open(&StateDir::for_project(root.path())).unwrap();
        let record = |store: &mut Store, run: u64, changed: &[&str], renamed: &[(&str, &str)]| {
            store.record_map_run(&MapRun { run, at: Timestamp::UNIX_EPOCH, changed, renamed }).unwrap();
            let mut hot: Vec<String> = store.paths_changed_in_every_run(3).unwrap().into_iter().collect();
            hot.sort();
            hot
        };
        assert_eq!(record(&mut store, u64::MAX, &["a", "b"], &[]), [""; 0]);
        assert_eq!(record(&mut store, 2, &["a", "b"], &[]), [""; 0]);
        assert_eq!(record(&mut store, 2, &["a", "b"], &[]), [""; 0], "the same run again");
        assert_eq!(record(&mut store, 3, &["a"], &[]), ["a"]);
        assert_eq!(record(&mut store, 4, &["c"], &[("a", "c")]), ["c"]);
        assert_eq!(record(&mut store, 5, &["b"], &[]), [""; 0]);
        for run in 6..40 {
            record(&mut store, run, &["b"], &[]);
        }
        assert_eq!(record(&mut store, 40, &["b"], &[]), ["b"]);
        let count: u32 =
            store.read(|db| db.query_row("SELECT count(*) FROM map_run_file", [], |row| row.get(0))).unwrap();
        assert_eq!(count, MAX_RUNS);
    }
}
