package plan

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"github.com/goccy/go-yaml"
)

// Version is the version of the form of a Spec. A newer one is refused by name.
const Version = 1

// A Spec is a run as data: complete enough to repeat the run, and free of secrets,
// which it names but does not contain. The role tags are those of its settings: see Role.
type Spec struct {
	Version int     `json:"version" role:"silent"`
	Name    string  `json:"name,omitempty" role:"silent"` // to find the run by
	Target  Target  `json:"target"`
	Request Request `json:"request"`
	// Requests is the number sent; of a mix or of several streams, the number of
	// arrivals. 0 leaves it to the dataset.
	Requests int `json:"requests,omitempty"`
	// Duration is how long requests are sent; requests in flight are then waited for. 0: until
	// the last of Requests. With both, whichever comes first ends it.
	Duration Duration  `json:"duration,omitzero"`
	Seed     uint64    `json:"seed"`
	Load     []Stream  `json:"load"`
	Gate     Gate      `json:"gate,omitzero"`
	Adapters Adapters  `json:"adapters,omitzero"`
	Tokens   Tokenizer `json:"tokenizer,omitzero" role:"client"`
	Before   Before    `json:"before,omitzero"`
	Probe    Probe     `json:"probe,omitzero"`
	After    After     `json:"after,omitzero" role:"client"`
	// Cache is the state that the server's cache of prompts is declared to have when the
	// first measured request arrives; empty: nothing is declared.
	Cache Cache `json:"cache,omitempty"`
	// Objectives are limits on latencies: of each request, for goodput, or of the run.
	Objectives  []Objective `json:"objectives,omitempty" role:"report"`
	Percentiles []float64   `json:"percentiles,omitempty" role:"silent"` // to report; empty: the default ones
	KeepText    bool        `json:"keep_text,omitempty" role:"silent"`   // of the answers
	Client      Client      `json:"client,omitzero" role:"client"`
	Telemetry   Telemetry   `json:"telemetry,omitzero" role:"silent"`
	Dialect     Dialect     `json:"dialect,omitzero" role:"silent"`
}

// YAML is the Spec as a file of settings.
func (s *Spec) YAML() ([]byte, error) {
	b, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	return yaml.JSONToYAML(b)
}

// Rate is the rate at which requests are due, per second, that of all streams together; 0 if that
// of one of them is not constant.
func (s *Spec) Rate() (sum float64) {
	for _, stream := range s.Load {
		var a struct {
			Rate float64 `json:"rate"`
			Ramp string  `json:"ramp"`
		}
		if stream.Arrival.Settings == nil || json.Unmarshal(stream.Arrival.Settings, &a) != nil || a.Ramp != "" || !(a.Rate > 0) {
			return 0
		}
		sum += a.Rate
	}
	return sum
}

// A Target is the system under test: a server, or the embedded engine.
type Target struct {
	URL      string   `json:"url,omitempty"`                 // of the server, without a route; empty: the engine
	Route    string   `json:"route,omitempty" role:"client"` // appended to the URL; empty: the protocol's
	Key      *Source  `json:"key,omitempty" role:"client"`   // bearer key; nil: none
	Headers  []Header `json:"headers,omitempty"`
	CA       string   `json:"ca,omitempty" role:"client"` // file of authorities trusted in addition to the system's
	Insecure bool     `json:"insecure,omitempty"`         // certificates are not verified
	HTTP2    bool     `json:"http2,omitempty" role:"client"`
	Direct   bool     `json:"direct,omitempty" role:"client"` // no proxy, whatever the environment says
	// Site is the place of the process to inspect, and of others of its deployment; their environments are stored
	// with the run; nil: on this machine, if the URL is one of it. Tree is a working tree there.
	Site Sites  `json:"site,omitzero" role:"silent"`
	Tree string `json:"tree,omitempty" role:"silent"`
	// Engine holds the settings of the engine if there is no URL, as decoded by
	// package apiserver; nil: its defaults.
	Engine json.RawMessage `json:"engine,omitempty" role:"server"`
	// Simulated runs the engine in virtual time, without a server.
	Simulated bool `json:"simulated,omitempty" role:"server"`
}

// A Source is where a secret comes from; one of its fields is set.
type Source struct {
	Env      string `json:"env,omitempty"`      // variable of the environment
	File     string `json:"file,omitempty"`     // its first line
	Given    bool   `json:"given,omitempty"`    // on a command line, and not stored
	Optional bool   `json:"optional,omitempty"` // a variable that is not set gives none
}

