//! The history of changes: the journals, read into the store, with the kinds of changes that the sweep found.
//!
//! A journal is written without a lock. It is read under the store's write lock, from the end of the last
//! read, so each line enters the history once.

use std::collections::HashMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use lockstep_model::change::{Attribution, ChangeKind, ChangeTool, JournalLine};
use lockstep_model::ids::{AgentId, SessionId, ToolUseId};
use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension as _, Row, Transaction, params, params_from_iter};

use crate::journal::{JournalDir, JournalPosition};
use crate::{Store, StoreError, StoreResult};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedChange {
    /// Grows with every change.
    pub id: i64,
    pub session: SessionId,
    pub line: JournalLine,
    pub kind: ChangeKind,
    /// The agents that made it or may have made it. Several only where the attribution is shared.
    pub agents: Vec<ChangeAgent>,
}

impl RecordedChange {
    /// Names the agents: `a1`, `a1 or a2`, or `a1?` if it is unknown whether the agent made the change.
    pub fn describe_agents(&self) -> String {
        let names: Vec<String> = self.agents.iter().map(ToString::to_string).collect();
        let is_unknown = self.line.attribution == Attribution::Unknown;
        format!("{}{}", names.join(" or "), if is_unknown { "?" } else { "" })
    }

    /// Returns true if this agent made it or may have made it: an id, a type, or `lead`.
    pub fn is_by(&self, agent: &str) -> bool {
        self.agents.iter().any(|one| match &one.id {
            None => agent == "lead",
            Some(id) => id.as_str() == agent || one.agent_type.as_deref() == Some(agent),
        })
    }
}

/// An agent that made a change, or may have made it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangeAgent {
    /// `None` is the Lead.
    pub id: Option<AgentId>,
    pub agent_type: Option<String>,
}

impl std::fmt::Display for ChangeAgent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (&self.id, &self.agent_type) {
            (None, _) => f.write_str("lead"),
            (Some(id), None) => write!(f, "{id}"),
            (Some(id), Some(agent_type)) => write!(f, "{agent_type} {id}"),
        }
    }
}

/// Which changes to recall. Everything where nothing is set.
#[derive(Debug, Clone, Default)]
pub struct ChangeFilter<'a> {
    /// Only this session's.
    pub session: Option<&'a SessionId>,
    /// Only this agent's.
    pub by: ChangeAuthor<'a>,
    /// Only those with a greater id.
    pub after: i64,
}

#[derive(Debug, Clone, Copy, Default)]
pub enum ChangeAuthor<'a> {
    #[default]
    Anyone,
    /// The Lead's own.
    Lead,
    /// One subagent's.
    Agent(&'a AgentId),
}

/// Returns true for the paths of a foreign journal that belong to this project.
pub type PathFilter<'a> = &'a dyn Fn(&Path) -> bool;

impl Store {
    /// Reads the new lines of a session's journal. `keep` filters the paths.
    pub fn import_journal(
        &mut self,
        journal: &JournalDir,
        session: &SessionId,
        keep: PathFilter<'_>,
    ) -> StoreResult {
        // Mostly there is no news, and nothing to lock for.
        let end = journal.end(session)?;
        if end.is_none() || end == self.journal_cursor(session)? {
            return Ok(());
        }
        self.write(|db| import_lines(db, journal, session, None, keep))?
    }

    /// Journals the changes that a sweep found, and records their kinds. `found` has a line and a kind each.
    pub fn record_sweep(
        &mut self,
        journal: &JournalDir,
        session: &SessionId,
        found: &[(JournalLine, ChangeKind)],
        keep: PathFilter<'_>,
    ) -> StoreResult {
        let lines: Vec<JournalLine> = found.iter().map(|(line, _)| line.clone()).collect();
        let end = journal.append(session, &lines)?;
        self.write(|db| {
            // Lines of other agents may precede ours, and another process may already have read some of ours.
            let taken = import_lines(db, journal, session, Some(end), keep)?;
            if taken.is_ok() {
                set_kinds(db, session, found)?;
            }
            Ok(taken)
        })?
    }

