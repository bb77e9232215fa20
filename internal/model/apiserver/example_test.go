package apiserver_test

import (
	"fmt"
	"io"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/pitot-bench/pitot/internal/load/arrival"
	"github.com/pitot-bench/pitot/internal/model/apiserver"

	"github.com/pitot-bench/pitot/internal/model/engine"
)

func ExampleServer() {
	s, err := apiserver.New(apiserver.Config{
		Seed: 1,
		Latency: engine.Latency{
			TTFT: arrival.FixedDuration(20 * time.Millisecond), ITL: arrival.FixedDuration(time.Millisecond),
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	server := httptest.NewServer(s.Handler())
	defer server.Close()
	resp, err := server.Client().Post(server.URL+"/tokenize", "application/json",
		strings.NewReader(`{"prompt":"a pitot tube"}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	fmt.Println(string(body), err)
	// Output: {"count":5,"max_model_len":131072,"tokens":[97,18435,691,19633,101],"token_strs":null} <nil>
}

func ExampleParseFault() {
	f, err := apiserver.ParseFault("reset=0.05@10")
	fmt.Println(f.Name, f.Share, f.AfterTokens, err)
	_, err = apiserver.ParseFault("rest=0.05")
	fmt.Println(err.Error()[:44])
	// Output:
	// reset 0.05 10 <nil>
	// unknown fault "rest", did you mean "reset"?;
}
