package streams

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/wire/endpoint"
)

// rows are all of the table.
func rows() []row {
	all := slices.Concat(completions(), counts(), hidden(), deltas(), errs(), ends(), arrivals())
	for i := range all {
		w := &all[i]
		w.asked, w.protocol, w.right = cmp.Or(w.asked, 16), cmp.Or(w.protocol, endpoint.Chat), cmp.Or(w.right, "all")
	}
	return all
}

// An answer of four tokens, 20 ms apart.
var (
	four   = answer{"", 4, 20, 20}
	spoken = every(20, times(4, says(" a"))...)
)

// alike is a row of which all three tools say the same.
func alike(name string, want answer, pieces []piece) row {
	return row{name: name, own: want, vllm: want, sglang: want, pieces: pieces}
}

// completions are the rows of the older protocol, whose usage in an event of its own
// sglang.bench_serving cannot read, as it does not ask for it.
func completions() []row {
	says := func(words, more string) string {
		return data(`{"choices":[{"index":0,"text":%q,"finish_reason":null}]%s}`, words, more)
	}
	const usage = `,"usage":{"prompt_tokens":9,"completion_tokens":%s}`
	texts := every(20, times(4, says(" a", ""))...)
	beyond := alike("completions: the limit is not read, four tokens a chunk", answer{"", 96, 20, 460. / 95}, with(every(20, times(24, says(" a a a a", ""))...), counted("96"), done))
	beyond.says, beyond.never = []string{"longer than asked for"}, []string{"max_completion_tokens"}
	closing := alike("completions: usage in the last text", four, with(every(20, says(" a", ""), says(" a", ""), says(" a", ""), says(" a", fmt.Sprintf(usage, "4"))), done))
	special := alike("completions: tokens without text", answer{"", 4, 20, 20}, with(every(20, times(4, says("", ""))...), counted("4"), done))
	inline := alike("completions: an error in the stream", answer{}, with(texts, data(`{"error":"engine died"}`), counted("4"), done))
	inline.own, inline.says = answer{class: trace.StreamError}, []string{"engine died"}
	inline.vllm = four
	out := []row{alike("completions: usage in an event of its own", four, with(texts, counted("4"), done)), beyond, special, inline}
	for i := range out {
		out[i].sglang, out[i].right = failed, "pitot, vllm"
	}
	out[3].right = "pitot, sglang" // which fails at what it cannot read
	for i := range out {
		out[i].protocol = endpoint.Completions
	}
	closing.protocol = endpoint.Completions
	return append(out, closing)
}

