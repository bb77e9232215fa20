package endpoint

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// A delta is the content of one event or of one unstreamed answer.
type delta struct {
	token  bool // it belongs to the answer: for OpenAI, its choices are not empty
	kind   trace.Kind
	text   string // visible text
	hidden string // reasoning, and the arguments of tool calls
	finish string
	used   bool // usage is there
	usage  trace.Usage
	err    string // the server's error message
	last   bool   // nothing of the answer follows

	bytes          int    // of output, as it stands in the event
	choices        int    // how many answers there are, 0 for one
	unread         string // a member that holds text and is not known
	strays         bool   // vLLM's client cannot read it
	usageElsewhere bool   // usage stands where others do not look

	// raw is the visible text, as it stands between its quotes, where that is all there is, and thought a thought; of a
	// protocol that repeats its text all of the answer so far, of servers that repeat it indeed.
	raw, thought []byte

	pieces []fragment        // of all forms but the usual
	tokens int               // that it carries, where the protocol says so without usage
	accept float64           // tokens a step of speculative decoding
	tiers  *trace.CacheTiers // where cached tokens came from, if that is reported next to usage
	server *trace.ServerTimes
}

var errNotJSON = errors.New("not a JSON object")

// object reads data that must be a JSON object.
func object(data []byte) (gjson.Result, error) {
	root, err := anyJSON(data)
	if err == nil && !root.IsObject() {
		err = fmt.Errorf("%w: %s", errNotJSON, begin(data))
	}
	return root, err
}

func anyJSON(data []byte) (gjson.Result, error) {
	if err := plan.Check(data); err != nil {
		return gjson.Result{}, err
	}
	if !gjson.ValidBytes(data) {
		return gjson.Result{}, fmt.Errorf("%w: %s", errNotJSON, begin(data))
	}
	return gjson.ParseBytes(data), nil
}

// begin is the beginning of data, quoted; data may be too large to quote all of it.
func begin(data []byte) string { return fmt.Sprintf("%.200q", data[:min(len(data), 1000)]) }

// of decodes an event or an unstreamed answer that is a JSON object.
func of(read func(root gjson.Result) delta) func(data []byte) (delta, error) {
	return func(data []byte) (delta, error) {
		root, err := object(data)
		if err != nil {
			return delta{}, err
		}
		return read(root), nil
	}
}

// The forms of OpenAI's two older protocols, and of those that took after them.
func completion(root gjson.Result) delta { return openAI(Completions, false, root) }
func chatEvent(root gjson.Result) delta  { return openAI(Chat, false, root) }
func chatAnswer(root gjson.Result) delta { return openAI(Chat, true, root) }

// openAI reads an event of a stream, or with whole an unstreamed answer.
func openAI(p Protocol, whole bool, root gjson.Result) delta {
	d := delta{err: serverError(root)}
	d.use(openAICounts, root.Get("usage"))
	d.tiers = tiers(root.Get("sglext.cached_tokens_details"))
	d.server = serverTimes(root.Get("metrics"))
	choice := root.Get("choices.0")
	if d.usage.Completion == 0 {
		d.useOtherUsage(root, choice)
	}
	if !choice.Exists() {
		if d.err == "" && !d.used {
			d.err = strayError(root)
		}
		return d
	}
	d.token = true
	d.several(choice.Get("index"), int(root.Get("choices.#").Int()))
	d.finished(choice.Get("finish_reason"))
	d.err = cmp.Or(d.err, serverError(choice))
	hasText := false
	if p == Completions {
		hasText = d.add(choice.Get("text"), trace.Text)
		d.unread = unknownIn(choice)
	} else {
		hasText = d.message(choice, whole)
	}
	if !hasText {
		d.kind |= trace.Bare
	}
	return d
}

// serverTimes are those of vLLM's metrics of a request, nil if they are not there.
func serverTimes(m gjson.Result) *trace.ServerTimes {
	if !m.IsObject() {
		return nil
	}
	seconds := func(name string) *float64 {
		ms := m.Get(name)
		if ms.Type != gjson.Number || !(math.Abs(ms.Num) <= trace.MaxCount) {
			return nil
		}
		s := ms.Num / 1000
		return &s
	}
	return &trace.ServerTimes{Queue: seconds("queue_time_ms"), TTFT: seconds("time_to_first_token_ms")}
}

// finished notes a finish reason, if there is one.
func (d *delta) finished(reason gjson.Result) {
	if reason.Type == gjson.String && reason.Str != "" {
		d.finish = reason.Str
		d.kind |= trace.Finish
	}
}

