-- The marks of the answers of a block (trace.Marks), empty if there are none.
ALTER TABLE block ADD COLUMN marks BLOB NOT NULL DEFAULT x'';
-- The key under which answers are marked: one row, made when it is first needed.
CREATE TABLE mark_key (
	key BLOB NOT NULL
) STRICT;
