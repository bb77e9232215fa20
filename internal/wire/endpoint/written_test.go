package endpoint

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/wire/transport"
)

// A deafConn stores the bytes written to it, and ends when it is read.
type deafConn struct {
	net.Conn
	written bytes.Buffer
}

func (c *deafConn) Write(p []byte) (int, error) { return c.written.Write(p) }

func (c *deafConn) Read([]byte) (int, error) { return 0, io.EOF }

func (c *deafConn) Close() error { return nil }

// sendBy has a client encode and send a request.
func sendBy(t *testing.T, c *Client, req *workload.Request) *trace.Record {
	t.Helper()
	body, err := c.Encode(req)
	if err != nil {
		t.Fatal(err)
	}
	rec := trace.NewRecord(0)
	c.Send(t.Context(), req, body, rec)
	return rec
}

var writtenRequests = []struct {
	name    string
	opts    Options
	noReuse bool
	req     workload.Request
	want    string
}{
	{
		"plain",
		Options{Protocol: Completions, Model: "m"},
		false,
		workload.Request{ID: "r-1", Text: "é\"<\n", OutputTokens: 2},
		"POST /v1/completions HTTP/1.1\r\nHost: engine:8000\r\nUser-Agent: pitot\r\nContent-Type: application/json\r\n" +
			"X-Request-Id: r-1\r\nContent-Length: 67\r\n\r\n" +
			`{"model":"m","stream":false,"prompt":"é\"\u003c\n","max_tokens":2}`,
	},
	{
		"without an id",
		Options{Protocol: Completions, Model: "m"},
		true,
		workload.Request{Tokens: []int32{1, 20}},
		"POST /v1/completions HTTP/1.1\r\nHost: engine:8000\r\nUser-Agent: pitot\r\nContent-Type: application/json\r\n" +
			"Connection: close\r\nContent-Length: 44\r\n\r\n" +
			`{"model":"m","stream":false,"prompt":[1,20]}`,
	},
	{
		"headers of the run",
		Options{Protocol: Messages, Model: "m", Header: http.Header{
			"Authorization": {"Bearer key"}, "User-Agent": {"mine"}, "Host": {"other"}, "Z-Last": {"b", "a "}, "x-lower": {"1"},
			"Content-Length": {"7"}, "Connection": {"upgrade"}, "X-Request-Id": {"of the run"},
			"Content-Type": {"application/x"},
		}},
		false,
		workload.Request{
			Text: "a", OutputTokens: 1, Header: map[string]string{
				"x-session": "s", "Z-Last": "c", "X-Request-Id": "of the request",
			},
		},
		"POST /v1/messages HTTP/1.1\r\nHost: other\r\nAnthropic-Version: 2023-06-01\r\nAuthorization: Bearer key\r\n" +
			"Content-Type: application/x\r\nUser-Agent: mine\r\nX-Api-Key: key\r\nX-Request-Id: of the request\r\n" +
			"X-Session: s\r\nZ-Last: c\r\nx-lower: 1\r\nContent-Length: 86\r\n\r\n" +
			`{"model":"m","stream":false,"messages":[{"role":"user","content":"a"}],"max_tokens":1}`,
	},
	{
		"an id of the run",
		Options{
			Protocol: Completions, Model: "m", Header: http.Header{
				"X-Request-Id": {"of the run"}, "Z-Last": {"b", "a "}, "A": nil,
			},
		},
		false,
		workload.Request{Text: "a"},
		"POST /v1/completions HTTP/1.1\r\nHost: engine:8000\r\nUser-Agent: pitot\r\nContent-Type: application/json\r\n" +
			"X-Request-Id: of the run\r\nZ-Last: b\r\nZ-Last: a\r\nContent-Length: 41\r\n\r\n" +
			`{"model":"m","stream":false,"prompt":"a"}`,
	},
	{
		"instead of an id of the run",
		Options{Protocol: Completions, Model: "m", Header: http.Header{"X-Request-Id": {"of the run"}}},
		false,
		workload.Request{Text: "a", ID: " mine "},
		"POST /v1/completions HTTP/1.1\r\nHost: engine:8000\r\nUser-Agent: pitot\r\nContent-Type: application/json\r\n" +
			"X-Request-Id: mine\r\nContent-Length: 41\r\n\r\n" +
			`{"model":"m","stream":false,"prompt":"a"}`,
	},
	{
		"a header that cannot be sent",
		Options{Protocol: Completions, Header: http.Header{"X-A": {"a\nb"}}},
		false,
		workload.Request{Text: "a"},
		"",
	},
	{"an id that cannot be sent", Options{Protocol: Completions}, false, workload.Request{Text: "a", ID: "a\nb"}, ""},
}

func TestARequestOnTheWire(t *testing.T) {
	for _, tt := range writtenRequests {
		t.Run(tt.name, func(t *testing.T) {
			conn := new(deafConn)
			tr := transport.New(transport.Config{
				NoReuse: tt.noReuse, Dial: func(context.Context, string, string) (net.Conn, error) { return conn, nil },
			})
			defer tr.Close()
			tt.opts.URL = "http://engine:8000" + tt.opts.Protocol.Path()
			c, err := New(tr, tt.opts)
			if err != nil {
				t.Fatal(err)
			}
			for range 2 { // the second has what the first left behind
				conn.written.Reset()
				rec := sendBy(t, c, &tt.req)
				if got := conn.written.String(); got != tt.want {
					t.Errorf("wrote\n%s\nwant\n%s", got, tt.want)
				}
				if refused := strings.Contains(rec.Error, "cannot be sent"); refused != (tt.want == "") ||
					rec.Sent.Happened() == refused {
					t.Errorf("error %q, sent %v", rec.Error, rec.Sent)
				}
			}
		})
	}
}

func TestTextInABodyIsThatOfJSON(t *testing.T) {
	for c := range 0x200 {
		text := "a" + string(rune(c)) + "b"
		if c >= 0x100 { // a byte, from 0x80 not UTF-8
			text = "a" + string([]byte{byte(c)}) + "b"
		}
		var b bodyWriter
		b.text(text)
		if want, _ := json.Marshal(text); string(b.body) != string(want) {
			t.Errorf("%q is written %s, want %s", text, b.body, want)
		}
	}
}
