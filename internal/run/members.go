package run

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/sys/lazy"
)

// refuses finds the words with which servers refuse a member of a body for being there, and not for its value:
// pydantic's, serde's, JSON Schema's, those of OpenAI and of servers like it.
var refuses = lazy.Regexp(`(?i)\b(extra|forbid(den)?|permitted|allowed|(un)?support(s|ed)?|unknown|unrecogni[sz]ed|unexpected|additional|invalid (parameter|field|argument|property))\b`)

// proposes finds where they go on with accepted values.
var proposes = lazy.Regexp("(?i)expected one of|did you mean|\\buse ['\"`]")

// needed are members without which a request asks nothing, or is answered otherwise than it is read.
var needed = []string{"model", "stream", "messages", "prompt", "input", "inputs", "input_ids", "text", "text_input", "query", "documents", "file"}

// without is the object that removes from every body the members that a server's error refuses, and their names;
// empty if it refuses none that a setting can remove.
func (x *execution) without(r *trace.Record) (body string, members []string) {
	words := r.Error
	if at := proposes.FindStringIndex(words); at != nil {
		words = words[:at[0]]
	}
	if x.foreign() || !refuses.MatchString(words) {
		return "", nil
	}
	var pairs []string
	for _, name := range x.members(words) {
		pairs, members = append(pairs, fmt.Sprintf("%q: null", name)), append(members, name)
		if name == "max_completion_tokens" {
			pairs = append(pairs, `"max_tokens": `+x.length())
		}
	}
	if pairs == nil {
		return "", nil
	}
	return "{" + strings.Join(pairs, ", ") + "}", members
}

// members are those that the requests of the run have, that words name and that a setting of the run can leave out.
func (x *execution) members(words string) (named []string) {
	small := x.small("", 1)
	encoded, err := x.client.Encode(&small)
	var sent, given map[string]json.RawMessage
	if err != nil || json.Unmarshal(encoded, &sent) != nil { // a form
		return nil
	}
	_ = json.Unmarshal(x.spec.Request.Body, &given) // an object, or nothing
	for name := range sent {
		word := regexp.MustCompile(`\b` + regexp.QuoteMeta(name) + `\b`)
		if _, own := given[name]; !own && !slices.Contains(needed, name) && word.MatchString(words) {
			named = append(named, name)
		}
	}
	slices.Sort(named)
	return named
}

// length is how long all answers may be, N where that differs.
func (x *execution) length() string {
	n := x.first().OutputTokens
	for all, i := x.Requests(), 0; i < all.N; i++ {
		if all.Brief(i).Output != n {
			return "N"
		}
	}
	return fmt.Sprint(n)
}

// noteRefused notes how to leave out members that the server refused.
func (x *execution) noteRefused(records []*trace.Record) {
	for _, r := range records {
		if r.Class == trace.HTTP || r.Class == trace.StreamError {
			if body, members := x.without(r); body != "" {
				x.note(membersRefused, "members", members, "body", body)
			}
			return
		}
	}
}
