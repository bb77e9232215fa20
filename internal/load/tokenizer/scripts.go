package tokenizer

// unicodeScripts splits where the script changes. Spaces and unassigned characters go with
// the character before them; at the beginning of a text they are dropped, as by the library.
type unicodeScripts struct{}

func (unicodeScripts) split(dst []string, text string, s *scratch) []string {
	start, last := -1, Neutral
	for i, r := range text {
		script := ScriptOf(r)
		if script == Neutral || script == last {
			continue
		}
		if start >= 0 {
			dst = append(dst, text[start:i])
		}
		start, last = i, script
	}
	if start != 0 {
		s.first = false
	}
	if start < 0 {
		return dst
	}
	return append(dst, text[start:])
}
