package cli

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/pitot-bench/pitot/internal/load/dist"
	"github.com/pitot-bench/pitot/internal/load/workload"
	"github.com/pitot-bench/pitot/internal/model/apiserver"
	"github.com/pitot-bench/pitot/internal/model/profile"
)

// benchCmd is `pitot bench`. Every flag is also a key of the --config file.
type benchCmd struct {
	Config string `placeholder:"FILE" help:"YAML file of the same settings; flags override it."`

	targetSettings  `embed:"" group:"Target:"`
	requestSettings `embed:"" group:"Requests:"`
	loadSettings    `embed:"" group:"Load:"`
	orderSettings   `embed:"" group:"Before the run:"`
	outputSettings  `embed:"" group:"Results:"`
	profileSetting  `embed:"" group:"Embedded engine, used without --url:"`
	Engine          engineSettings `embed:"" prefix:"engine-" group:"Embedded engine, used without --url:"`

	idPrefix     string          // of this run's requests
	spool        *workload.Spool // of their prompts
	otherPrompts bool            // draw other prompts from the same seed: for the warm-up
	files        files           // of the workload, read
	partSeed     uint64          // of a part of a mix, added to the seed
	partFiles    []files         // of each part
	arrivals     *load           // of tenants
	dealt        map[string]int  // arrivals of each part, by its name
	enginePrefix string          // how the flags of the engine begin

	server     apiserver.Config // of the embedded engine
	deployment *profile.Profile // that it stands for, if for any
}

// targetSettings say what to measure and how to reach it.
type targetSettings struct {
	URL string `placeholder:"URL" help:"Server to measure, e.g. http://127.0.0.1:8000. Without it the embedded engine is measured."`
	askSettings
	Endpoint       string        `placeholder:"PATH" help:"Route of the requests. Default: that of the protocol, such as /v1/completions."`
	APIKeyEnv      string        `name:"api-key-env" default:"OPENAI_API_KEY" placeholder:"NAME" help:"Environment variable with the bearer key (${default})."`
	APIKeyFile     string        `name:"api-key-file" placeholder:"FILE" help:"File with the bearer key, in place of the variable."`
	Header         []string      `placeholder:"NAME=VALUE" sep:"none" help:"Header of every request; may be repeated."`
	CA             string        `name:"ca" placeholder:"FILE" help:"PEM file of certificate authorities to trust beside the system's."`
	Insecure       bool          `help:"Do not verify the server's certificate."`
	HTTP2          bool          `name:"http2" help:"Speak HTTP/2, with prior knowledge where there is no TLS."`
	Client         string        `enum:",h1,nethttp" default:"" placeholder:"ENGINE" help:"What carries the requests: h1, our own HTTP/1.1, or nethttp, Go's. Default: h1; nethttp for HTTP/2 and proxies."`
	Procs          int           `placeholder:"N" help:"Processors that the client may use at once. Default: all of this process, at most 8."`
	NewConnections bool          `help:"Open a new connection for every request."`
	Timeout        time.Duration `default:"1h" placeholder:"TIME" help:"Time limit of a request, 0 for none (${default})."`
	IdleTimeout    time.Duration `placeholder:"TIME" help:"Time limit between two arrivals of bytes. Default: none."`
	Body           string        `placeholder:"JSON" help:"Object merged over the body of every request, e.g. {\"temperature\": 0}."`
}

// askSettings say how to ask for answers.
type askSettings struct {
	Model      string `placeholder:"NAME" help:"Model or adapter to ask for. Default: the first that /v1/models lists."`
	Protocol   string `enum:",completions,chat,responses,messages,generate,tgi,trt,truss,embeddings,pooling,rerank,transcription" default:"" placeholder:"NAME" help:"completions, chat, responses, messages (Anthropic's), generate (SGLang's own), tgi, trt (Triton), truss, embeddings, pooling, rerank or transcription. Default: completions, or chat for random-mm and conversations."`
	NoStream   bool   `help:"Ask for whole answers instead of streams."`
	TokenUsage bool   `help:"Ask for the token count in every chunk (continuous_usage_stats), not only at the end."`
	IgnoreEOS  *bool  `name:"ignore-eos" negatable:"" help:"Ask for answers of the full length. Default: for random workloads."`
}

