// Package secret finds texts that must not be repeated: API keys, credentials, passwords.
//
// There are two ways to know one. A value that Pitot was given as a secret is known: it is in a Set, which hides it
// in everything from outside before that is stored or shown, also as it looks within a URL, JSON, HTML or base64. A
// value in a foreign text is guessed by its context: Mask hides what follows a name like api_key, what begins as
// services begin their keys, and the user of a URL. Where both meet, as in a command line, Find gives the guesses
// to the Set.
//
// A value that is too short or too common to be a secret is not searched for, because that
// would hide unrelated text: see Worth.
package secret

import "strings"

// Mark replaces a hidden secret.
const Mark = "***"

// shortest is the length of the shortest secret, in bytes.
const shortest = 6

// Worth reports whether a value is searched for. One is not if it
//
//   - has fewer than 6 bytes;
//   - is a number of fewer than 12 digits, or one character over and over;
//   - is a placeholder for servers without a key, such as EMPTY or none, or a word of
//     Pitot's own records, such as completions;
//   - is a special token of a model, such as <|im_end|>.
func Worth(value string) bool {
	switch {
	case len(value) < shortest, strings.Trim(value, value[:1]) == "", strings.Contains(value, Mark):
		return false
	case len(value) < 12 && strings.Trim(value, "0123456789.-+") == "":
		return false
	case value[0] == '<' && value[len(value)-1] == '>':
		return false
	}
	return !common[strings.ToLower(value)]
}

// common are placeholders and words of the records.
var common = func() map[string]bool {
	all := map[string]bool{}
	for word := range strings.FieldsSeq(`
		anything api-key api_key apikey bearer changeme dummy dummy-key empty example fake-key lm-studio localhost my-key no-key nokey
		none not-needed notneeded not_needed null ollama password placeholder replace-me secret sk-dummy sk-no-key-required string test-key testing
		token token-abc123 undefined unused your-api-key your_api_key
		chat completions embeddings generate imported length measured messages nethttp pooling random rerank responses server sglang
		simulated stream tokenizer transcription`) {
		all[word] = true
	}
	return all
}()
