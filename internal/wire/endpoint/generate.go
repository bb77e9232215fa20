package endpoint

import (
	"github.com/tidwall/gjson"

	"github.com/pitot-bench/pitot/internal/record/trace"
)

// generated reads an event or an unstreamed answer of SGLang's own protocol:
//
//	{"text":"…","output_ids":[…],"meta_info":{"finish_reason":null,
//	 "prompt_tokens":7,"completion_tokens":3,"cached_tokens":0}}
func generated(root gjson.Result) delta {
	d := delta{err: serverError(root)}
	text, meta := root.Get("text"), root.Get("meta_info")
	if text.Type == gjson.String {
		d.token, d.raw = true, inQuotes(text)
	}
	if !meta.IsObject() {
		return d
	}
	d.token = true
	d.stopped(meta.Get("finish_reason"))
	d.accept = mean(meta.Get("spec_accept_length"))
	if n := meta.Get("completion_tokens"); n.Type == gjson.Number {
		d.use(&counts{"prompt_tokens", "completion_tokens", "cached_tokens", "reasoning_tokens"}, meta)
		d.usage.Tiers = tiers(meta.Get("cached_tokens_details"))
	}
	return d
}

// inQuotes is a string as it stands between its quotes.
func inQuotes(s gjson.Result) []byte {
	if len(s.Raw) < 2 {
		return nil
	}
	return []byte(s.Raw[1 : len(s.Raw)-1])
}

// stopped notes SGLang's finish reason, an object, or a string of some of its
// versions. An abort has the server's words with it.
func (d *delta) stopped(reason gjson.Result) {
	if !reason.IsObject() {
		d.finished(reason)
		return
	}
	d.finished(reason.Get("type"))
	if d.finish == "abort" && d.err == "" {
		d.err = reason.Get("message").Str
	}
}

// tiers reads where cached tokens came from; nil if that is not reported.
func tiers(details gjson.Result) *trace.CacheTiers {
	if !details.IsObject() {
		return nil
	}
	return &trace.CacheTiers{
		Device:  integerOf(details.Get("device")),
		Host:    integerOf(details.Get("host")),
		Storage: integerOf(details.Get("storage")),
		Backend: details.Get("storage_backend").Str,
	}
}

// scanGenerate is scan for SGLang's own protocol. Each event repeats the answer so far, so that the
// walk is as long as the answer; nothing is copied in it.
func scanGenerate(d *delta, _ bool, data []byte) (ok bool) {
	*d = delta{}
	s := scanner{b: data}
	s.open('{')
	var seen uint
	for s.next('}') {
		switch string(s.key()) {
		case "text":
			if text, ok := s.once(&seen, 1).text(); ok {
				d.token, d.raw = true, text
			}
		case "meta_info":
			s.once(&seen, 2).metaInfo(d)
		case "error":
			s.null()
		case "object":
			value, _ := s.text()
			s.bad = s.bad || string(value) == "error"
		default:
			s.skip(0)
		}
	}
	s.blank()
	return !s.bad && s.i == len(s.b)
}

func (s *scanner) metaInfo(d *delta) {
	d.token = true
	s.open('{')
	var seen uint
	for s.next('}') {
		switch string(s.key()) {
		case "completion_tokens":
			d.used, d.usage.Completion = true, s.once(&seen, 1).integer()
		case "prompt_tokens":
			d.usage.Prompt = s.once(&seen, 2).integer()
		case "cached_tokens":
			d.usage.Cached, d.usage.CachedReported = s.once(&seen, 4).integer(), true
		case "finish_reason":
			if value := s.once(&seen, 8).value(); value != nil {
				d.stopped(gjson.ParseBytes(value))
			}
		case "reasoning_tokens":
			d.usage.Reasoning = s.once(&seen, 16).integer()
		case "spec_accept_length":
			d.accept = mean(gjson.ParseBytes(s.once(&seen, 32).value()))
		case "cached_tokens_details":
			if value := s.once(&seen, 64).value(); value != nil {
				d.usage.Tiers = tiers(gjson.ParseBytes(value))
			}
		default:
			s.skip(0)
		}
	}
	if d.usage.At = trace.Never; !d.used {
		d.usage = trace.Usage{}
	}
}
