package apiserver

import (
	"cmp"
	"fmt"
	"math"
	"net/http"
	"sort"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/pitot-bench/pitot/internal/model/engine"
)

// meters are the server's metrics, under the names, labels and buckets of
// vLLM 0.30 (V1 engine). The loop writes them, once a step.
type meters struct {
	mu      sync.Mutex
	prompt  uint64
	tokens  uint64
	success map[string]uint64 // by finish reason

	promptTokens, outputTokens, maxTokens      *histogram
	ttft, itl, tpot                            *histogram
	e2e, queued, inference, prefilled, decoded *histogram

	histograms []*histogram // all of them, in the order in which they are printed
}

// A histogram counts observations up to each of its bounds, and beyond them.
type histogram struct {
	name, help string
	bounds     []float64
	counts     []uint64 // one more than bounds
	sum        float64
}

func (m *meters) histogram(name, help string, bounds []float64) *histogram {
	h := &histogram{name: name, help: help, bounds: bounds, counts: make([]uint64, len(bounds)+1)}
	m.histograms = append(m.histograms, h)
	return h
}

func (h *histogram) observe(v float64) {
	h.counts[sort.SearchFloat64s(h.bounds, v)]++
	h.sum += v
}

func newMeters(maxModelLen int) *meters {
	lengths := oneTwoFive(maxModelLen)
	first := []float64{
		.001, .005, .01, .02, .04, .06, .08, .1, .25, .5, .75, 1, 2.5, 5, 7.5, 10, 20, 40, 80, 160, 640, 2560,
	}
	step := []float64{.01, .025, .05, .075, .1, .15, .2, .3, .4, .5, .75, 1, 2.5, 5, 7.5, 10, 20, 40, 80}
	whole := []float64{.3, .5, .8, 1, 1.5, 2, 2.5, 5, 10, 15, 20, 30, 40, 50, 60, 120, 240, 480, 960, 1920, 7680}
	m := &meters{success: make(map[string]uint64)}
	m.promptTokens = m.histogram("request_prompt_tokens", "Prompt tokens of a request.", lengths)
	m.outputTokens = m.histogram("request_generation_tokens", "Tokens generated for a request.", lengths)
	m.maxTokens = m.histogram("request_params_max_tokens", "The max_tokens of a request.", lengths)
	m.ttft = m.histogram("time_to_first_token_seconds", "Arrival to first token.", first)
	m.itl = m.histogram("inter_token_latency_seconds", "Token to token.", step)
	m.tpot = m.histogram("request_time_per_output_token_seconds", "Mean time per output token of a request.", step)
	m.e2e = m.histogram("e2e_request_latency_seconds", "Arrival to last token.", whole)
	m.queued = m.histogram("request_queue_time_seconds", "Time waiting for a place.", whole)
	m.inference = m.histogram("request_inference_time_seconds", "Time in a place.", whole)
	m.prefilled = m.histogram("request_prefill_time_seconds", "From place to first token.", whole)
	m.decoded = m.histogram("request_decode_time_seconds", "First to last token.", whole)
	return m
}

// oneTwoFive is 1, 2, 5, 10, 20, 50 ... up to limit.
func oneTwoFive(limit int) []float64 {
	var out []float64
	for scale := 1; ; scale *= 10 {
		for _, m := range []int{1, 2, 5} {
			if m*scale > limit {
				return out
			}
			out = append(out, float64(m*scale))
		}
	}
}

// emitted counts one emission, seen by the loop at now. The caller holds mu.
func (m *meters) emitted(t *ticket, e engine.Emission, now time.Duration) {
	if t.emitted == 0 {
		t.first = now
		m.prompt += uint64(t.prompt)
		m.ttft.observe((now - t.arrived).Seconds())
	} else {
		m.itl.observe((now - t.last).Seconds())
	}
	t.last = now
	t.emitted += int(e.Tokens)
	m.tokens += uint64(e.Tokens)
	if e.Done {
		m.finished(t, e.Start)
	}
}

func (m *meters) finished(t *ticket, start time.Duration) {
	m.success[t.finish]++
	m.promptTokens.observe(float64(t.prompt))
	m.outputTokens.observe(float64(t.emitted))
	m.maxTokens.observe(float64(t.maxTokens))
	m.e2e.observe((t.last - t.arrived).Seconds())
	m.queued.observe((start - t.arrived).Seconds())
	m.prefilled.observe((t.first - start).Seconds())
	m.inference.observe((t.last - start).Seconds())
	m.decoded.observe((t.last - t.first).Seconds())
	m.tpot.observe((t.last - t.first).Seconds() / float64(max(t.emitted-1, 1)))
}

func (m *meters) abort() {
	m.mu.Lock()
	m.success["abort"]++
	m.mu.Unlock()
}

func (s *Server) serveMetrics(w http.ResponseWriter, _ *http.Request) {
	p := s.cfg.metrics(s.Load())
	p.requests(s.meters)
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	_, _ = w.Write(p.buf) // the client went away
}

// Metrics are what the /metrics of a server of this configuration tell of its
// engine.
func (c Config) Metrics(l engine.Utilization) []byte {
	c = c.withDefaults()
	return c.metrics(l).buf
}

func (c *Config) metrics(l engine.Utilization) promText {
	p := promText{labels: `engine="0",model_name=` + promQuote(c.Model)}
	p.load(l)
	if c.Engine != nil {
		p.steps(l.Counters)
	}
	if c.Engine != nil && c.Engine.KV.Tokens > 0 {
		p.cache(c.Engine.KV)
	}
	if drafts := c.Drafts(); drafts > 0 {
		p.speculation(l.Counters, drafts)
	}
	return p
}

