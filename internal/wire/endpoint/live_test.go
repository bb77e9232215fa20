package endpoint_test

import (
	"context"
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pitot-bench/pitot/internal/load/arrival"
	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/model/apiserver"
	"github.com/pitot-bench/pitot/internal/model/engine"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/test/memnet"
	"github.com/pitot-bench/pitot/internal/wire/endpoint"
	"github.com/pitot-bench/pitot/internal/wire/transport"
)

// served sends a request to our engine: its first token takes 20 ms, and every other
// 5 ms.
func served(
	t *testing.T, opts endpoint.Options, nethttp bool, req workload.Request, faults ...string,
) (rec *trace.Record) {
	cfg := apiserver.Config{Latency: engine.Latency{
		TTFT: arrival.FixedDuration(20 * time.Millisecond), ITL: arrival.FixedDuration(5 * time.Millisecond),
	}}
	for _, text := range faults {
		f, err := apiserver.ParseFault(text)
		if err != nil {
			t.Fatal(err)
		}
		cfg.Faults = append(cfg.Faults, f)
	}
	synctest.Test(t, func(t *testing.T) {
		server, err := apiserver.New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		l := memnet.Listen()
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- server.Serve(ctx, l, nil) }()
		network := transport.New(transport.Config{Dial: l.Dial, NetHTTP: nethttp})
		opts.URL = "http://engine" + opts.Protocol.PathOf(opts.Stream)
		client, err := endpoint.New(network, opts)
		if err != nil {
			t.Fatal(err)
		}
		body, err := client.Encode(&req)
		if err != nil {
			t.Fatal(err)
		}
		rec = trace.NewRecord(0)
		client.Send(t.Context(), &req, body, rec)
		network.Close()
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return rec
}

// asked is a request of ten tokens that a protocol can say.
func asked(p endpoint.Protocol) workload.Request {
	req := workload.Request{OutputTokens: 10}
	switch p {
	case endpoint.Transcription:
		req.Media = []workload.Media{{MIME: "audio/wav", Data: make([]byte, 16000)}}
	case endpoint.Rerank, endpoint.Embeddings, endpoint.Pooling:
		req.Batch = []string{"which way", "the tube", "the wind"}
	default:
		req.Text = "Measure the speed of a stream."
	}
	return req
}

const ms = trace.Instant(time.Millisecond)

// Ten tokens of the engine are ten tokens here at their times, whatever the protocol,
// and with either engine of the client.
func TestProtocolsAgainstTheEngine(t *testing.T) {
	texts := map[string]string{}
	for _, p := range endpoint.Protocols() {
		if p.Silent() {
			continue
		}
		for _, nethttp := range []bool{false, true} {
			opts := endpoint.Options{
				Protocol: p, Model: "pitot", Stream: true, IncludeUsage: true, IgnoreEOS: true, KeepText: true,
			}
			if p == endpoint.Generate {
				opts.Model = ""
			}
			rec := served(t, opts, nethttp, asked(p))
			first, last, n := rec.Output()
			if !rec.OK() || n != 10 || first-rec.Sent != 20*ms || last-rec.Sent != 65*ms {
				t.Errorf("%s: class %q (%s), %d chunks of output from %v to %v", p, rec.Class, rec.Error, n, first, last)
			}
			if p == endpoint.TRT { // it tells no usage
				if rec.OutputTokens != 10 || rec.CountedFrom != trace.FromChunks {
					t.Errorf("%s: %d tokens from %s", p, rec.OutputTokens, rec.CountedFrom)
				}
			} else if rec.OutputTokens != 10 || rec.CountedFrom != trace.FromUsage || rec.Usage.Prompt == 0 {
				t.Errorf("%s: %d tokens from %s, prompt %d", p, rec.OutputTokens, rec.CountedFrom, rec.Usage.Prompt)
			}
			whole := opts
			whole.Stream = false
			if rec := served(t, whole, nethttp, asked(p)); !rec.OK() || rec.Text == "" || rec.Done-rec.Sent != 65*ms {
				t.Errorf("%s in one piece: class %q (%s), text %q after %v", p, rec.Class, rec.Error, rec.Text, rec.Done-rec.Sent)
			} else if p != endpoint.Transcription {
				texts[string(p)] = rec.Text
			}
			if streamed := rec.Text; texts[string(p)] != "" && texts[string(p)] != streamed {
				t.Errorf("%s says %q in a stream and %q in one piece", p, streamed, texts[string(p)])
			}
		}
	}
	for _, group := range [][]endpoint.Protocol{
		{endpoint.Completions, endpoint.Generate, endpoint.TGI, endpoint.TRT, endpoint.Truss},
		{endpoint.Chat, endpoint.Responses, endpoint.Messages},
	} {
		for _, p := range group[1:] {
			if texts[string(p)] != texts[string(group[0])] {
				t.Errorf("%s and %s give the same prompt other answers: %q, %q", group[0], p, texts[string(group[0])],
					texts[string(p)])
			}
		}
	}
}

// What has no text is answered when the engine has read it.
func TestPoolingAgainstTheEngine(t *testing.T) {
	for p, inputs := range map[endpoint.Protocol]int{endpoint.Embeddings: 3, endpoint.Pooling: 3, endpoint.Rerank: 2} {
		for _, encoding := range []string{"float", "base64", "bytes"} {
			opts := endpoint.Options{
				Protocol: p, Model: "pitot", Stream: true,
				Extra: map[string]json.RawMessage{"encoding_format": json.RawMessage(`"` + encoding + `"`)},
			}
			rec := served(t, opts, false, asked(p))
			if !rec.OK() || len(rec.Chunks) != 1 || rec.Chunks[0].Kind != trace.Bare || rec.Done-rec.Sent != 20*ms ||
				rec.Inputs != inputs || rec.Usage.Prompt == 0 || rec.OutputTokens != 0 {
				t.Errorf("%s as %s: %+v", p, encoding, rec)
			}
		}
	}
}

// A server that misbehaves in mid-stream is found out in all protocols.
func TestFaultsAgainstTheEngine(t *testing.T) {
	for _, p := range endpoint.Protocols() {
		for fault, class := range map[string]trace.Class{
			"http-503=1": trace.HTTP, "cut=1@3": trace.Closed, "truncate=1@3": trace.Truncated,
			"malformed=1@3": trace.Malformed, "stream-error=1@3": trace.StreamError,
		} {
			if p.Silent() && fault != "http-503=1" || p == endpoint.TRT && fault == "truncate=1@3" {
				continue // Triton's streams have no end of their own
			}
			opts := endpoint.Options{Protocol: p, Stream: true, IncludeUsage: true, IgnoreEOS: true}
			if rec := served(t, opts, false, asked(p), fault); rec.Class != class {
				t.Errorf("%s %s: class %q (%s), want %q", p, fault, rec.Class, rec.Error, class)
			}
		}
		for _, variation := range []string{"comments=1", "crlf=1", "split=1", "multi-token=1", "batch=1"} {
			opts := endpoint.Options{Protocol: p, Stream: true, IncludeUsage: true, IgnoreEOS: true}
			if rec := served(t, opts, false, asked(p), variation); !rec.OK() {
				t.Errorf("%s %s: class %q (%s)", p, variation, rec.Class, rec.Error)
			}
		}
	}
}
