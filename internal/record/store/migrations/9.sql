-- A search: a sweep, or a search for a capacity, whose runs have its name as their experiment.
-- body is JSON of who makes it: its settings, and what came of it. beat_ns is the wall clock of its
-- last change, or of the last sign of the process that makes it.
CREATE TABLE search (
	name    TEXT PRIMARY KEY,
	kind    TEXT NOT NULL, -- sweep, capacity
	status  TEXT NOT NULL, -- as of a run
	started INTEGER NOT NULL, -- Unix nanoseconds
	beat_ns INTEGER NOT NULL, -- Unix nanoseconds
	command TEXT NOT NULL, -- the words of the command line, as JSON, secrets masked
	body    TEXT NOT NULL
) STRICT;
