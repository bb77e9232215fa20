-- What a run that has ended has in the other tables (tally.go), as JSON; empty of a run that has not, and of those stored
-- before. Fewer are lost.
ALTER TABLE run ADD COLUMN tally TEXT NOT NULL DEFAULT '';