// A Header is an HTTP header. A secret one has a Source in place of its Value.
type Header struct {
	Name  string  `json:"name"`
	Value string  `json:"value,omitempty"`
	From  *Source `json:"from,omitempty"`
}

// A Request says how answers are requested.
type Request struct {
	Protocol string `json:"protocol"`
	// Model is the name sent; empty: the first that the server lists.
	Model string `json:"model,omitempty"`
	// Root is the origin of the model, for its tokenizer; empty: as the server
	// reports, else Model.
	Root      string `json:"root,omitempty" role:"client"`
	Stream    bool   `json:"stream"`
	Usage     Usage  `json:"usage,omitempty" role:"client"` // the server's count of tokens
	IgnoreEOS bool   `json:"ignore_eos"`                    // answers have their full length
	// Body is merged over the body of every request, Sampling over the object of sampling
	// parameters of protocols that have one.
	Body     json.RawMessage `json:"body,omitempty"`
	Sampling json.RawMessage `json:"sampling,omitempty"`
	Headers  []Header        `json:"headers,omitempty"` // besides those of the target, on requests only
	// Bare sends requests without the key and headers that other calls to the
	// server have.
	Bare bool `json:"bare,omitempty"`
	// IDs is the prefix of each request's x-request-id, followed by its number;
	// empty: chosen by the run.
	IDs         string  `json:"ids,omitempty" role:"silent"`
	PartsAlways bool    `json:"parts_always,omitempty" role:"client"` // content is a list, even of text alone
	MediaFirst  bool    `json:"media_first,omitempty" role:"client"`  // before the text
	AsMessages  bool    `json:"as_messages,omitempty"`                // texts to embed or pool go as chats
	Recount     Recount `json:"recount,omitzero" role:"client"`
}

// Usage says when the server is asked for its token counts.
type Usage string

// The values of Usage.
const (
	NoUsage    Usage = ""
	UsageAtEnd Usage = "end"
	UsageEach  Usage = "chunk" // with every chunk
)

// A Recount says which texts of an answer the tokenizer counts in addition to the
// server.
type Recount struct {
	Answer    bool `json:"answer,omitempty"`
	Reasoning bool `json:"reasoning,omitempty"` // counts as text
	Last      bool `json:"last,omitempty"`      // if events repeat the text, count the last one's
	// Drafts recounts each chunk if the server, asked at this route, drafts tokens.
	Drafts string `json:"drafts,omitempty"`
}

// A Stream is requests with their own arrival process: all of a run's, or those of
// one tenant. It has a dataset, or a mix of several.
type Stream struct {
	Name     string `json:"name,omitempty"`     // of the tenant
	Requests int    `json:"requests,omitempty"` // at most, of a tenant
	Arrival  Typed  `json:"arrival"`
	Dataset  Typed  `json:"dataset,omitzero"`
	Mix      []Part `json:"mix,omitempty"`
	Override
}

// A Part is a dataset among those of a mix.
type Part struct {
	Name    string  `json:"name,omitempty"`
	Weight  float64 `json:"weight"` // its share of the arrivals, relative to the others
	Dataset Typed   `json:"dataset"`
	Override
}

// Override holds the settings of a stream or a part that replace the run's.
type Override struct {
	Model   string   `json:"model,omitempty"`
	Key     *Source  `json:"key,omitempty"`
	Headers []Header `json:"headers,omitempty"`
}

// A Gate limits the requests in flight.
type Gate struct {
	Concurrency int  `json:"concurrency,omitempty"` // requests at most; 0: no limit
	Hold        bool `json:"hold,omitempty"`        // a conversation keeps its place, pauses included
}

// Adapters are LoRA adapters that requests select in turn or at random.
type Adapters struct {
	Names  []string `json:"names,omitempty"`
	Assign string   `json:"assign,omitempty"` // random, round-robin; of sglang uniform, distinct, skewed
	Alpha  float64  `json:"alpha,omitempty"`  // of skewed: each has 1/alpha of the share of the one before
}

// A Tokenizer says how prompts are counted.
type Tokenizer struct {
	// Where is a file, a folder, a name on the Hugging Face hub, "server" or "none";
	// empty: the root of the model in the caches, else the server's, else none.
	Where    string `json:"where,omitempty"`
	Required bool   `json:"required,omitempty"` // Where must be found; else the server's is used
	Info     string `json:"info,omitempty"`     // route where the server may name it, before the root
	NoPath   bool   `json:"no_path,omitempty"`  // the server named the root: it is looked up in caches only
	Vocab    int    `json:"vocab,omitempty"`    // ids to draw from if the tokenizer does not say
	Download bool   `json:"download,omitempty"` // missing files from the hub
}

