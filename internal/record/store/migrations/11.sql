-- What was odd about an answer (JSON): several choices, events that vLLM's client cannot read,
-- a member that Pitot does not know, tokens that its text cannot hold.
ALTER TABLE record ADD COLUMN quirks TEXT NOT NULL DEFAULT '';
