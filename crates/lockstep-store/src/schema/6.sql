-- Changed files whose dependents were not analysed yet, until they are. `after` is the last change before those to analyse.
CREATE TABLE pending (
    session TEXT NOT NULL,
    path    BLOB NOT NULL,
    agent   TEXT,
    after   INTEGER NOT NULL,
    state   TEXT NOT NULL,
    PRIMARY KEY (session, path)
) STRICT, WITHOUT ROWID;