// Before holds the steps before the run, in this order.
type Before struct {
	Ready    Ready    `json:"ready,omitzero" role:"silent"`
	WarmUp   WarmUp   `json:"warm_up,omitzero"`
	Flush    Flush    `json:"flush,omitzero"`
	Settle   Duration `json:"settle,omitzero" role:"client"` // a pause
	Profiler Profiler `json:"profiler,omitzero"`
}

// Ready says how to wait for a server.
type Ready struct {
	Connect Duration `json:"connect,omitzero"` // longest wait for one that accepts no connections
	Timeout Duration `json:"timeout,omitzero"` // longest wait for an answer; 0: none is requested
	// Ask is the request sent until it is answered: small, a request with little to
	// do; first, the first of the run; or a route, which has to answer with status
	// 200.
	Ask    string `json:"ask,omitempty"`
	Insist bool   `json:"insist,omitempty"` // continue whatever the server answers
}

// The values of Ready.Ask, besides a route.
const (
	AskSmall = "small"
	AskFirst = "first"
)

// WarmUp holds the requests sent before the measured ones.
type WarmUp struct {
	Requests  int    `json:"requests"`
	From      string `json:"from,omitempty" role:"client"`       // see the constants
	MaxOutput int    `json:"max_output,omitempty" role:"client"` // tokens of an answer at most; 0: unchanged
	Ungated   bool   `json:"ungated,omitempty" role:"client"`    // all at once
	Required  bool   `json:"required,omitempty" role:"client"`   // the run ends if none is answered
	// Steady sends waves of as many requests as the gate lets through until two successive
	// ones agree. It stands in place of all the settings above.
	Steady bool `json:"steady,omitempty"`
	// Brief bounds these waves to a part of the requests of the run, with short answers, which
	// must agree less closely. It is the default for a server, and no proof that it is at rest.
	Brief bool `json:"brief,omitempty" role:"client"`
}

// Where the requests of a WarmUp come from.
const (
	WarmOther    = "other"    // the same kind of workload with another seed, or plain texts
	WarmMeasured = "measured" // the first of the measured ones
	WarmFirst    = "first"    // the first, or the first conversation, repeatedly
)

// Cache is a state of the server's cache of prompts.
type Cache string

// The states of a Cache.
const (
	ColdCache   Cache = "cold"   // empty: it is reset before the run
	PrimedCache Cache = "primed" // it has the prompts of the run, which were sent before
	WarmCache   Cache = "warm"   // as earlier requests have left it
)

// Flush empties a cache of the server.
type Flush struct {
	Route    string `json:"route,omitempty"`
	Required bool   `json:"required,omitempty"`
}

// A Profiler is started before the run and stopped after it, on each of the
// workers; without workers on the target.
type Profiler struct {
	Start   Call     `json:"start,omitzero"`
	Stop    Call     `json:"stop,omitzero"` // no route: it stops by itself
	Workers []Worker `json:"workers,omitempty"`
	// Stamp appends the time in seconds to output_dir in the body.
	Stamp bool `json:"stamp,omitempty"`
}

// A Call is a POST to a route of the server.
type Call struct {
	Route string          `json:"route,omitempty"`
	Body  json.RawMessage `json:"body,omitempty"` // nil: none
}

// A Worker is one of the servers behind the target.
type Worker struct {
	Name string `json:"name"`
	URL  string `json:"url"`
}

// A Probe is a small request sent repeatedly alongside the load.
type Probe struct {
	Rate float64 `json:"rate,omitempty"` // per second; 0: none
}

// After holds the steps after the last answer.
type After struct {
	// Info is the route at which the server reports the mean number of tokens per
	// step of speculative decoding.
	Info string `json:"info,omitempty"`
	// Account is the route at which the server describes itself in JSON, for result
	// files.
	Account string `json:"account,omitempty"`
	// Tail includes Info, and the last gap of the schedule, in the duration of the
	// run.
	Tail bool `json:"tail,omitempty"`
}

// A Client says how requests are transported.
type Client struct {
	Engine         string   `json:"engine,omitempty"`          // h1 or nethttp; empty: chosen by the target
	Procs          int      `json:"procs,omitempty"`           // processors used at once; 0: chosen by the run
	NewConnections bool     `json:"new_connections,omitempty"` // one for every request
	NoResend       bool     `json:"no_resend,omitempty"`       // not even on a reused connection that was closed
	KeepReusing    bool     `json:"keep_reusing,omitempty"`    // however often they are closed; implies NoResend
	KeepAlive      Duration `json:"keep_alive,omitzero"`       // of an idle connection; 0: the default
	Timeout        Duration `json:"timeout,omitzero"`          // of a request; 0: none
	IdleTimeout    Duration `json:"idle_timeout,omitzero"`     // between two arrivals of bytes; 0: none
	MaxEvent       int      `json:"max_event,omitempty"`       // the largest event of a stream, in MiB; 0: the default
	MaxBody        int      `json:"max_body,omitempty"`        // limit of an answer in one piece, MiB; 0: the default
}

