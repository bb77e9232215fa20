-- Whose request it was, its place in a conversation, the tokens of media, and what the
-- server said beyond usage: from which tier cached tokens came (JSON), how many tokens a
-- step of speculative decoding gave, and how many lines of the stream were no data. How
-- many texts it had embedded or scored, and how long its sound is. How many tokens the
-- text of the answer has by the tokenizer, where that was asked for.
ALTER TABLE record ADD COLUMN tenant TEXT NOT NULL DEFAULT '';
ALTER TABLE record ADD COLUMN session TEXT NOT NULL DEFAULT '';
ALTER TABLE record ADD COLUMN turn INTEGER NOT NULL DEFAULT 0;
ALTER TABLE record ADD COLUMN vision_tokens INTEGER NOT NULL DEFAULT 0;
ALTER TABLE record ADD COLUMN cached_from TEXT NOT NULL DEFAULT '';
ALTER TABLE record ADD COLUMN accept_length REAL NOT NULL DEFAULT 0;
ALTER TABLE record ADD COLUMN asides INTEGER NOT NULL DEFAULT 0;
ALTER TABLE record ADD COLUMN inputs INTEGER NOT NULL DEFAULT 0;
ALTER TABLE record ADD COLUMN audio_s REAL NOT NULL DEFAULT 0;
ALTER TABLE record ADD COLUMN retokenized INTEGER NOT NULL DEFAULT 0;
