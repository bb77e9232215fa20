package truth

// texts are those of the tokens an answer is made of, as they stand in JSON:
// plain words, and what a client may stumble over. Escaped and raw forms of one
// character both occur in the wild. A token's id is its place in the list.
var texts = [...]string{
	"The", " quick", " brown", " fox", `\n`, " jumps", ` caf\u00e9`, ` \"so`,
	`\"`, " über", " den", ",", " 猫", " lazy", " dog", ".",
	`\n\n`, " a", " 🦀", ` tab\t`, ` back\\slash`, ` \ud83d\ude00`, " tokens", " per",
	" second", ":", " 42", " {", "}", " data", ` and\/or`, " end",
}

// text is the token at place i of the answer to arrival number n.
func text(n uint64, i int) string { return texts[token(n, i)] }

// token is its id. Answers start in different places, so that the events of a
// burst are not all alike.
func token(n uint64, i int) int { return int((n*7 + uint64(i)) % uint64(len(texts))) }
