-- An experiment: many runs, whose rows have its name. body is JSON of package experiment:
-- its file, and what became of each leg. beat_ns is the wall clock of its last change.
CREATE TABLE experiment (
	name    TEXT PRIMARY KEY,
	status  TEXT NOT NULL,
	started INTEGER NOT NULL, -- Unix nanoseconds
	beat_ns INTEGER NOT NULL, -- Unix nanoseconds
	body    TEXT NOT NULL
) STRICT;
