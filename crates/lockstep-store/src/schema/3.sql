-- Cascades. `state` is JSON as `lockstep-cascade` writes it; `revision` counts its writes, so that of two processes that read the
-- same state only one can follow it. `session` is NULL for one that a person started outside of any.
CREATE TABLE cascade (
    id         INTEGER PRIMARY KEY,
    session    TEXT,
    state      TEXT NOT NULL,
    revision   INTEGER NOT NULL,
    started_at INTEGER NOT NULL,
    changed_at INTEGER NOT NULL,
    ended_at   INTEGER
) STRICT;
CREATE INDEX cascade_active ON cascade (id) WHERE ended_at IS NULL;

-- Contents that files of a cascade have had, by digest.
CREATE TABLE cascade_content (
    cascade INTEGER NOT NULL,
    digest  TEXT NOT NULL,
    content BLOB NOT NULL,
    PRIMARY KEY (cascade, digest)
) STRICT, WITHOUT ROWID;

-- What the whole tree was when an iteration began.
CREATE TABLE cascade_tree (
    cascade   INTEGER NOT NULL,
    iteration INTEGER NOT NULL,
    tree      TEXT NOT NULL,
    PRIMARY KEY (cascade, iteration)
) STRICT, WITHOUT ROWID;

-- Reports about a cascade's own files whose alerts were not delivered while it was active.
CREATE TABLE cascade_held (
    cascade INTEGER NOT NULL,
    session TEXT NOT NULL,
    report  INTEGER NOT NULL,
    PRIMARY KEY (cascade, session, report)
) STRICT, WITHOUT ROWID;
