//! The history of changes: the journals, read into the store, with what only the sweep knows about them.
//!
//! A journal is written without a lock and read under the store's write lock, from where the last reading ended: each
//! line enters the history once, whichever process reads it.

use std::ffi::OsString;
use std::io::ErrorKind;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use lockstep_model::change::{ChangeKind, ChangeTool, JournalLine};
use lockstep_model::ids::{AgentId, SessionId, ToolUseId};
use rusqlite::types::Value;
use rusqlite::{OptionalExtension as _, Row, Transaction, params, params_from_iter};

use crate::journal::{JournalDir, Position};
use crate::{Store, StoreError};

/// One change as the history has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Grows with every change.
    pub id: i64,
    /// The session that made it.
    pub session: SessionId,
    /// The journal's line.
    pub line: JournalLine,
    /// What happened to the file.
    pub kind: ChangeKind,
    /// The agent's type, where it is known.
    pub agent_type: Option<String>,
}

impl Change {
    /// Whether it was made by this agent: an id, a type, or `lead`.
    pub fn is_by(&self, agent: &str) -> bool {
        match &self.line.agent {
            None => agent == "lead",
            Some(id) => id.as_str() == agent || self.agent_type.as_deref() == Some(agent),
        }
    }
}

/// Which changes to recall. Everything where nothing is set.
#[derive(Debug, Clone, Default)]
pub struct Filter<'a> {
    /// Only this session's.
    pub session: Option<&'a SessionId>,
    /// Only this agent's.
    pub by: By<'a>,
    /// Only those with a greater id.
    pub after: i64,
}

/// Whose changes.
#[derive(Debug, Clone, Copy, Default)]
pub enum By<'a> {
    /// Anybody's.
    #[default]
    Anyone,
    /// The Lead's own.
    Lead,
    /// One subagent's.
    Agent(&'a AgentId),
}

/// Which lines of a foreign journal belong to this project.
pub type Keep<'a> = &'a dyn Fn(&Path) -> bool;

impl Store {
    /// Reads what is new in a session's journal. `keep` chooses among the paths.
    pub fn read_journal(
        &mut self,
        journal: &JournalDir,
        session: &SessionId,
        keep: Keep<'_>,
    ) -> Result<(), StoreError> {
        // Mostly there is no news, and nothing to lock for.
        let end = journal.end(session)?;
        if end.is_none() || end == self.journal_cursor(session)? {
            return Ok(());
        }
        self.write(|db| take_in(db, journal, session, None, keep))?
    }

    /// Journals what a sweep found and enters it with its kinds. `found` holds a line and its kind each.
    pub fn journal_sweep(
        &mut self,
        journal: &JournalDir,
        session: &SessionId,
        found: &[(JournalLine, ChangeKind)],
        keep: Keep<'_>,
    ) -> Result<(), StoreError> {
        let lines: Vec<JournalLine> = found.iter().map(|(line, _)| line.clone()).collect();
        let end = journal.append(session, &lines)?;
        self.write(|db| {
            // Other agents' lines may stand before ours, and another process may have read some of ours already.
            let taken = take_in(db, journal, session, Some(end), keep)?;
            if taken.is_ok() {
                set_kinds(db, session, found)?;
            }
            Ok(taken)
        })?
    }

    /// Removes a session's journal once all of it is remembered; false when there was none. Reading begins anew with the next one,
    /// which may get the same inode.
    pub fn remove_journal(
        &mut self,
        journal: &JournalDir,
        session: &SessionId,
        keep: Keep<'_>,
    ) -> Result<bool, StoreError> {
        // Another session's end may have been faster.
        if std::fs::symlink_metadata(journal.file(session)).is_err_and(|e| e.kind() == ErrorKind::NotFound) {
            return Ok(false);
        }
        self.write(|db| {
            match take_in(db, journal, session, None, keep)? {
                // Nothing of ours: it goes without having been read.
                Ok(()) | Err(StoreError::Unsafe { .. }) => {}
                Err(error) => return Ok(Err(error)),
            }
            let removed = journal.remove(session);
            if removed.is_ok() {
                db.execute("DELETE FROM journal_cursor WHERE session = ?1", [session.as_str()])?;
            }
            Ok(removed)
        })?
    }

    fn journal_cursor(&self, session: &SessionId) -> Result<Option<Position>, StoreError> {
        self.on(|db| db.query_row(CURSOR, [session.as_str()], position).optional())
    }