// counts are the ways in which tokens are counted, or are not.
func counts() []row {
	const long, cannot = "longer than asked for", "that cannot be"
	chunks := every(20, times(24, says(" a a a a"))...)
	most := answer{"", 96, 20, 460. / 95}
	beyond := alike("count: the limit is not read, four tokens a chunk", most, with(chunks, counted("96"), done))
	beyond.says, beyond.never = []string{long, "may not read max_completion_tokens", `'{"max_tokens": N}'`}, []string{cannot}
	whole := row{
		name: "count: the limit is not read, in one piece", one: true, own: answer{"", 96, 0, 0}, says: []string{long}, vllm: answer{"", 96, 100, 0}, right: "pitot",
		sglang: answer{"", 96, 100, 0},
		pieces: []piece{{100, fmt.Sprintf(`{"choices":[{"index":0,"message":{"role":"assistant","content":%q},"finish_reason":"length"}],"usage":{"prompt_tokens":9,"completion_tokens":96}}`, strings.Repeat(" a", 96))}},
	}
	marked := alike("count: the end of the text counts too", answer{"", 17, 20, 20. * 15 / 16}, with(every(20, times(16, says(" a"))...), counted("17"), done))
	marked.says, marked.never = []string{long}, []string{"may not read"}
	out := []row{alike("count: usage in an event of its own", four, with(spoken, finish("stop"), counted("4"), done)), beyond, whole, marked}
	for _, n := range []string{"-7", "1e999", "600", "99999999999"} {
		count := map[string]int{"-7": -7, "1e999": trace.MaxCount, "600": 600, "99999999999": 99999999999}[n]
		foreign := answer{"", count, 20, max(0, 60/float64(count-1))}
		out = append(out, row{
			name: "count: cannot be: " + n, own: four, vllm: foreign, sglang: foreign, right: "pitot", says: []string{cannot},
			doubts: []plan.Code{"verdict.tokens-lost"}, pieces: with(spoken, finish("stop"), counted(n), done),
		})
	}
	for name, last := range map[string]string{
		"in the last chunk":   data(`{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":8}}`),
		"twice, zeros behind": counted("8") + counted("0"),
		"as a text":           counted(`"8"`),
		"with a fraction":     counted("8.0"),
		"in newer names":      data(`{"choices":[],"usage":{"input_tokens":9,"output_tokens":8}}`),
		"in the choice":       data(`{"choices":[{"index":0,"delta":{},"finish_reason":"stop","usage":{"prompt_tokens":9,"completion_tokens":8}}]}`),
		"under x_groq":        data(`{"choices":[{"index":0,"delta":{}}],"x_groq":{"usage":{"prompt_tokens":9,"completion_tokens":8}}}`),
	} {
		eight := answer{"", 8, 20, 60. / 7}
		w := alike("count: "+name, eight, with(spoken, last, done))
		if w.sglang = eight; !slices.Contains([]string{"in the last chunk", "twice, zeros behind", "as a text", "with a fraction"}, name) {
			w.sglang, w.right = answer{"", 16, 20, 60. / 15}, "pitot, vllm" // what was asked for
		}
		out = append(out, w)
	}
	none := row{
		name: "count: none", own: four, vllm: four, sglang: answer{"", 16, 20, 4}, right: "pitot, vllm", says: []string{"one token per chunk is assumed"},
		pieces: with(spoken, finish("stop"), done),
	}
	several := alike("count: of two answers in one stream", answer{"", 8, 20, 60. / 7}, with(every(20, times(4, data(`{"choices":[{"index":0,"delta":{"content":" a"}}]}`)+data(`{"choices":[{"index":1,"delta":{"content":" b"}}]}`))...), counted("8"), done))
	several.asked, several.says, several.never, several.doubts = 4, []string{"up to 2 answers in one stream"}, []string{long, "may not read", "shorter"}, []plan.Code{"verdict.merged-somewhere"}
	short := alike("count: short, and ended by itself", four, with(spoken, finish("stop"), counted("4"), done))
	short.says, short.never = []string{"shorter than asked for"}, []string{"may not read"}
	limited := alike("count: short, and at a limit", four, with(spoken, finish("length"), counted("4"), done))
	limited.says = []string{"shorter than asked for", "may not read max_completion_tokens"}
	return append(out, none, several, short, limited)
}

// hidden are tokens that are counted and never come.
func hidden() []row {
	const told = `{"prompt_tokens":9,"completion_tokens":%d,"completion_tokens_details":{"reasoning_tokens":%d}%s}`
	usage := func(tokens, reasoning int, more string) string {
		return data(`{"choices":[],"usage":`+told+`}`, tokens, reasoning, more)
	}
	twenty := append([]piece{{600, says(" a")}}, every(20, times(19, says(" a"))...)...)
	foreign := answer{"", 80, 600, 380. / 79}
	thought := slices.Concat(every(20, times(3, delta(`"reasoning":" r"`))...), every(20, times(3, says(" a"))...))
	return []row{
		{
			name: "hidden: reasoning", asked: 100, own: answer{"", 80, 600, 20}, vllm: foreign, sglang: foreign, right: "pitot",
			says: []string{"120 of the 160 output tokens are reasoning that never came"}, never: []string{"may not read", "a chunk carries"},
			pieces: with(twenty, finish("stop"), usage(80, 60, ""), done),
		},
		alike("hidden: reasoning beside the count", answer{"", 20, 600, 20}, with(twenty, finish("stop"), usage(20, 15, `,"total_tokens":44`), done)),
		alike("hidden: reasoning larger than the count", answer{"", 20, 600, 20}, with(twenty, finish("stop"), usage(20, 60, ""), done)),
		{
			name: "hidden: not told", asked: 100, own: foreign, vllm: foreign, sglang: foreign, right: "all", doubts: []plan.Code{"verdict.tokens-unseen"},
			pieces: with(twenty, finish("stop"), counted("80"), done),
		},
		{
			name: "hidden: none, the reasoning came", own: answer{"", 6, 20, 20}, vllm: answer{"", 6, 20, 20}, sglang: answer{"", 6, 20, 20}, right: "all", never: []string{"never came"},
			pieces: with(thought, finish("stop"), usage(6, 3, ""), done),
		},
		{
			name: "hidden: encrypted", own: answer{"", 6, 80, 20}, vllm: answer{"", 6, 80, 8}, sglang: answer{"", 6, 80, 8}, right: "pitot",
			says:   []string{"6 of the 12 output tokens are reasoning that never came"},
			pieces: with(slices.Concat(every(20, times(3, delta(`"role":"assistant","content":"","reasoning_details":[{"type":"reasoning.encrypted","data":"AAAA"}]`))...), every(20, times(3, says(" a"))...)), finish("stop"), usage(6, 3, ""), done),
		},
	}
}

