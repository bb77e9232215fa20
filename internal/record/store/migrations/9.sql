-- The schema of the oldest stores that open. A store must have this text to the letter: the columns that ALTER TABLE
-- appends stand in one line of it.

-- A run. A list reads these columns and nothing else. workload and arrival are JSON values. records and failed count
-- what is in record; reported_failed is the count of the tool that made the run, NULL if it has none. A run of an
-- experiment has experiment, block and leg, and server_start if the experiment started its server. beat_ns is the wall
-- clock of the last sign of life of the process that writes the run.
CREATE TABLE run (
	id       TEXT PRIMARY KEY,
	name     TEXT NOT NULL,
	status   TEXT NOT NULL,
	started  INTEGER NOT NULL, -- Unix nanoseconds
	beat_ns  INTEGER NOT NULL, -- Unix nanoseconds
	model    TEXT NOT NULL,
	url      TEXT NOT NULL,
	workload TEXT NOT NULL,
	validity TEXT NOT NULL DEFAULT '') STRICT;
ALTER TABLE run ADD COLUMN kind TEXT NOT NULL DEFAULT '';
ALTER TABLE run ADD COLUMN dialect TEXT NOT NULL DEFAULT '';
ALTER TABLE run ADD COLUMN arrival TEXT NOT NULL DEFAULT '""';
ALTER TABLE run ADD COLUMN requests INTEGER NOT NULL DEFAULT 0;
ALTER TABLE run ADD COLUMN concurrency INTEGER NOT NULL DEFAULT 0; -- 0: no limit
ALTER TABLE run ADD COLUMN rate REAL NOT NULL DEFAULT 0; -- requests/s, 0: not one constant rate
ALTER TABLE run ADD COLUMN records INTEGER NOT NULL DEFAULT 0;
ALTER TABLE run ADD COLUMN failed INTEGER NOT NULL DEFAULT 0;
ALTER TABLE run ADD COLUMN reported_failed INTEGER;
ALTER TABLE run ADD COLUMN experiment TEXT;
ALTER TABLE run ADD COLUMN block INTEGER;
ALTER TABLE run ADD COLUMN leg INTEGER;
ALTER TABLE run ADD COLUMN server_start INTEGER;
-- The labels of a run (trace.Labels): tags, one a line in alphabetical order, and a remark. No part of the measurement:
-- neither the body nor the writer of a run knows them. labelled_ns is the wall clock of their last change, 0 for none.
ALTER TABLE run ADD COLUMN labelled_ns INTEGER NOT NULL DEFAULT 0;
ALTER TABLE run ADD COLUMN tags TEXT NOT NULL DEFAULT '';
ALTER TABLE run ADD COLUMN remark TEXT NOT NULL DEFAULT '';

CREATE INDEX run_started ON run (started);
CREATE INDEX run_experiment ON run (experiment) WHERE experiment IS NOT NULL;
CREATE INDEX run_labelled ON run (labelled_ns) WHERE labelled_ns > 0;
CREATE INDEX run_tags ON run (tags) WHERE tags <> '';
-- What lists choose from, and the runs in progress.
CREATE INDEX run_model ON run (model);
CREATE INDEX run_load ON run (workload, arrival, concurrency);
CREATE INDEX run_running ON run (id) WHERE status = 'running';