    /// Removes a session's journal after all of it was read. Returns false if there was none. The read
    /// position is reset, because the next journal may get the same inode.
    pub fn remove_journal(
        &mut self,
        journal: &JournalDir,
        session: &SessionId,
        keep: PathFilter<'_>,
    ) -> StoreResult<bool> {
        // Another session's end may have been faster.
        if std::fs::symlink_metadata(journal.file(session)).is_err_and(|e| e.kind() == ErrorKind::NotFound) {
            return Ok(false);
        }
        self.write(|db| {
            match import_lines(db, journal, session, None, keep)? {
                // The file is not ours, so it is removed without being read.
                Ok(()) | Err(StoreError::UnsafePath { .. }) => {}
                Err(error) => return Ok(Err(error)),
            }
            let removed = journal.remove(session);
            if removed.is_ok() {
                db.execute("DELETE FROM journal_cursor WHERE session = ?1", [session.as_str()])?;
            }
            Ok(removed)
        })?
    }

    fn journal_cursor(&self, session: &SessionId) -> StoreResult<Option<JournalPosition>> {
        self.read(|db| db.query_row(CURSOR, [session.as_str()], position).optional())
    }

    /// Recalls changes in the order in which they were read.
    pub fn changes(&self, filter: &ChangeFilter<'_>) -> StoreResult<Vec<RecordedChange>> {
        let mut sql = String::from(
            "SELECT c.id, c.session, c.at, c.tool, c.path, c.kind, c.counterpart, c.agent, c.tool_use, c.attribution
             FROM change c WHERE c.id > ?",
        );
        let mut values = vec![Value::from(filter.after)];
        if let Some(session) = filter.session {
            sql.push_str(" AND c.session = ?");
            values.push(Value::from(session.as_str().to_owned()));
        }
        match filter.by {
            ChangeAuthor::Anyone => {}
            ChangeAuthor::Lead => sql.push_str(" AND (c.agent IS NULL OR c.attribution IS NOT NULL)"),
            ChangeAuthor::Agent(id) => {
                sql.push_str(" AND (c.agent = ? OR c.attribution IS NOT NULL)");
                values.push(Value::from(id.as_str().to_owned()));
            }
        }
        sql.push_str(" ORDER BY c.id");
        let is_meant = |change: &RecordedChange| match filter.by {
            ChangeAuthor::Anyone => true,
            ChangeAuthor::Lead => change.line.may_be_by(None),
            ChangeAuthor::Agent(id) => change.line.may_be_by(Some(id)),
        };
        self.read(|db| {
            let mut query = db.prepare(&sql)?;
            let rows = query.query_map(params_from_iter(values), change)?;
            let mut changes: Vec<RecordedChange> =
                rows.filter_map(Result::transpose).collect::<rusqlite::Result<_>>()?;
            changes.retain(is_meant);
            name_agents(db, &mut changes)?;
            Ok(changes)
        })
    }