// deltas are the places in which output stands: three chunks in a form of its own, and three of
// plain text.
func deltas() (out []row) {
	six, late := answer{"", 6, 20, 20}, answer{"", 6, 80, 8}
	form := func(name, members string, v, s answer, doubts ...plan.Code) {
		w := row{
			name: "delta: " + name, own: six, vllm: v, sglang: s, doubts: doubts,
			pieces: with(slices.Concat(every(20, times(3, delta(members))...), every(20, times(3, says(" a"))...)), finish("stop"), counted("6"), done),
		}
		switch {
		case v == six && s == six:
		case v == six:
			w.right = "pitot, vllm"
		case s == six:
			w.right = "pitot, sglang"
		default:
			w.right = "pitot"
		}
		if len(doubts) > 0 {
			w.own, w.right = late, "all" // none of them sees it, and Pitot says so
		}
		out = append(out, w)
	}
	form("reasoning", `"reasoning":" r"`, six, six)
	form("both names of reasoning", `"reasoning":" r","reasoning_content":" r","content":""`, six, six)
	form("tool calls", `"tool_calls":[{"index":0,"function":{"arguments":"{"}}]`, six, late)
	form("a function call", `"function_call":{"arguments":"{"}`, six, late)
	form("a role in each", `"role":"assistant","content":" a"`, six, six)
	form("an empty text", `"content":""`, six, late)
	form("reasoning details", `"role":"assistant","content":"","reasoning_details":[{"type":"reasoning.text","text":" r"}]`, late, late)
	form("summaries of reasoning", `"role":"assistant","content":"","reasoning_details":[{"type":"reasoning.summary","summary":" r"}]`, late, late)
	form("reasoning and its details", `"reasoning":" r","reasoning_details":[{"type":"reasoning.text","text":" r"}]`, six, six)
	form("thinking", `"thinking":" r"`, late, late)
	form("thinking blocks", `"role":"assistant","thinking_blocks":[{"type":"thinking","thinking":" r","signature":"s"}]`, late, late)
	form("parts", `"content":[{"type":"text","text":" r"}]`, failed, failed)
	form("parts with thinking", `"content":[{"type":"thinking","thinking":[{"type":"text","text":" r"}]}]`, failed, failed)
	form("a part", `"content":{"type":"output_text","text":" r"}`, failed, failed)
	form("a refusal", `"refusal":" r"`, late, late)
	form("audio", `"role":"assistant","audio":{"id":"x","transcript":" r"}`, late, late)
	form("audio without words", `"audio":{"id":"x","data":"AAAA"}`, late, late)
	form("images", `"content":null,"images":[{"type":"image_url","image_url":{"url":"data:,x"}}]`, late, late)
	form("an unknown member", `"role":"assistant","content":"","musings":" r"`, late, late, "verdict.output-unread")
	form("an unknown member with parts", `"musings":[{"text":" r"}]`, late, late, "verdict.output-unread")
	return append(out, quiet()...)
}

// quiet are members that are no output, with answers of four tokens: nothing is made of them.
func quiet() (out []row) {
	for name, members := range map[string]string{
		"a role":           `"role":"assistant"`,
		"nulls":            `"role":"assistant","content":null,"reasoning":null,"audio":null,"refusal":null,"function_call":null,"tool_calls":null`,
		"empty members":    `"role":"assistant","tool_calls":[],"annotations":[],"musings":"","more":{},"reasoning_details":[]`,
		"numbers":          `"role":"assistant","musings":7,"more":true,"scores":[1,2]`,
		"about the answer": `"role":"assistant","id":"x","name":"n","provider_specific_fields":{"a":"b"},"token_ids":[5],"annotations":[{"type":"url_citation","url":"u"}],"signature":"s"`,
	} {
		w := alike("quiet: "+name, four, with(append([]piece{{0, delta(members)}}, spoken...), finish("stop"), counted("4"), done))
		w.never = []string{"does not read"}
		out = append(out, w)
	}
	other := alike("quiet: a member of one event, four tokens a chunk", answer{"", 16, 20, 4}, with(append([]piece{{0, delta(`"role":"assistant","musings":"x"`)}}, every(20, times(4, says(" and so it went on"))...)...), counted("16"), done))
	each := alike("quiet: a member of every event, four tokens a chunk", answer{"", 16, 20, 4}, with(append([]piece{{0, delta(`"role":"assistant","musings":"x"`)}, {0, delta(`"musings":"x"`)}}, every(20, times(4, delta(`"content":" and so it went on","musings":"x"`))...)...), counted("16"), done))
	other.never, each.never = []string{"does not read"}, []string{"does not read"}
	return append(out, other, each)
}