// requestSettings say what to send.
type requestSettings struct {
	workloadSettings
	Mix        []part `sep:"none" placeholder:"SETTINGS" help:"A workload among several, as its settings with blanks between: weight=0.7 workload=random input-len=200. Repeat it; the weights are shares of the arrivals."`
	Tenants    []part `name:"tenant" aliases:"tenants" sep:"none" placeholder:"SETTINGS" help:"A tenant with arrivals and a workload of its own, written likewise: name=a rate=5 workload=chat. Repeat it."`
	Tokenizer  string `placeholder:"WHERE" help:"tokenizer.json, a tiktoken file, a folder with one, a Hugging Face name in this machine's caches, server, or none for prompts of token ids. Default: the model's name in the caches, else the server's /tokenize, else none."`
	HFDownload bool   `name:"hf-download" help:"Download from the Hugging Face hub, or from HF_ENDPOINT, what its cache on this machine lacks; with HF_TOKEN where that is needed."`
	VocabSize  int    `default:"16000" placeholder:"N" help:"Token ids to draw from where the tokenizer does not tell (${default})."`
	Seed       uint32 `placeholder:"N" help:"Seed of prompts and arrivals. Default: 0."`
}

// loadSettings say when to send.
type loadSettings struct {
	Rate        float64 `placeholder:"R" help:"Requests per second, or conversations that begin. Default, when nothing else says when to send: 10."`
	Ramp        string  `placeholder:"SHAPE" help:"Rising or falling rate, linear:FROM..TO or exponential:FROM..TO in requests per second."`
	Replay      string  `placeholder:"FILE" help:"Send at the times in this file, one number of seconds a line; data takes the timestamps of --data."`
	Speed       float64 `default:"1" placeholder:"X" help:"Divide the times of a replay or a trace by this (${default})."`
	Arrival     string  `enum:",at-once,constant,poisson,gamma" default:"" placeholder:"PROCESS" help:"at-once, constant, poisson or gamma. Default: poisson with a rate or a ramp."`
	Burstiness  float64 `default:"1" placeholder:"B" help:"Shape of gamma arrivals: 1 is Poisson, less is burstier (${default})."`
	Concurrency int     `short:"c" placeholder:"N" help:"Requests in flight at most. Alone it makes a closed loop."`
	Hold        bool    `help:"With --concurrency, conversations at most: one keeps its place from its first request to its last, pauses included."`
}

// orderSettings say what precedes the run.
type orderSettings struct {
	ReadyTimeout   *time.Duration `placeholder:"TIME" help:"Wait so long for the server to come up and to answer a first small request, 0 to skip that. Default: 30s for one that accepts connections, none for one that does not."`
	Warmup         int            `default:"2" placeholder:"N" help:"Warm-up requests, with prompts of their own (${default})."`
	WarmupMeasured bool           `help:"Warm up with the first of the measured prompts instead: they may then be cached."`
	Profiler       bool           `help:"Call /start_profile before the run and /stop_profile after it."`
}

// outputSettings say what to make of the run.
type outputSettings struct {
	SLO         []string  `name:"slo" placeholder:"LIMITS" help:"Goodput objectives, e.g. ttft=200ms,tpot=50ms; of ttft, tpot, itl, e2el."`
	Percentiles []float64 `placeholder:"LIST" help:"Percentiles to report. Default: 90,95,99."`
	Report      []string  `default:"pitot" aliases:"dialect" placeholder:"LIST" help:"Reports to print: pitot, vllm, sglang, json (${default}). --dialect is the same."`
	Form        string    `name:"dialect-version" placeholder:"FORM" help:"Form of the report of vllm or sglang, as of pitot runs report. Default: main."`
	Name        string    `placeholder:"TEXT" help:"Name to find the run by."`
	KeepText    bool      `help:"Keep the text of the answers."`

	RequireValid bool `help:"Exit with 3 unless the run is valid: neither the load generator was in the way, nor is there doubt about a figure."`
	Quiet        bool `short:"q" help:"No progress on stderr."`
	storeSetting
}

