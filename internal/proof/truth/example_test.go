package truth_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/pitot-bench/pitot/internal/proof/truth"
)

func ExampleServer() {
	srv, err := truth.New(truth.Config{Lockstep: true, Step: time.Millisecond})
	if err != nil {
		fmt.Println(err)
		return
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	served := make(chan error)
	go func() { served <- srv.Serve(ctx, l) }()

	body := `{"prompt":"say something","max_tokens":3,"stream":true}`
	resp, err := http.Post("http://"+l.Addr().String()+"/v1/completions", "application/json", strings.NewReader(body))
	if err != nil {
		fmt.Println(err)
		return
	}
	stream, _ := io.ReadAll(resp.Body)
	fmt.Println(strings.Count(string(stream), "data: {"), "events read")

	stop()
	fmt.Println("served:", <-served)
	for _, r := range srv.Log().Requests {
		fmt.Println(r.Path, r.Status, r.PromptTokens, "tokens in,", r.Tokens, "out:", r.Ended)
		fmt.Println("second gap:", time.Duration(r.Writes[2].Planned-r.Writes[1].Planned))
	}
	// Output:
	// 3 events read
	// served: <nil>
	// /v1/completions 200 2 tokens in, 3 out: complete
	// second gap: 1ms
}
