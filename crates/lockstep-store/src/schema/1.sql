-- Paths are BLOBs: a name need not be UTF-8. Times are milliseconds since 1970 (UTC).

CREATE TABLE session (
    id        TEXT PRIMARY KEY,
    opened_at INTEGER NOT NULL,
    closed_at INTEGER
) STRICT, WITHOUT ROWID;

CREATE TABLE agent (
    session    TEXT NOT NULL,
    id         TEXT NOT NULL,
    agent_type TEXT NOT NULL,
    PRIMARY KEY (session, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE change (
    id          INTEGER PRIMARY KEY,
    session     TEXT NOT NULL,
    at          TEXT NOT NULL,
    tool        TEXT NOT NULL,
    path        BLOB NOT NULL,
    kind        TEXT NOT NULL,
    counterpart BLOB,
    agent       TEXT,
    tool_use    TEXT
) STRICT;
CREATE INDEX change_by_session ON change (session, id);
CREATE INDEX change_by_path ON change (session, path, tool, id);

-- How far each session's journal has been read into `change`.
CREATE TABLE journal_cursor (
    session TEXT PRIMARY KEY,
    inode   INTEGER NOT NULL,
    offset  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- How far each reader has read the session's changes.
CREATE TABLE reader_cursor (
    session   TEXT NOT NULL,
    reader    TEXT NOT NULL,
    change_id INTEGER NOT NULL,
    PRIMARY KEY (session, reader)
) STRICT, WITHOUT ROWID;

CREATE TABLE report (
    session TEXT NOT NULL,
    number  INTEGER NOT NULL,
    at      INTEGER NOT NULL,
    agent   TEXT,
    PRIMARY KEY (session, number)
) STRICT, WITHOUT ROWID;

-- The state in which a file was last reported.
CREATE TABLE reported (
    session TEXT NOT NULL,
    path    BLOB NOT NULL,
    state   TEXT NOT NULL,
    PRIMARY KEY (session, path)
) STRICT, WITHOUT ROWID;

CREATE TABLE mailbox (
    id       INTEGER PRIMARY KEY,
    session  TEXT NOT NULL,
    report   INTEGER NOT NULL,
    alert    TEXT NOT NULL,
    put_at   INTEGER NOT NULL,
    taken_at INTEGER,
    UNIQUE (session, report)
) STRICT;
CREATE INDEX mailbox_waiting ON mailbox (session) WHERE taken_at IS NULL;
