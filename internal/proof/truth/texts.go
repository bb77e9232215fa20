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

// A script gives the tokens of an answer, over and over. Answers start in different
// places, so that the events of a burst are not all alike.
type script struct{ next uint64 }

func newScript(arrival uint64) *script { return &script{arrival * 7} }

// Next is the text of the next token.
func (s *script) Next() string {
	t := texts[s.next%uint64(len(texts))]
	s.next++
	return t
}

// ID is that of the token that Next gave last.
func (s *script) ID() int32 { return int32((s.next - 1) % uint64(len(texts))) }