// storeSetting says where runs are kept.
type storeSetting struct {
	Store string `placeholder:"FILE" help:"SQLite file of the runs. Default: PITOT_STORE, or pitot/pitot.db in the user's data folder."`
}

// profileSetting says which deployment the simulated engine stands for.
type profileSetting struct {
	Profile profileName `placeholder:"NAME|FILE" help:"What deployment it stands for: a profile that pitot profiles lists, or a YAML file. Default: small-chat, unless latencies or slots are given."`
}

// A profileName is never given and empty, as it would be by a variable of a shell
// that is not set.
type profileName string

// UnmarshalText reads a name.
func (n *profileName) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		return fmt.Errorf("is empty; leave it out for %s", profile.Default)
	}
	*n = profileName(text)
	return nil
}

// engineSettings configure the simulated engine; the flags of `pitot serve`, and
// with the prefix "engine-" of `pitot bench`.
type engineSettings struct {
	TTFT           *dist.Duration    `placeholder:"TIME" help:"In place of a profile, time to the first token: 50ms, uniform(40ms,60ms), normal(50ms,5ms), lognormal(50ms,0.2), exponential(50ms) or gamma(50ms,0.5); lognormal and gamma take the mean and the coefficient of variation. Default: 50ms, if another of the next four is given."`
	ITL            *dist.Duration    `placeholder:"TIME" help:"Time between two tokens. Default: 10ms, as above."`
	PerPromptToken *dist.Duration    `placeholder:"TIME" help:"Added to the time to the first token for each prompt token. Default: 0s."`
	PerImage       *dist.Duration    `placeholder:"TIME" help:"Added to it for each picture. Default: 0s."`
	Slots          *slots            `placeholder:"N" help:"Requests served at once; more wait in a queue. Default: no limit."`
	OutputLen      *dist.Count       `placeholder:"TOKENS" help:"Length of answers whose end is up to the model. Default: the profile's, else lognormal(256,0.5)."`
	MaxModelLen    *contextLen       `placeholder:"TOKENS" help:"Prompt and output together. Default: the profile's, else 131072."`
	Fault          []apiserver.Fault `sep:"none" placeholder:"NAME=SHARE[@TOKENS]" help:"Misbehave for a share of the requests, e.g. reset=0.05@3; may be repeated. See pitot serve --help."`
	Seed           uint64            `placeholder:"N" help:"Seed of its delays, faults and answers. Default: 0."`
}

// Numbers that have a range read themselves, so that what is outside it is
// refused under the name of the flag, which has a prefix in `pitot bench`.
type (
	slots      int
	contextLen int
)

// UnmarshalText reads a number of slots.
func (n *slots) UnmarshalText(text []byte) (err error) {
	*n, err = inRange(text, slots(0), math.MaxInt, "a whole number, or 0 for no limit")
	return err
}

// UnmarshalText reads a number of tokens.
func (n *contextLen) UnmarshalText(text []byte) (err error) {
	*n, err = inRange(text, contextLen(1), apiserver.MaxContext, fmt.Sprintf("a whole number from 1 to %d", apiserver.MaxContext))
	return err
}

// inRange reads a whole number from low to high; want says which.
func inRange[T ~int](text []byte, low, high T, want string) (T, error) {
	n, err := strconv.Atoi(string(text))
	if err != nil || T(n) < low || T(n) > high {
		return 0, fmt.Errorf("%q: must be %s", text, want)
	}
	return T(n), nil
}