    /// Recalls changes in the order in which they were read.
    pub fn changes(&self, filter: &Filter<'_>) -> Result<Vec<Change>, StoreError> {
        let mut sql = String::from(
            "SELECT c.id, c.session, c.at, c.tool, c.path, c.kind, c.counterpart, c.agent, c.tool_use, a.agent_type
             FROM change c LEFT JOIN agent a ON a.session = c.session AND a.id = c.agent WHERE c.id > ?",
        );
        let mut values = vec![Value::from(filter.after)];
        if let Some(session) = filter.session {
            sql.push_str(" AND c.session = ?");
            values.push(Value::from(session.as_str().to_owned()));
        }
        match filter.by {
            By::Anyone => {}
            By::Lead => sql.push_str(" AND c.agent IS NULL"),
            By::Agent(id) => {
                sql.push_str(" AND c.agent = ?");
                values.push(Value::from(id.as_str().to_owned()));
            }
        }
        sql.push_str(" ORDER BY c.id");
        self.on(|db| {
            let mut query = db.prepare(&sql)?;
            let rows = query.query_map(params_from_iter(values), change)?;
            rows.filter_map(Result::transpose).collect()
        })
    }

    /// The last change `reader` has dealt with in a session.
    pub fn reader_cursor(&self, session: &SessionId, reader: &str) -> Result<i64, StoreError> {
        self.on(|db| {
            db.query_row(
                "SELECT change_id FROM reader_cursor WHERE session = ?1 AND reader = ?2",
                [session.as_str(), reader],
                |row| row.get(0),
            )
            .optional()
            .map(|id| id.unwrap_or(0))
        })
    }

    /// `reader` has dealt with all changes up to `change`.
    pub fn set_reader_cursor(
        &mut self,
        session: &SessionId,
        reader: &str,
        change: i64,
    ) -> Result<(), StoreError> {
        self.write(|db| {
            db.execute(
                "INSERT INTO reader_cursor VALUES (?1, ?2, ?3)
                 ON CONFLICT (session, reader) DO UPDATE SET change_id = max(change_id, ?3)",
                (session.as_str(), reader, change),
            )
            .map(drop)
        })
    }
}

const CURSOR: &str = "SELECT inode, offset FROM journal_cursor WHERE session = ?1";

fn cursor(db: &Transaction<'_>, session: &SessionId) -> rusqlite::Result<Option<Position>> {
    db.query_row(CURSOR, [session.as_str()], position).optional()
}

/// Enters what stands in the journal between where the last reading ended and `to`. Under the write lock, so that two processes
/// never enter the same line.
fn take_in(
    db: &Transaction<'_>,
    journal: &JournalDir,
    session: &SessionId,
    to: Option<u64>,
    keep: Keep<'_>,
) -> rusqlite::Result<Result<(), StoreError>> {
    let news = match journal.read(session, cursor(db, session)?, to) {
        Ok(news) => news,
        Err(error) => return Ok(Err(error)),
    };
    for line in news.lines.iter().filter(|line| keep(&line.path)) {
        insert(db, session, line)?;
    }
    set_cursor(db, session, news.end).map(Ok)
}

fn position(row: &Row<'_>) -> rusqlite::Result<Position> {
    let (inode, offset): (i64, i64) = (row.get(0)?, row.get(1)?);
    Ok(Position { inode: inode.cast_unsigned(), offset: offset.cast_unsigned() })
}

fn set_cursor(db: &Transaction<'_>, session: &SessionId, end: Position) -> rusqlite::Result<()> {
    db.execute(
        "INSERT INTO journal_cursor VALUES (?1, ?2, ?3)
         ON CONFLICT (session) DO UPDATE SET inode = ?2, offset = ?3",
        (session.as_str(), end.inode.cast_signed(), end.offset.cast_signed()),
    )
    .map(drop)
}

