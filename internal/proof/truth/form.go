package truth

import (
	"encoding/json"
	"strconv"
)

// A form renders the events of one answer. What is the same in all of them is
// rendered once, so that an event is a few copies:
//
//	data: {"id":…,"model":…,"choices":[ ┃ {"index":0,"text":" ┃ The ┃ ","finish_reason":null…}] ┃ } ⏎⏎
//	└──────────── prefix ────────────┘ ┃ └───── open ──────┘ ┃ text ┃ └──────── close ────────┘
type form struct {
	dialect      dialect
	ask          ask
	arrival      uint64
	id           string // as JSON
	prefix, open []byte
	close, last  string
	seconds      float64 // from arrival to the last token, as planned: all that /generate tells of time

	// An event of /generate tells the answer from its beginning.
	shown, ids []byte
}

const (
	openCompletions  = `{"index":0,"text":"`
	closeCompletions = `","logprobs":null,"finish_reason":null,"stop_reason":null,"prompt_token_ids":null,"token_ids":null}]`
	openChat         = `{"index":0,"delta":{"content":"`
	closeChat        = `"},"logprobs":null,"finish_reason":null,"token_ids":null}]`
	roleChat         = `{"index":0,"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}]`
)

// newForm makes the form of the answer to a, which arrived as number n under an
// id.
func newForm(d dialect, a ask, n uint64, id, model string, created int64) form {
	f := form{dialect: d, ask: a, arrival: n, id: quote(id)}
	object, kind := "text_completion", "cmpl-"
	if d == chat {
		object, kind = "chat.completion.chunk", "chatcmpl-"
	}
	if !a.stream && d == chat {
		object = "chat.completion"
	}
	f.prefix = append(f.prefix, `{"id":`+quote(kind+id)+`,"object":"`+object+`","created":`...)
	f.prefix = strconv.AppendInt(f.prefix, created, 10)
	f.prefix = append(f.prefix, `,"model":`+quote(model)+`,"choices":[`...)
	if a.stream {
		f.prefix = append([]byte("data: "), f.prefix...)
	}
	f.open = append(append(f.open, f.prefix...), openCompletions...)
	f.close = closeCompletions
	f.last = `","logprobs":null,"finish_reason":"` + f.reason() + `","stop_reason":null,"prompt_token_ids":null,"token_ids":null}]`
	if d == chat {
		f.open = append(append(f.open[:0], f.prefix...), openChat...)
		f.close = closeChat
		f.last = `"},"logprobs":null,"finish_reason":"` + f.reason() + `","stop_reason":null,"token_ids":null}]`
	}
	return f
}

func quote(s string) string {
	b, _ := json.Marshal(s) // a string always can be
	return string(b)
}

// reason is why the answer ends.
func (f *form) reason() string {
	if f.ask.natural {
		return "stop"
	}
	return "length"
}

// event appends the event of the tokens from place i on to before place end.
func (f *form) event(dst []byte, i, end int) []byte {
	if f.dialect == generate {
		return append(f.generated(append(dst, "data: "...), i, end), "\n\n"...)
	}
	dst = append(dst, f.open...)
	for ; i < end; i++ {
		dst = append(dst, text(f.arrival, i)...)
	}
	if end == f.ask.tokens {
		dst = append(dst, f.last...)
	} else {
		dst = append(dst, f.close...)
	}
	if f.ask.continuous {
		dst = appendUsage(dst, f.ask.prompt, end)
	}
	return append(dst, "}\n\n"...)
}

// role appends the event that comes before the tokens of a chat.
func (f *form) role(dst []byte) []byte {
	dst = append(append(dst, f.prefix...), roleChat...)
	if f.ask.continuous {
		dst = appendUsage(dst, f.ask.prompt, 0)
	}
	return append(dst, `,"prompt_token_ids":null}`+"\n\n"...)
}