// Telemetry selects the sources to sample during the run.
type Telemetry struct {
	// Sources are the URLs of exporters (a server's /metrics, a DCGM exporter ...),
	// and host, nvidia-smi, npu-smi or amd-smi, each on another machine with @HOST behind it.
	// Empty: the target's /metrics, the client's machine, and on this machine's own servers the
	// devices that it has; "none" alone: nothing.
	Sources []string `json:"sources,omitempty"`
	Every   Duration `json:"every,omitzero"` // between two samples; 0: 1 s
	Keep    []string `json:"keep,omitempty"` // patterns of series that Pitot has no name for, such as vllm:*
}

// A Dialect is the tool that defines the figures and the report of a run, with its
// own settings.
type Dialect struct {
	Name     string          `json:"name,omitempty"`     // pitot, vllm or sglang; empty: pitot
	Version  string          `json:"version,omitempty"`  // of its definitions; empty: the newest
	Settings json.RawMessage `json:"settings,omitempty"` // decoded by the tool's package
}

// A Typed is one of several kinds, with settings that only its kind understands. In
// files they are side by side: {kind: poisson, rate: 10}.
type Typed struct {
	Kind     string
	Settings json.RawMessage // an object; nil: none
}

// Make returns a Typed of a kind with the settings that v has in JSON, an object.
func Make(kind string, v any) Typed {
	b, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("plan: settings of %s: %v", kind, err)) // strings and numbers only
	}
	return Typed{kind, b}
}

// MarshalJSON writes the kind before the settings.
func (t Typed) MarshalJSON() ([]byte, error) {
	kind, err := json.Marshal(t.Kind)
	if err != nil {
		return nil, err
	}
	rest := bytes.TrimSpace(t.Settings)
	if len(rest) > 0 && rest[0] != '{' {
		return nil, fmt.Errorf("the settings of %s are not an object", t.Kind)
	}
	rest = bytes.TrimSpace(bytes.TrimPrefix(rest, []byte("{")))
	out := append([]byte(`{"kind":`), kind...)
	if len(rest) == 0 || rest[0] == '}' {
		return append(out, '}'), nil
	}
	return append(append(out, ','), rest...), nil
}

// UnmarshalJSON reads the output of MarshalJSON.
func (t *Typed) UnmarshalJSON(b []byte) error {
	n, err := ParseJSON(b)
	if err != nil {
		return err
	}
	return t.DecodeNode(n).Err()
}

// DecodeNode splits a map into its kind and the rest.
func (t *Typed) DecodeNode(n *Node) (problems Problems) {
	if n.Kind == String { // a kind without settings
		*t = Typed{Kind: n.Text}
		return nil
	}
	problems.If(n.Kind != Map, "", nil, "must be a map with a kind")
	if problems != nil {
		return problems
	}
	rest := &Node{Kind: Map, At: n.At}
	for _, m := range n.Members {
		if m.Key == "kind" {
			problems.If(m.Value.Kind != String, "kind", nil, "must be a name")
			t.Kind = m.Value.Text
			continue
		}
		rest.Members = append(rest.Members, m)
	}
	problems.If(t.Kind == "" && problems == nil, "kind", nil, "is missing")
	if len(rest.Members) > 0 {
		b, err := rest.JSON()
		problems.If(err != nil, "", nil, "%v", err)
		t.Settings = b
	}
	return problems
}

// IsZero reports whether it is empty.
func (t Typed) IsZero() bool { return t.Kind == "" && t.Settings == nil }

// A Duration is a time.Duration written in files as 30s or 1m30s.
type Duration time.Duration

// MarshalText writes it.
func (d Duration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

// UnmarshalText reads it.
func (d *Duration) UnmarshalText(text []byte) error {
	v, err := ParseTime(string(text))
	if err != nil {
		return fmt.Errorf("%q: %w", text, err)
	}
	*d = Duration(v)
	return nil
}

func (d Duration) String() string { return time.Duration(d).String() }

// Std is d as a time.Duration.
func (d Duration) Std() time.Duration { return time.Duration(d) }
