-- Findings that a person or agent looked at and that need nothing, until either file is in another state.
CREATE TABLE dismissed (
    changed         BLOB NOT NULL,
    dependent       BLOB NOT NULL,
    changed_state   TEXT NOT NULL,
    dependent_state TEXT NOT NULL,
    why             TEXT NOT NULL,
    at              INTEGER NOT NULL,
    PRIMARY KEY (changed, dependent)
) STRICT, WITHOUT ROWID;