// add adds the text of a field and tells whether the field is there; it may be
// empty.
func (d *delta) add(field gjson.Result, kind trace.Kind) bool {
	if field.Type != gjson.String {
		return false
	}
	d.pieces = append(d.pieces, fragment{partOf(kind), field.Str})
	if field.Str == "" {
		return true
	}
	d.kind |= kind
	d.bytes += len(field.Raw) - 2
	if kind == trace.Text {
		d.text += field.Str
	} else {
		d.hidden += field.Str
	}
	return true
}

// call adds a part of a function call.
func (d *delta) call(function gjson.Result) bool {
	d.kind |= trace.ToolCall
	part := trace.ToolNamePart
	for _, name := range []string{"name", "arguments", "input"} {
		text := function.Get(name).String() // arguments are text, or JSON
		d.hidden += text
		d.pieces = append(d.pieces, fragment{part, text})
		part = trace.ToolInputPart
	}
	return true
}

// counts are the names that a protocol has for the numbers of usage; "" for those that
// it does not tell.
type counts struct{ prompt, completion, cached, reasoning string }

var openAICounts = &counts{
	"prompt_tokens", "completion_tokens", "prompt_tokens_details.cached_tokens",
	"completion_tokens_details.reasoning_tokens",
}

// of reads them.
func (c *counts) of(u gjson.Result) trace.Usage {
	n := func(name string) int {
		if name == "" {
			return 0
		}
		return integerOf(u.Get(name))
	}
	usage := trace.Usage{Prompt: n(c.prompt), Completion: n(c.completion), Reasoning: n(c.reasoning), At: trace.Never}
	if c.cached != "" {
		cached := u.Get(c.cached)
		usage.Cached, usage.CachedReported = integerOf(cached), cached.Exists()
	}
	if usage.Reasoning > 0 && n("total_tokens") == usage.Prompt+usage.Completion+usage.Reasoning {
		usage.Reasoning = 0 // some servers do not count it in the completion
	}
	return usage
}

// use takes the counts of an object of usage, if it is there.
func (d *delta) use(c *counts, u gjson.Result) {
	if u.IsObject() {
		d.usage, d.used = c.of(u), true
	}
}

// useOtherUsage takes the counts of usage where the clients of vLLM and SGLang do not look: in a
// choice, in Groq's own object, under the names of OpenAI's newer protocol.
func (d *delta) useOtherUsage(root, choice gjson.Result) {
	was := *d
	d.use(openAICounts, firstOf(choice, "usage"))
	if d.usage.Completion == 0 {
		d.use(openAICounts, root.Get("x_groq.usage"))
	}
	if d.usage.Completion == 0 {
		d.use(&counts{"input_tokens", "output_tokens", "", ""}, root.Get("usage"))
	}
	if d.usageElsewhere = d.usage.Completion != 0; !d.usageElsewhere {
		d.usage, d.used = was.usage, was.used
	}
}

// serverError is the message of an error object: {"error": {"message": ...}},
// {"error": "..."}, or {"object": "error", "message": ...}.
func serverError(root gjson.Result) string {
	e := root.Get("error")
	switch {
	case e.IsObject():
		if m := e.Get("message"); m.Exists() {
			return m.String()
		}
		return e.Raw
	case e.Exists() && e.Type != gjson.Null && e.Type != gjson.False:
		return e.String()
	case root.Get("object").Str == "error":
		return root.Get("message").String()
	}
	return ""
}

// The names under which servers put the words of an error: those that say that it is one, and
// those that anything may have.
var (
	errorNames = []string{"detail", "errors", "error_message", "error_msg"}
	wordNames  = []string{"message", "msg"}
)

// strayError are the words of an error in an event that belongs to no answer: it says that it is one,
// or has a code and words.
func strayError(root gjson.Result) string {
	words := firstOf(root, errorNames...)
	code := integerOf(firstOf(root, "code", "status_code", "status"))
	kind := strings.ToLower(root.Get("type").Str + root.Get("status").Str)
	failed := code >= http.StatusBadRequest || strings.Contains(kind, "error") || strings.Contains(kind, "fail") ||
		root.Get("success").Type == gjson.False
	if !truthy(words) && failed {
		words = firstOf(root, append(wordNames, "type", "status")...)
	}
	if !truthy(words) {
		return ""
	}
	return words.String()
}

// errorEvent are the words of data in an event that is an error by its name.
func errorEvent(data []byte) string {
	root, err := object(data)
	if err != nil {
		return string(data)
	}
	return cmp.Or(serverError(root), strayError(root), firstOf(root, wordNames...).String(), root.Raw)
}
