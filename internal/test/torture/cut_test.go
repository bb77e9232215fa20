package torture

import (
	"bytes"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/http2"
)

// A whole answer is one that is cut at every byte.
type wholeAnswer struct {
	name string
	args []string
	kind string
	body string
	done string // after these bytes the answer may count as complete; empty: after all
}

func wholeAnswers() []wholeAnswer {
	stream := func(data ...string) string {
		return "data: " + strings.Join(data, "\n\ndata: ") + "\n\n"
	}
	const count = `"usage":{"prompt_tokens":4,"completion_tokens":2,"total_tokens":6}`
	return []wholeAnswer{
		{"completions", nil, "", stream(`{"choices":[{"index":0,"text":"é"}]}`, `{"choices":[{"index":0,"text":"","finish_reason":"length"}]}`, `{"choices":[],`+count+`}`, "[DONE]"), `"length"`},
		{"chat", []string{"--protocol", "chat"}, "", stream(`{"choices":[{"delta":{"role":"assistant","content":""}}]}`, `{"choices":[{"delta":{"content":"\u00e9"}}]}`, `{"choices":[{"delta":{},"finish_reason":"stop"}]}`, "[DONE]"), `"stop"`},
		{"messages", []string{"--protocol", "messages"}, "", "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":4}}}\n\nevent: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"delta\":{\"type\":\"text_delta\",\"text\":\"a\"}}\n\nevent: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":1}}\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n\n", "end_turn"},
		{"generate", []string{"--protocol", "generate"}, "", stream(`{"text":"a","meta_info":{"completion_tokens":1}}`, `{"text":"ab","meta_info":{"completion_tokens":2,"finish_reason":{"type":"length"}}}`, "[DONE]"), "length"},
		{"whole", whole, "application/json", `{"choices":[{"index":0,"text":"ab","finish_reason":"length"}],` + count + `}`, ""},
	}
}

// Each answer is cut at every byte, and the connection then closed, or left open: a
// request whose answer is not complete has failed, and every request has a record.
func TestCut(t *testing.T) {
	t.Parallel()
	for _, by := range transports {
		for _, a := range wholeAnswers() {
			for _, open := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/%s/open=%t", by.name, a.name, open), func(t *testing.T) {
					t.Parallel()
					cut(t, by, a, open)
				})
			}
		}
	}
}

func cut(t *testing.T, by transport, a wholeAnswer, open bool) {
	sent := a.http1()
	if by.name == "http2" {
		sent = a.http2()
	}
	step := 1
	if open { // each then waits for the idle timeout
		step = either(7, 1)
	}
	n := (len(sent) + step - 1) / step
	s := serve(t, by.name == "http2", func(r request) reply {
		if r.method != "POST" || r.index < 0 || r.index >= n {
			return kind(r)
		}
		part := sent[:r.index*step]
		return reply{
			hold:   open,
			bytes:  func(c net.Conn) { _, _ = c.Write(part) },
			frames: func(f wire, _ uint32) { _, _ = f.c.Write(part) },
		}
	})
	p := newPlace(t)
	args := append(append([]string{
		"bench", "-q", "--url", s.url, "--model", "m", "--tokenizer", "none", "--warmup", "0", "--ready-timeout", "0", "--new-connections",
		"-n", fmt.Sprint(n), "-c", either("64", "16"), "--output-len", "2", "--timeout", "3s", "--idle-timeout", "300ms",
	}, by.flags...), a.args...)
	if slices.Contains(a.args, "chat") || slices.Contains(a.args, "messages") {
		file := p.write(t, "prompts.jsonl", `{"prompt":"a"}`+"\n")
		args = append(args, "--workload", "custom", "--data", file)
	}
	o := p.start(t, child{args: args}).wait()
	faults := o.faults([]int{0, 1, 3})
	records, err := p.records(t)
	if err != nil || len(records) != n {
		faults = append(faults, fmt.Sprintf("%d of %d requests have a record; %v", len(records), n, err))
	}
	complete := len(sent)
	if a.done != "" {
		complete = bytes.Index(sent, []byte(a.done)) + len(a.done)
	}
	for _, r := range records {
		if r.Class == "" && r.Index*step < complete {
			faults = append(faults, fmt.Sprintf("cut at byte %d of %d, the answer counts as complete: %q", r.Index*step, len(sent), sent[:r.Index*step]))
		}
	}
	report(t, t.Name(), o, faults)
}

// http1 is an answer as bytes, in chunks of an event or, in one piece, with its length.
func (a wholeAnswer) http1() []byte {
	var b bytes.Buffer
	if a.kind != "" {
		fmt.Fprintf(&b, "HTTP/1.1 200 OK\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s", a.kind, len(a.body), a.body)
		return b.Bytes()
	}
	b.WriteString(head + "Transfer-Encoding: chunked\r\n\r\n")
	for event := range strings.SplitAfterSeq(a.body, "\n\n") {
		if event != "" {
			b.WriteString(chunk(event))
		}
	}
	b.WriteString("0\r\n\r\n")
	return b.Bytes()
}

// http2 is an answer as frames on the first stream of a connection.
func (a wholeAnswer) http2() []byte {
	var b bytes.Buffer
	f := wire{Framer: http2.NewFramer(&b, nil)}
	kind := a.kind
	if kind == "" {
		kind = "text/event-stream"
	}
	headers(f, 1, false, ":status", "200", "content-type", kind)
	for event := range strings.SplitAfterSeq(a.body, "\n\n") {
		if event != "" {
			_ = f.WriteData(1, false, []byte(event))
		}
	}
	_ = f.WriteData(1, true, nil)
	return b.Bytes()
}
