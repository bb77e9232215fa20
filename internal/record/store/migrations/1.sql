-- A run. body is trace.Run as JSON and has everything; the columns repeat what
-- lists and queries want. beat_ns is the wall clock of the last sign of life of
-- the process that writes the run.
CREATE TABLE run (
	id       TEXT PRIMARY KEY,
	name     TEXT NOT NULL,
	status   TEXT NOT NULL,
	started  INTEGER NOT NULL, -- Unix nanoseconds
	beat_ns  INTEGER NOT NULL, -- Unix nanoseconds
	model    TEXT NOT NULL,
	url      TEXT NOT NULL,
	workload TEXT NOT NULL,
	body     TEXT NOT NULL
) STRICT;

CREATE INDEX run_started ON run (started);

-- A record. Instants are nanoseconds since the start of the run, NULL for what
-- never happened. chunks is trace.AppendChunks.
CREATE TABLE record (
	run_id           TEXT NOT NULL REFERENCES run (id) ON DELETE CASCADE,
	idx              INTEGER NOT NULL, -- position in the workload
	request_id       TEXT NOT NULL,
	prompt_tokens    INTEGER NOT NULL,
	want_tokens      INTEGER NOT NULL,
	due_ns           INTEGER,
	free_ns          INTEGER,
	released_ns      INTEGER,
	dialed_ns        INTEGER,
	connected_ns     INTEGER,
	sent_ns          INTEGER,
	first_byte_ns    INTEGER,
	done_ns          INTEGER,
	status           INTEGER NOT NULL,
	finish_reason    TEXT NOT NULL,
	usage_prompt     INTEGER NOT NULL,
	usage_completion INTEGER NOT NULL,
	usage_cached     INTEGER NOT NULL,
	usage_reasoning  INTEGER NOT NULL,
	usage_at_ns      INTEGER,
	output_tokens    INTEGER NOT NULL,
	counted_from     TEXT NOT NULL,
	class            TEXT NOT NULL, -- empty: succeeded
	error            TEXT NOT NULL,
	redials          INTEGER NOT NULL,
	text             TEXT NOT NULL,
	chunks           BLOB NOT NULL,
	PRIMARY KEY (run_id, idx)
) STRICT, WITHOUT ROWID;
