-- How many tokens the text of an answer has by the tokenizer, where that was asked for.
ALTER TABLE record ADD COLUMN retokenized INTEGER NOT NULL DEFAULT 0;