// errs are the ways in which an error is told within a stream, after two tokens. vLLM's client
// takes the ones that it does not see for the end, and fails at what is no JSON.
func errs() (out []row) {
	const boom = "engine died"
	two := answer{"", 2, 20, 20}
	tell := func(name, event string, v, s answer) {
		for _, closing := range []string{done, ""} {
			w := row{
				name: "error: " + name, own: answer{class: trace.StreamError}, says: []string{boom}, vllm: v, sglang: s, right: "pitot",
				pieces: with(every(20, says(" a"), says(" a")), event, closing),
			}
			if w.sglang.tokens > 0 {
				w.sglang = answer{"", 16, 20, 20. / 15} // not counted: what was asked for
			}
			if v == failed && s == failed {
				w.right = "all"
			} else if v == failed {
				w.right = "pitot, vllm"
			}
			if closing == "" {
				w.name += ", without an end"
			}
			out = append(out, w)
		}
	}
	tell("an object", data(`{"error":{"message":%q,"code":500}}`, boom), two, two)
	tell("a text", data(`{"error":%q}`, boom), two, two)
	tell("by the object", data(`{"object":"error","message":%q,"code":500}`, boom), two, two)
	tell("by the type", data(`{"type":"error","message":%q}`, boom), two, two)
	tell("a code and words", data(`{"message":%q,"code":500}`, boom), two, two)
	tell("a status and words", data(`{"status":"error","message":%q}`, boom), two, two)
	tell("a detail", data(`{"detail":%q}`, boom), two, two)
	tell("a named event with an object", "event: error\n"+data(`{"error":{"message":%q}}`, boom), failed, failed)
	tell("a named event with JSON", "event: error\n"+data(`{"message":%q,"code":500}`, boom), failed, failed)
	tell("a named event with words", "event: error\n"+data(boom), failed, failed)
	tell("a named event with a comment", "event: error\n: "+boom+"\n\n", failed, failed)
	tell("an exception", "event: exception\n"+data(boom), failed, failed)
	tell("a field", `error: {"message":"`+boom+`"}`+"\n\n", failed, failed)
	tell("a line of JSON", `{"error":{"message":"`+boom+`"}}`+"\n\n", two, two)
	tell("of a choice", data(`{"choices":[{"index":0,"delta":{"role":"assistant"},"finish_reason":"error","error":{"message":%q}}]}`, boom), two, two)
	for _, status := range []int{429, 503} {
		out = append(out, row{
			name: fmt.Sprintf("error: shed with %d", status), status: status, header: "7", own: answer{class: trace.HTTP}, vllm: failed, sglang: failed,
			says: []string{"sheds load: 100 % of the requests (2)", "Retry-After: 7"}, pieces: []piece{{5, `{"error":{"message":"rate limit"}}`}},
		})
	}
	return out
}

// ends are the ways in which a stream ends, and the forms of its lines.
func ends() []row {
	unended := row{name: "end: none", own: answer{class: trace.Truncated}, vllm: four, sglang: answer{"", 16, 20, 4}, right: "pitot", pieces: spoken}
	cut := row{
		name: "end: within an event", own: answer{class: trace.Truncated}, vllm: four, sglang: failed, right: "pitot, sglang",
		pieces: with(spoken, `data: {"choices":[{"ind`),
	}
	lines := func(name string, v, s answer, right string, change func(string) string) row {
		w := row{name: "lines: " + name, own: four, vllm: v, sglang: s, right: right}
		for _, p := range with(spoken, finish("stop"), counted("4"), done) {
			w.pieces = append(w.pieces, piece{p.after, change(p.text)})
		}
		return w
	}
	replaced := func(from, to string) func(string) string {
		return func(s string) string { return strings.ReplaceAll(s, from, to) }
	}
	return []row{
		unended, cut,
		alike("end: a reason alone", four, with(spoken, counted("4"), finish("stop"))),
		alike("end: a marker alone", four, with(spoken, counted("4"), done)),
		alike("end: no line end", four, with(spoken, finish("stop"), counted("4"), "data: [DONE]")),
		lines("comments between", four, failed, "pitot, vllm", func(s string) string { return ": ping\n\n" + s }),
		lines("a comment in each event", failed, failed, "pitot", func(s string) string { return ":\n" + s }),
		lines("names of events", failed, failed, "pitot", func(s string) string { return "event: message\n" + s }),
		lines("numbers of events", failed, failed, "pitot", func(s string) string { return "id: 3\n" + s }),
		lines("no blank after the colon", failed, failed, "pitot", replaced("data: ", "data:")),
	}
}

