-- The last runs of the map: updates that found files changed, and which.
CREATE TABLE map_run (
    id  INTEGER PRIMARY KEY,
    -- The number that the record of the map gave it: one that died halfway is recorded once.
    run INTEGER NOT NULL UNIQUE,
    at  INTEGER NOT NULL
) STRICT;
CREATE TABLE map_run_file (
    run  INTEGER NOT NULL REFERENCES map_run (id) ON DELETE CASCADE,
    path TEXT NOT NULL,
    PRIMARY KEY (run, path)
) STRICT, WITHOUT ROWID;
