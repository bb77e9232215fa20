-- How many texts a request had embedded or scored, and how long its sound is.
ALTER TABLE record ADD COLUMN inputs INTEGER NOT NULL DEFAULT 0;
ALTER TABLE record ADD COLUMN audio_s REAL NOT NULL DEFAULT 0;
-- How many tokens the text of an answer has by the tokenizer, where that was asked for.
ALTER TABLE record ADD COLUMN retokenized INTEGER NOT NULL DEFAULT 0;
