-- The texts that imported runs came from: trace.Note as JSON, by the digest of it. A text is removed with the last of its
-- runs.
CREATE TABLE note (
	id   TEXT PRIMARY KEY,
	body TEXT NOT NULL
) STRICT;
ALTER TABLE run ADD COLUMN note TEXT;
CREATE INDEX run_note ON run (note) WHERE note IS NOT NULL;
