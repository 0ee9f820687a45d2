-- The certainty of a change's agent: NULL where it is certain, `unknown`, or `shared:` and the ids of the agents (`-` is the Lead).
ALTER TABLE change ADD COLUMN attribution TEXT;
