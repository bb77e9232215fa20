-- A list of runs reads the columns of run and nothing else: neither records nor the
-- whole of a run, which stands in run_body (trace.Run as JSON). workload and arrival
-- are JSON values of their own. records and failed count what is in record;
-- reported_failed is what another tool said of its run, NULL if nothing. A run of an
-- experiment has experiment, block and leg, and server_start if the experiment started
-- its server.
CREATE TABLE run_body (
	run_id TEXT PRIMARY KEY REFERENCES run (id) ON DELETE CASCADE,
	body   TEXT NOT NULL
) STRICT;
INSERT INTO run_body SELECT id, body FROM run;

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
CREATE INDEX run_experiment ON run (experiment) WHERE experiment IS NOT NULL;

-- A damaged body leaves the defaults.
UPDATE run SET
	kind = coalesce(body ->> '$.kind', ''),
	validity = coalesce(body ->> '$.verdict.validity', ''),
	dialect = coalesce(body ->> '$.plan.dialect', ''),
	arrival = json_quote(coalesce(body ->> '$.plan.arrival', '')),
	requests = coalesce(CAST(body ->> '$.plan.requests' AS INTEGER), 0),
	concurrency = coalesce(CAST(body ->> '$.plan.concurrency' AS INTEGER), 0),
	rate = coalesce(CAST(body ->> '$.plan.rate' AS REAL), 0),
	reported_failed = (SELECT CAST(value ->> '$.value' AS INTEGER) FROM json_each(body, '$.origin.figures') WHERE value ->> '$.name' = 'requests.failed')
	WHERE json_valid(body);
UPDATE run SET workload = json_quote(workload);
UPDATE run SET records = c.records, failed = c.failed
	FROM (SELECT run_id, count(*) AS records, sum(class <> '') AS failed FROM record GROUP BY run_id) AS c
	WHERE c.run_id = run.id;
ALTER TABLE run DROP COLUMN body;

-- seq numbers the records of a run in the order of their commits, from 1. Those stored
-- before have none and count in the order of the workload.
ALTER TABLE record ADD COLUMN seq INTEGER;
CREATE INDEX record_seq ON record (run_id, coalesce(seq, idx + 1));

-- How far a run had come at each flush (trace.Snapshot); instants as in record.
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