// usage appends the event that tells how many tokens there were.
func (f *form) usage(dst []byte) []byte {
	dst = append(append(dst, f.prefix...), ']')
	return append(appendUsage(dst, f.ask.prompt, f.ask.tokens), "}\n\n"...)
}

// appendUsage appends a usage as a further member of an object; the order of
// its fields is vLLM's.
func appendUsage(dst []byte, prompt, tokens int) []byte {
	dst = append(dst, `,"usage":{"prompt_tokens":`...)
	dst = strconv.AppendInt(dst, int64(prompt), 10)
	dst = append(dst, `,"total_tokens":`...)
	dst = strconv.AppendInt(dst, int64(prompt+tokens), 10)
	dst = append(dst, `,"completion_tokens":`...)
	dst = strconv.AppendInt(dst, int64(tokens), 10)
	return append(dst, '}')
}

// whole appends the answer that is no stream.
func (f *form) whole(dst []byte) []byte {
	if f.dialect == generate {
		return f.generated(dst, 0, f.ask.tokens)
	}
	dst = append(append(dst, f.prefix...), `{"index":0,`...)
	if f.dialect == chat {
		dst = append(dst, `"message":{"role":"assistant","content":"`...)
	} else {
		dst = append(dst, `"text":"`...)
	}
	for i := range f.ask.tokens {
		dst = append(dst, text(f.arrival, i)...)
	}
	dst = append(dst, '"')
	if f.dialect == chat {
		dst = append(dst, `,"refusal":null,"annotations":null,"audio":null,"function_call":null,"tool_calls":[],"reasoning":null}`...)
	}
	dst = append(dst, `,"logprobs":null,"finish_reason":"`+f.reason()+`","stop_reason":null,"token_ids":null`...)
	if f.dialect == completions {
		dst = append(dst, `,"prompt_logprobs":null,"prompt_token_ids":null`...)
	}
	dst = append(dst, `}],"service_tier":null,"system_fingerprint":null`...)
	dst = appendUsage(dst, f.ask.prompt, f.ask.tokens)
	dst = append(dst[:len(dst)-1], `,"prompt_tokens_details":null}`...)
	if f.dialect == chat {
		dst = append(dst, `,"prompt_logprobs":null,"prompt_token_ids":null`...)
	}
	return append(dst, `,"kv_transfer_params":null}`...)
}

// generated appends the answer up to before place end as SGLang tells it, of
// which the tokens from place i on are new.
func (f *form) generated(dst []byte, i, end int) []byte {
	for ; i < end; i++ {
		f.shown = append(f.shown, text(f.arrival, i)...)
		if i > 0 {
			f.ids = append(f.ids, ',')
		}
		f.ids = strconv.AppendInt(f.ids, int64(token(f.arrival, i)), 10)
	}
	dst = append(append(dst, `{"text":"`...), f.shown...)
	dst = append(append(dst, `","output_ids":[`...), f.ids...)
	dst = append(append(dst, `],"meta_info":{"id":`...), f.id...)
	switch {
	case end < f.ask.tokens:
		dst = append(dst, `,"finish_reason":null`...)
	case f.ask.natural:
		dst = append(dst, `,"finish_reason":{"type":"stop","matched":null}`...)
	default:
		dst = append(dst, `,"finish_reason":{"type":"length","length":`...)
		dst = append(strconv.AppendInt(dst, int64(f.ask.tokens), 10), '}')
	}
	dst = append(dst, `,"prompt_tokens":`...)
	dst = strconv.AppendInt(dst, int64(f.ask.prompt), 10)
	dst = append(dst, `,"weight_version":"default","completion_tokens":`...)
	dst = strconv.AppendInt(dst, int64(end), 10)
	dst = append(dst, `,"cached_tokens":0`...)
	if end == f.ask.tokens {
		dst = append(dst, `,"e2e_latency":`...)
		dst = strconv.AppendFloat(dst, f.seconds, 'f', 6, 64)
	}
	return append(dst, '}', '}')
}