fn insert(db: &Transaction<'_>, session: &SessionId, line: &JournalLine) -> rusqlite::Result<()> {
    db.prepare_cached(
        "INSERT INTO change (session, at, tool, path, kind, agent, tool_use)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    )?
    .execute(params![
        session.as_str(),
        line.at,
        line.tool,
        line.path.as_os_str().as_bytes(),
        ChangeKind::Written.word(),
        line.agent.as_ref().map(AgentId::as_str),
        line.tool_use.as_ref().map(ToolUseId::as_str),
    ])
    .map(drop)
}

/// The newest line of the sweep about a path is the one the kind was found for.
fn set_kinds(
    db: &Transaction<'_>,
    session: &SessionId,
    found: &[(JournalLine, ChangeKind)],
) -> rusqlite::Result<()> {
    for (line, kind) in found {
        db.execute(
            "UPDATE change SET kind = ?1, counterpart = ?2
             WHERE id = (SELECT max(id) FROM change WHERE session = ?3 AND path = ?4 AND tool = ?5)",
            params![
                kind.word(),
                kind.counterpart().map(|path| path.as_os_str().as_bytes()),
                session.as_str(),
                line.path.as_os_str().as_bytes(),
                ChangeTool::Sweep.as_str(),
            ],
        )?;
    }
    Ok(())
}

/// `None` for a row whose session or kind this program does not know.
fn change(row: &Row<'_>) -> rusqlite::Result<Option<Change>> {
    let session: String = row.get(1)?;
    let kind = ChangeKind::from_parts(&row.get::<_, String>(5)?, row.get::<_, Option<Vec<u8>>>(6)?.map(path));
    let (Ok(session), Some(kind)) = (SessionId::new(&session), kind) else { return Ok(None) };
    Ok(Some(Change {
        id: row.get(0)?,
        session,
        kind,
        line: JournalLine {
            at: row.get(2)?,
            tool: row.get(3)?,
            path: path(row.get(4)?),
            agent: row.get::<_, Option<String>>(7)?.and_then(|id| AgentId::new(&id)),
            tool_use: row.get::<_, Option<String>>(8)?.and_then(|id| ToolUseId::new(&id)),
        },
        agent_type: row.get(9)?,
    }))
}

fn path(bytes: Vec<u8>) -> PathBuf {
    PathBuf::from(OsString::from_vec(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::StateDir;

    struct Fixture {
        _dir: tempfile::TempDir,
        journal: JournalDir,
        store: Store,
        session: SessionId,
    }

    impl Fixture {
        fn new() -> Self {
            let dir = tempfile::tempdir().unwrap();
            Self {
                journal: JournalDir::new(dir.path().join("tmp")),
                store: Store::open(&StateDir::of(dir.path())).unwrap(),
                session: SessionId::new("s").unwrap(),
                _dir: dir,
            }
        }

        fn read(&mut self) -> Vec<Change> {
            self.store.read_journal(&self.journal, &self.session, &|_| true).unwrap();
            self.store.changes(&Filter::default()).unwrap()
        }
    }

    fn line(tool: &str, path: &str, agent: Option<&str>) -> JournalLine {
        JournalLine {
            at: "2026-02-14T15:30:42+09:00".to_owned(),
            tool: tool.to_owned(),
            path: path.into(),
            agent: agent.and_then(AgentId::new),
            tool_use: None,
        }
    }

    fn seen(changes: &[Change]) -> Vec<(&str, &str)> {
        changes.iter().map(|c| (c.line.path.to_str().unwrap(), c.kind.word())).collect()
    }

    #[test]
    fn each_line_enters_once() {
        let mut f = Fixture::new();
        assert!(f.read().is_empty());
        f.journal.append(&f.session, &[line("Edit", "/a", None)]).unwrap();
        assert_eq!(f.read().len(), 1);
        f.journal.append(&f.session, &[line("Write", "/b", Some("x"))]).unwrap();
        f.read();
        let changes = f.read();
        assert_eq!(seen(&changes), [("/a", "written"), ("/b", "written")]);
        assert_eq!(changes[1].line, line("Write", "/b", Some("x")));
    }

    #[test]
    fn a_sweep_keeps_its_kinds_and_others_lines_in_between() {
        let mut f = Fixture::new();
        f.journal.append(&f.session, &[line("Edit", "/a", None)]).unwrap();
        let found = [
            (line("Sweep", "/old", None), ChangeKind::RenamedTo("/new".into())),
            (line("Sweep", "/new", None), ChangeKind::RenamedFrom("/old".into())),
            (line("Sweep", "/gone", None), ChangeKind::Deleted),
        ];
        f.store.journal_sweep(&f.journal, &f.session, &found, &|_| true).unwrap();
        f.journal.append(&f.session, &[line("Edit", "/b", None)]).unwrap();
        let changes = f.read();
        assert_eq!(
            seen(&changes),
            [
                ("/a", "written"),
                ("/old", "renamed_to"),
                ("/new", "renamed_from"),
                ("/gone", "deleted"),
                ("/b", "written")
            ]
        );
        assert_eq!(changes[1].kind, ChangeKind::RenamedTo("/new".into()));
    }

    #[test]
    fn filters_by_session_agent_and_place() {
        let mut f = Fixture::new();
        f.journal.append(&f.session, &[line("Edit", "/a", None), line("Edit", "/b", Some("x"))]).unwrap();
        f.store.name_agent(&f.session, &AgentId::new("x").unwrap(), "implementer").unwrap();
        let all = f.read();
        assert_eq!(all[1].agent_type.as_deref(), Some("implementer"));
        let x = AgentId::new("x").unwrap();
        let by = |by| f.store.changes(&Filter { by, ..Filter::default() }).unwrap();
        assert_eq!(seen(&by(By::Lead)), [("/a", "written")]);
        assert_eq!(seen(&by(By::Agent(&x))), [("/b", "written")]);
        let after = Filter { after: all[0].id, session: Some(&f.session), by: By::Anyone };
        assert_eq!(seen(&f.store.changes(&after).unwrap()), [("/b", "written")]);
        let other = SessionId::new("other").unwrap();
        assert!(f.store.changes(&Filter { session: Some(&other), ..Filter::default() }).unwrap().is_empty());
    }

    #[test]
    fn foreign_paths_are_left_out_and_reader_cursors_only_advance() {
        let mut f = Fixture::new();
        f.journal
            .append(&f.session, &[line("Edit", "/mine/a", None), line("Edit", "/other/b", None)])
            .unwrap();
        f.store.read_journal(&f.journal, &f.session, &|path| path.starts_with("/mine")).unwrap();
        assert_eq!(f.store.changes(&Filter::default()).unwrap().len(), 1);
        f.store.set_reader_cursor(&f.session, "lead", 5).unwrap();
        f.store.set_reader_cursor(&f.session, "lead", 3).unwrap();
        assert_eq!(f.store.reader_cursor(&f.session, "lead").unwrap(), 5);
        assert_eq!(f.store.reader_cursor(&f.session, "x").unwrap(), 0);
    }

    #[test]
    fn a_removed_journal_is_remembered_and_its_successor_read_from_the_start() {
        let mut f = Fixture::new();
        f.journal.append(&f.session, &[line("Edit", "/a", None)]).unwrap();
        f.read();
        f.journal.append(&f.session, &[line("Edit", "/b", None)]).unwrap();
        assert!(f.store.remove_journal(&f.journal, &f.session, &|_| true).unwrap());
        assert!(!f.store.remove_journal(&f.journal, &f.session, &|_| true).unwrap());
        let more: Vec<_> = ["/c", "/d", "/e"].iter().map(|path| line("Edit", path, None)).collect();
        f.journal.append(&f.session, &more).unwrap();
        let paths: Vec<_> = f.read().iter().map(|c| c.line.path.to_str().unwrap().to_owned()).collect();
        assert_eq!(paths, ["/a", "/b", "/c", "/d", "/e"]);
    }

    #[test]
    fn many_readers_and_writers_agree() {
        let f = Fixture::new();
        let (journal, session, state) = (&f.journal, &f.session, f.store.state().clone());
        std::thread::scope(|scope| {
            for writer in 0..4 {
                scope.spawn(move || {
                    for n in 0..50 {
                        journal.append(session, &[line("Edit", &format!("/{writer}/{n}"), None)]).unwrap();
                    }
                });
            }
            for sweeper in 0..2 {
                let state = &state;
                scope.spawn(move || {
                    let mut store = Store::open(state).unwrap();
                    for n in 0..20 {
                        let found = [(line("Sweep", &format!("/s{sweeper}/{n}"), None), ChangeKind::Deleted)];
                        store.journal_sweep(journal, session, &found, &|_| true).unwrap();
                    }
                });
            }
        });
        let mut f = f;
        let changes = f.read();
        let mut paths: Vec<_> = changes.iter().map(|c| &c.line.path).collect();
        paths.sort();
        paths.dedup();
        assert_eq!((changes.len(), paths.len()), (240, 240), "nothing lost, nothing twice");
        assert!(changes.iter().all(|c| (c.line.tool == "Sweep") == (c.kind == ChangeKind::Deleted)));
    }
}
