-- The task. A project has one at a time; `task` counts them, so that the next one begins after a delivery. Every version is
-- kept. `agent_type` is NULL for the Lead, and for a person at the command line.
CREATE TABLE task_version (
    task       INTEGER NOT NULL,
    version    INTEGER NOT NULL,
    subject    TEXT NOT NULL,
    delivered  INTEGER NOT NULL,
    document   TEXT NOT NULL,
    agent_type TEXT,
    agent_id   TEXT,
    skill      TEXT,
    session    TEXT,
    at         INTEGER NOT NULL,
    why        TEXT,
    PRIMARY KEY (task, version)
) STRICT, WITHOUT ROWID;

-- The task in clients' own lists: every session has a list of its own, so an id means something only with its session.
-- `subject` and `description` are what the list was last seen to say.
CREATE TABLE task_mirror (
    session     TEXT NOT NULL,
    client_id   TEXT NOT NULL,
    task        INTEGER NOT NULL,
    subject     TEXT NOT NULL,
    description TEXT,
    at          INTEGER NOT NULL,
    PRIMARY KEY (session, client_id)
) STRICT, WITHOUT ROWID;

-- The version each agent read last. `agent_id` is empty for the Lead; `ended_at` is set when the agent stopped.
CREATE TABLE task_reading (
    task       INTEGER NOT NULL,
    session    TEXT NOT NULL,
    agent_id   TEXT NOT NULL,
    agent_type TEXT,
    version    INTEGER NOT NULL,
    at         INTEGER NOT NULL,
    ended_at   INTEGER,
    PRIMARY KEY (task, session, agent_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE scratch (
    session TEXT PRIMARY KEY,
    content TEXT NOT NULL,
    at      INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- What the Lead of a session is told besides alerts. Of several that wait on one subject, the newest counts.
CREATE TABLE notice (
    id       INTEGER PRIMARY KEY,
    session  TEXT NOT NULL,
    subject  TEXT NOT NULL,
    text     TEXT NOT NULL,
    put_at   INTEGER NOT NULL,
    taken_at INTEGER
) STRICT;
CREATE INDEX notice_waiting ON notice (session) WHERE taken_at IS NULL;