// Load is the engine's state at this instant.
func (s *Server) Load() (l engine.Utilization) {
	s.visit(func(m engine.Model) { l = m.Load() })
	return l
}

// load tells what the engine says of itself.
func (p *promText) load(l engine.Utilization) {
	p.scalar("num_requests_running", "gauge", "Requests being worked on.", float64(l.Running))
	p.scalar("num_requests_waiting", "gauge", "Requests waiting for a place.", float64(l.Waiting))
	p.scalar("kv_cache_usage_perc", "gauge", "KV cache in use; 1 means all of it.", l.KV)
	p.scalar("prefix_cache_queries_total", "counter", "Prompt tokens looked up in the prefix cache.",
		float64(l.PrefixQueried))
	p.scalar("prefix_cache_hits_total", "counter", "Prompt tokens found there.", float64(l.PrefixHit))
	p.scalar("num_preemptions_total", "counter", "Preemptions.", float64(l.Preemptions))
}

// steps tells how many there were, and the tokens computed in them. vLLM's histogram of tokens
// a step has buckets too.
func (p *promText) steps(c engine.Counters) {
	tokens := histogram{
		name: "iteration_tokens_total", help: "Tokens computed in a step.", counts: []uint64{c.Steps},
		sum: float64(c.Prefilled + c.Decoded),
	}
	p.histogram(&tokens)
	p.head("prompt_tokens_by_source_total", "counter", "Prompt tokens, computed or found in the prefix cache.")
	p.value("prompt_tokens_by_source_total", `source="local_compute"`, float64(c.Prefilled))
	p.value("prompt_tokens_by_source_total", `source="local_cache_hit"`, float64(c.PrefixHit))
}

// cache tells how large the KV cache is.
func (p *promText) cache(k engine.KVCache) {
	block := cmp.Or(k.Block, 16)
	p.head("cache_config_info", "gauge", "The KV cache.")
	p.value("cache_config_info", fmt.Sprintf(`block_size="%d",num_gpu_blocks="%d"`, block, k.Tokens/block), 1)
}

// speculation tells what was drafted and accepted; vLLM has these counters only
// where speculative decoding is configured. Positions count from 0.
func (p *promText) speculation(c engine.Counters, drafts int) {
	p.scalar("spec_decode_num_drafts_total", "counter", "Drafts made.", float64(c.Drafts))
	p.scalar("spec_decode_num_draft_tokens_total", "counter", "Tokens drafted.", float64(c.Drafted))
	p.scalar("spec_decode_num_accepted_tokens_total", "counter", "Draft tokens accepted.", float64(c.Accepted))
	p.head("spec_decode_num_accepted_tokens_per_pos_total", "counter",
		"Draft tokens accepted, by their position in the draft.")
	for i, n := range c.AcceptedAt[:drafts] {
		p.value("spec_decode_num_accepted_tokens_per_pos_total", `position="`+strconv.Itoa(i)+`"`, float64(n))
	}
}

// requests tells what the server counted and timed.
func (p *promText) requests(m *meters) {
	m.mu.Lock()
	defer m.mu.Unlock()
	p.scalar("prompt_tokens_total", "counter", "Prompt tokens processed.", float64(m.prompt))
	p.scalar("generation_tokens_total", "counter", "Tokens generated.", float64(m.tokens))
	p.head("request_success_total", "counter", "Requests ended, by reason.")
	for _, reason := range []string{"stop", "length", "abort", "error"} {
		p.value("request_success_total", `finished_reason="`+reason+`"`, float64(m.success[reason]))
	}
	for _, h := range m.histograms {
		p.histogram(h)
	}
}

// promText builds an exposition in the Prometheus text format, version 0.0.4;
// every name gets the prefix vllm:.
type promText struct {
	buf    []byte
	labels string
}

func (p *promText) head(name, kind, help string) {
	p.buf = append(p.buf, "# HELP vllm:"+name+" "+help+"\n# TYPE vllm:"+name+" "+kind+"\n"...)
}

func (p *promText) value(name, label string, v float64) {
	p.buf = append(p.buf, "vllm:"+name+"{"+p.labels...)
	if label != "" {
		p.buf = append(p.buf, ","+label...)
	}
	p.buf = append(p.buf, "} "+promFloat(v)+"\n"...)
}

func (p *promText) scalar(name, kind, help string, v float64) {
	p.head(name, kind, help)
	p.value(name, "", v)
}

func (p *promText) histogram(h *histogram) {
	p.head(h.name, "histogram", h.help)
	var n uint64
	for i, count := range h.counts {
		n += count
		bound := math.Inf(1)
		if i < len(h.bounds) {
			bound = h.bounds[i]
		}
		p.value(h.name+"_bucket", `le="`+promFloat(bound)+`"`, float64(n))
	}
	p.value(h.name+"_sum", "", h.sum)
	p.value(h.name+"_count", "", float64(n))
}

// promQuote writes a label's value.
func promQuote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(s) + `"`
}

// promFloat writes a number as Python's client does: 3.0, 0.001, 1.5e+06, +Inf.
func promFloat(v float64) string {
	if math.IsInf(v, 1) {
		return "+Inf"
	}
	if v == math.Trunc(v) && v < 1e6 {
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}