-- The whole run: trace.Run as JSON.
CREATE TABLE run_body (
	run_id TEXT PRIMARY KEY REFERENCES run (id) ON DELETE CASCADE,
	body   TEXT NOT NULL
) STRICT;

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
ALTER TABLE record ADD COLUMN stamps TEXT NOT NULL DEFAULT ''; -- whose instants the chunks have (trace.Stamps)
ALTER TABLE record ADD COLUMN tenant TEXT NOT NULL DEFAULT '';
ALTER TABLE record ADD COLUMN session TEXT NOT NULL DEFAULT '';
ALTER TABLE record ADD COLUMN turn INTEGER NOT NULL DEFAULT 0; -- its place in a conversation
ALTER TABLE record ADD COLUMN vision_tokens INTEGER NOT NULL DEFAULT 0;
ALTER TABLE record ADD COLUMN cached_from TEXT NOT NULL DEFAULT ''; -- tokens by tier of the cache (JSON)
ALTER TABLE record ADD COLUMN accept_length REAL NOT NULL DEFAULT 0; -- tokens a step of speculative decoding
ALTER TABLE record ADD COLUMN asides INTEGER NOT NULL DEFAULT 0; -- lines of the stream that were no data
ALTER TABLE record ADD COLUMN inputs INTEGER NOT NULL DEFAULT 0; -- texts that it had embedded or scored
ALTER TABLE record ADD COLUMN audio_s REAL NOT NULL DEFAULT 0;
ALTER TABLE record ADD COLUMN retokenized INTEGER NOT NULL DEFAULT 0; -- tokens of the answer by the tokenizer
-- Numbers the records of a run in the order of their commits, from 1.
ALTER TABLE record ADD COLUMN seq INTEGER;
-- Whether a request was sent twice, since its first connection was closed without an answer, and when it left first.
ALTER TABLE record ADD COLUMN resent INTEGER NOT NULL DEFAULT 0;
ALTER TABLE record ADD COLUMN first_sent_ns INTEGER NOT NULL DEFAULT 0;

CREATE INDEX record_seq ON record (run_id, coalesce(seq, idx + 1));

-- The progress of a run at each flush (trace.Snapshot); instants as in record.
CREATE TABLE snapshot (
	run_id   TEXT NOT NULL REFERENCES run (id) ON DELETE CASCADE,
	at_ns    INTEGER NOT NULL,
	released INTEGER NOT NULL,
	done     INTEGER NOT NULL,
	failed   INTEGER NOT NULL,
	tokens   INTEGER NOT NULL,
	PRIMARY KEY (run_id, at_ns)
) STRICT, WITHOUT ROWID;

-- The figures of a run by a definition in one of its versions. A row of computed says
-- that they are known, even if there are none; any change of the run removes it.
CREATE TABLE computed (
	run_id     TEXT NOT NULL REFERENCES run (id) ON DELETE CASCADE,
	definition TEXT NOT NULL,
	version    TEXT NOT NULL,
	PRIMARY KEY (run_id, definition, version)
) STRICT, WITHOUT ROWID;

CREATE TABLE figure (
	run_id     TEXT NOT NULL,
	definition TEXT NOT NULL,
	version    TEXT NOT NULL,
	place      INTEGER NOT NULL, -- in their order, from 0
	name       TEXT NOT NULL,
	value      REAL, -- SI; NULL is not a number
	step       REAL NOT NULL,
	PRIMARY KEY (run_id, definition, version, place),
	FOREIGN KEY (run_id, definition, version) REFERENCES computed ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

-- The figures that lists show and sort by (listed in page.go).
CREATE INDEX figure_listed ON figure (run_id, definition, version, name, value)
	WHERE name IN ('ttft.mean', 'ttft.p99', 'tpot.mean', 'itl.p99', 'throughput.output', 'throughput.requests');

-- An experiment: many runs, whose rows have its name. body is JSON of package experiment:
-- its file, and what became of each leg. beat_ns is the wall clock of its last change.
CREATE TABLE experiment (
	name    TEXT PRIMARY KEY,
	status  TEXT NOT NULL,
	started INTEGER NOT NULL, -- Unix nanoseconds
	beat_ns INTEGER NOT NULL, -- Unix nanoseconds
	body    TEXT NOT NULL
) STRICT;

-- The samples of a run (package telemetry). body of a source is telemetry.Source as
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

-- A search: a sweep, or a search for a capacity, whose runs have its name as their experiment.
-- body is JSON: its settings and results. beat_ns is the wall clock of its
-- last change, or of the last sign of life of its process.
CREATE TABLE search (
	name    TEXT PRIMARY KEY,
	kind    TEXT NOT NULL, -- sweep, capacity
	status  TEXT NOT NULL, -- as of a run
	started INTEGER NOT NULL, -- Unix nanoseconds
	beat_ns INTEGER NOT NULL, -- Unix nanoseconds
	command TEXT NOT NULL, -- the words of the command line, as JSON, secrets masked
	body    TEXT NOT NULL
) STRICT;
