-- Whose instants a record's chunks have (trace.Stamps), and what the pitot that made
-- a run thought of it (trace.Validity). Empty: not said, as of what was stored before.
ALTER TABLE record ADD COLUMN stamps TEXT NOT NULL DEFAULT '';
ALTER TABLE run ADD COLUMN validity TEXT NOT NULL DEFAULT '';