    /// The last change `reader` has dealt with in a session.
    pub fn reader_cursor(&self, session: &SessionId, reader: &str) -> StoreResult<i64> {
        self.read(|db| {
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
    pub fn set_reader_cursor(&mut self, session: &SessionId, reader: &str, change: i64) -> StoreResult {
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

fn cursor(db: &Transaction<'_>, session: &SessionId) -> rusqlite::Result<Option<JournalPosition>> {
    db.query_row(CURSOR, [session.as_str()], position).optional()
}

/// Reads the journal from the end of the last read up to `to`. Runs under the write lock, so that two
/// processes never add the same line.
fn import_lines(
    db: &Transaction<'_>,
    journal: &JournalDir,
    session: &SessionId,
    to: Option<u64>,
    keep: PathFilter<'_>,
) -> rusqlite::Result<StoreResult> {
    let news = match journal.read(session, cursor(db, session)?, to) {
        Ok(news) => news,
        Err(error) => return Ok(Err(error)),
    };
    for line in news.lines.iter().filter(|line| keep(&line.path)) {
        insert(db, session, line)?;
    }
    set_cursor(db, session, news.end).map(Ok)
}

fn position(row: &Row<'_>) -> rusqlite::Result<JournalPosition> {
    let (inode, offset): (i64, i64) = (row.get(0)?, row.get(1)?);
    Ok(JournalPosition { inode: inode.cast_unsigned(), offset: offset.cast_unsigned() })
}

fn set_cursor(db: &Transaction<'_>, session: &SessionId, end: JournalPosition) -> rusqlite::Result<()> {
    db.execute(
        "INSERT INTO journal_cursor VALUES (?1, ?2, ?3)
         ON CONFLICT (session) DO UPDATE SET inode = ?2, offset = ?3",
        (session.as_str(), end.inode.cast_signed(), end.offset.cast_signed()),
    )
    .map(drop)
}

fn insert(db: &Transaction<'_>, session: &SessionId, line: &JournalLine) -> rusqlite::Result<()> {
    db.prepare_cached(
        "INSERT INTO change (session, at, tool, path, kind, agent, tool_use, attribution)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
    )?
    .execute(params![
        session.as_str(),
        line.at,
        line.tool,
        line.path.as_os_str().as_encoded_bytes(),
        ChangeKind::Written.as_str(),
        line.agent.as_ref().map(AgentId::as_str),
        line.tool_use.as_ref().map(ToolUseId::as_str),
        line.attribution.column(),
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
                kind.as_str(),
                kind.counterpart().map(|path| path.as_os_str().as_encoded_bytes()),
                session.as_str(),
                line.path.as_os_str().as_encoded_bytes(),
                ChangeTool::Sweep.as_str(),
            ],
        )?;
    }
    Ok(())
}

/// Converts a row. `None` if this version does not know its session or kind.
fn change(row: &Row<'_>) -> rusqlite::Result<Option<RecordedChange>> {
    let session: String = row.get(1)?;
    let kind = ChangeKind::from_parts(&row.get::<_, String>(5)?, row.get::<_, Option<Vec<u8>>>(6)?.map(path));
    let (Ok(session), Some(kind)) = (SessionId::new(&session), kind) else { return Ok(None) };
    let agent = row.get::<_, Option<String>>(7)?.and_then(|id| AgentId::new(&id));
    let attribution = Attribution::parse(row.get::<_, Option<String>>(9)?.as_deref());
    let ids = match &attribution {
        Attribution::Shared(agents) => agents.clone(),
        Attribution::Exact | Attribution::Unknown => vec![agent.clone()],
    };
    Ok(Some(RecordedChange {
        id: row.get(0)?,
        session,
        kind,
        agents: ids.into_iter().map(|id| ChangeAgent { id, agent_type: None }).collect(),
        line: JournalLine {
            at: row.get(2)?,
            tool: row.get(3)?,
            path: path(row.get(4)?),
            agent,
            tool_use: row.get::<_, Option<String>>(8)?.and_then(|id| ToolUseId::new(&id)),
            attribution,
        },
    }))
}

/// Adds the types of the agents.
fn name_agents(db: &Connection, changes: &mut [RecordedChange]) -> rusqlite::Result<()> {
    let mut query = db.prepare("SELECT agent_type FROM agent WHERE session = ?1 AND id = ?2")?;
    let mut types: HashMap<(SessionId, AgentId), Option<String>> = HashMap::new();
    for change in changes {
        for agent in &mut change.agents {
            let Some(id) = &agent.id else { continue };
            let key = (change.session.clone(), id.clone());
            if !types.contains_key(&key) {
                let found = query.query_row([key.0.as_str(), key.1.as_str()], |row| row.get(0)).optional()?;
                types.insert(key.clone(), found.flatten());
            }
            agent.agent_type.clone_from(&types[&key]);
        }
    }
    Ok(())
}

fn path(bytes: Vec<u8>) -> PathBuf {
    lockstep_text::path_of_bytes(bytes)
}

#[cfg(test)]
mod tests;
