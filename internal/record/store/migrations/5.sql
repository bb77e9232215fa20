-- Whether a request was sent twice, since its first connection was closed without an
-- answer, and when it left first; 0 if it left once.
ALTER TABLE record ADD COLUMN resent INTEGER NOT NULL DEFAULT 0;
ALTER TABLE record ADD COLUMN first_sent_ns INTEGER NOT NULL DEFAULT 0;
