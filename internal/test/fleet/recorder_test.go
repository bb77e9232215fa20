package fleet

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

// A recorder is a server that keeps every request as it came. Its answer depends on the body of the
// request alone, so that the turns of a conversation are the same in every run.
type recorder struct {
	url         string
	first, step time.Duration // to the first token, and from one to the next

	mu         sync.Mutex
	requests   []sent
	open, peak int
}

// A sent is a request as a server got it.
type sent struct {
	id, path string
	header   http.Header
	body     string
}

func record(t testing.TB, first, step time.Duration) *recorder {
	t.Helper()
	r := &recorder{first: first, step: step}
	s := httptest.NewServer(r)
	t.Cleanup(s.Close)
	r.url = s.URL
	return r
}

// take returns what came since the last call, and how many requests were open at once.
func (r *recorder) take() (requests []sent, peak int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	requests, peak = r.requests, r.peak
	r.requests, r.peak = nil, 0
	return requests, peak
}

func (r *recorder) enter(q *http.Request, body []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.open++
	r.peak = max(r.peak, r.open)
	r.requests = append(r.requests, sent{q.Header.Get("X-Request-Id"), q.URL.Path, q.Header.Clone(), string(body)})
}

func (r *recorder) leave() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.open--
}

func (r *recorder) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	if q.Method != http.MethodPost {
		if q.URL.Path != "/v1/models" {
			http.NotFound(w, q)
			return
		}
		_, _ = io.WriteString(w, `{"object":"list","data":[{"id":"recorded","object":"model"}]}`)
		return
	}
	body, err := io.ReadAll(q.Body)
	if err != nil {
		return
	}
	var asked struct {
		MaxTokens           int `json:"max_tokens"`
		MaxCompletionTokens int `json:"max_completion_tokens"`
	}
	if err := json.Unmarshal(body, &asked); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	r.enter(q, body)
	n := max(asked.MaxTokens, asked.MaxCompletionTokens)
	r.answer(w, q, n, body)
}

// answer streams n tokens, and leaves before the last byte: a client that sends its next request then
// was not one too many.
func (r *recorder) answer(w http.ResponseWriter, q *http.Request, n int, body []byte) {
	out := http.NewResponseController(w)
	w.Header().Set("Content-Type", "text/event-stream")
	pause := time.NewTimer(r.first)
	defer pause.Stop()
	chat := strings.HasSuffix(q.URL.Path, "/chat/completions")
	h := fnv.New64a()
	_, _ = h.Write(body)
	for i := range n {
		select {
		case <-pause.C:
		case <-q.Context().Done():
			r.leave()
			return
		}
		pause.Reset(r.step)
		text := fmt.Sprintf(" w%d", (h.Sum64()+uint64(i))%1000)
		if chat {
			fmt.Fprintf(w, `data: {"choices":[{"index":0,"delta":{"content":%q}}]}`+"\n\n", text)
		} else {
			fmt.Fprintf(w, `data: {"choices":[{"index":0,"text":%q}]}`+"\n\n", text)
		}
		_ = out.Flush()
	}
	fmt.Fprintf(w, `data: {"choices":[{"index":0,"delta":{},"text":"","finish_reason":"length"}],"usage":{"prompt_tokens":1,"completion_tokens":%d}}`+"\n\n", n)
	r.leave()
	_, _ = io.WriteString(w, "data: [DONE]\n\n")
}
