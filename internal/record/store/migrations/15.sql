-- What comparisons need of a run, by a definition in one of its versions, in parts. It is removed with its row of computed.
CREATE TABLE observation (
	run_id     TEXT NOT NULL,
	definition TEXT NOT NULL,
	version    TEXT NOT NULL,
	part       TEXT NOT NULL,
	body       BLOB NOT NULL,
	PRIMARY KEY (run_id, definition, version, part),
	FOREIGN KEY (run_id, definition, version) REFERENCES computed ON DELETE CASCADE
) STRICT;
