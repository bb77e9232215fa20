-- Records of a run in columns (trace.Block): a block of few for each flush, and these are joined. seq is the number of
-- the first record in the order of the commits, the others follow; stores of version 13 and before have records
-- in record, the numbers of which come before.
CREATE TABLE block (
	run_id  TEXT NOT NULL REFERENCES run (id) ON DELETE CASCADE,
	seq     INTEGER NOT NULL,
	records INTEGER NOT NULL,
	low     INTEGER NOT NULL, -- the smallest index of a record, and the largest
	high    INTEGER NOT NULL,
	lost    INTEGER NOT NULL, -- records of lost workers
	tokens  INTEGER NOT NULL, -- output tokens
	count   INTEGER NOT NULL, -- chunks
	bytes   INTEGER NOT NULL, -- of texts
	heads   BLOB NOT NULL,
	chunks  BLOB NOT NULL,
	texts   BLOB NOT NULL
) STRICT;
-- The directory of a run: to count, and to find a block, no block is read.
CREATE UNIQUE INDEX block_directory ON block (run_id, seq, records, low, high, lost, tokens, count, bytes);