// arrivals are the ways in which the chunks come, after 300 ms in all.
func arrivals() (out []row) {
	came := func(name string, chunks, tokens, parts int, doubts ...plan.Code) {
		w := alike("arrival: "+name, answer{}, nil)
		w.doubts = doubts
		each := chunks / parts
		for range parts {
			text := strings.Repeat(says(strings.Repeat(" a", max(1, tokens/chunks))), each)
			w.pieces = append(w.pieces, piece{300 / parts, text})
		}
		w.pieces = with(w.pieces, finish("stop"), counted(fmt.Sprint(tokens)), done)
		first, last := float64(300/parts), float64(300/parts*parts)
		want := answer{"", tokens, first, 0}
		if chunks > 1 && tokens > 1 {
			want.tpot = (last - first) / float64(tokens-1)
		}
		w.own, w.vllm, w.sglang = want, want, want
		out = append(out, w)
	}
	const whole, merged = "verdict.arrive-whole", "verdict.merged-somewhere"
	came("whole, in 16 chunks", 16, 16, 1, "verdict.held-back")
	came("whole, in three chunks", 3, 3, 1, whole, merged)
	came("whole, in three chunks of several tokens", 3, 12, 1, whole, merged)
	came("whole, in one chunk", 1, 16, 1, whole)
	came("in three reads of four chunks", 12, 12, 3, whole, merged)
	came("in two reads of eight chunks", 16, 16, 2, "verdict.held-back")
	came("one token", 1, 1, 1)
	came("two tokens at once", 1, 2, 1)
	came("four tokens a chunk", 4, 16, 4)
	came("few tokens, one by one", 3, 3, 3)
	fast := alike("arrival: fast after a long prompt", answer{"", 6, 300, 1}, with(append([]piece{{300, says(" a")}}, every(1, times(5, says(" a"))...)...), counted("6"), done))
	call := row{
		name: "arrival: a call that a parser held", asked: 64, own: answer{"", 41, 100, 20}, vllm: answer{"", 41, 100, 20}, sglang: answer{"", 41, 100, 20},
		says: []string{"a chunk carries 13.67 tokens"}, never: []string{"may not read"},
		pieces: with([]piece{{100, says("I")}, {400, delta(`"tool_calls":[{"index":0,"id":"c","function":{"name":"f","arguments":""}}]`)}, {400, delta(`"tool_calls":[{"index":0,"function":{"arguments":"{}"}}]`)}}, finish("tool_calls"), counted("41"), done),
	}
	return append(out, fast, call)
}

// A wording is how a protocol says an answer of 12 tokens.
type wording struct {
	begins, ends string
	event        func(i, tokens int) string
}

var wordings = map[endpoint.Protocol]wording{
	endpoint.Chat: {ends: finish("stop") + counted("12") + done, event: func(_, n int) string { return says(strings.Repeat(" a", n)) }},
	endpoint.Completions: {ends: counted("12") + done, event: func(_, n int) string {
		return data(`{"choices":[{"index":0,"text":%q}]}`, strings.Repeat(" a", n))
	}},
	endpoint.Generate: {ends: done, event: func(i, n int) string {
		return data(`{"text":%q,"meta_info":{"finish_reason":null,"prompt_tokens":9,"completion_tokens":%d}}`, strings.Repeat(" a", (i+1)*n), (i+1)*n)
	}},
	endpoint.Responses: {
		ends: data(`{"type":"response.completed","response":{"status":"completed","usage":{"input_tokens":9,"output_tokens":12}}}`),
		event: func(_, n int) string {
			return data(`{"type":"response.output_text.delta","delta":%q}`, strings.Repeat(" a", n))
		},
	},
	endpoint.Messages: {
		begins: data(`{"type":"message_start","message":{"usage":{"input_tokens":9,"output_tokens":1}}}`),
		ends:   data(`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":12}}`) + data(`{"type":"message_stop"}`),
		event: func(_, n int) string {
			return data(`{"type":"content_block_delta","delta":{"type":"text_delta","text":%q}}`, strings.Repeat(" a", n))
		},
	},
}
