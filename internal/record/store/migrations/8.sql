-- What people wrote about a run (trace.Labels): tags, one a line in alphabetical order, and a remark.
-- No part of what was measured: neither the body nor the writer of a run knows them. labelled_ns is
-- the wall clock of their last change, 0 if there was none.
ALTER TABLE run ADD COLUMN labelled_ns INTEGER NOT NULL DEFAULT 0;
ALTER TABLE run ADD COLUMN tags TEXT NOT NULL DEFAULT '';
ALTER TABLE run ADD COLUMN remark TEXT NOT NULL DEFAULT '';
CREATE INDEX run_labelled ON run (labelled_ns) WHERE labelled_ns > 0;
CREATE INDEX run_tags ON run (tags) WHERE tags <> '';

-- What lists choose from, and the runs under way.
CREATE INDEX run_model ON run (model);
CREATE INDEX run_load ON run (workload, arrival, concurrency);
CREATE INDEX run_running ON run (id) WHERE status = 'running';

-- The figures that lists show and sort by (listed in page.go).
CREATE INDEX figure_listed ON figure (run_id, definition, version, name, value)
	WHERE name IN ('ttft.mean', 'ttft.p99', 'tpot.mean', 'itl.p99', 'throughput.output', 'throughput.requests');
