-- What was sampled beside a run (package telemetry). body of a source is telemetry.Source as
-- JSON. A block has samples of one source: data is telemetry.Block, whose columns have the idx of
-- their series. seq numbers the blocks of a run in the order of their commits, from 1; at the end of
-- a run its blocks are merged into larger ones, with new numbers. Instants as in record, negative
-- before the run.
CREATE TABLE telemetry_source (
	run_id TEXT NOT NULL REFERENCES run (id) ON DELETE CASCADE,
	idx    INTEGER NOT NULL,
	body   TEXT NOT NULL,
	PRIMARY KEY (run_id, idx)
) STRICT, WITHOUT ROWID;

CREATE TABLE telemetry_series (
	run_id TEXT NOT NULL REFERENCES run (id) ON DELETE CASCADE,
	idx    INTEGER NOT NULL,
	source TEXT NOT NULL, -- its name
	name   TEXT NOT NULL,
	labels TEXT NOT NULL, -- as JSON, empty without
	unit   TEXT NOT NULL,
	kind   TEXT NOT NULL,
	PRIMARY KEY (run_id, idx)
) STRICT, WITHOUT ROWID;

CREATE TABLE telemetry_block (
	run_id  TEXT NOT NULL REFERENCES run (id) ON DELETE CASCADE,
	seq     INTEGER NOT NULL,
	source  TEXT NOT NULL,
	from_ns INTEGER NOT NULL, -- the first instant in it, and the last
	to_ns   INTEGER NOT NULL,
	points  INTEGER NOT NULL,
	data    BLOB NOT NULL,
	PRIMARY KEY (run_id, seq)
) STRICT;
