-- What the server said of its own time (JSON): in its queue, and from there to the first token.
ALTER TABLE record ADD COLUMN server_times TEXT NOT NULL DEFAULT '';
