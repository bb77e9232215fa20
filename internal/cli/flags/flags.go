// Package flags has the flags of `pitot bench`, `pitot sim` and `pitot serve`, and those that
// select stored runs.
//
// A flag has the path of the setting of a plan.Spec that it is for; tool/pitot puts them together. Flags without a
// path are about the results.
package flags

import (
	"cmp"
	"fmt"
	"net"
	"strconv"
	"time"

	"github.com/pitot-bench/pitot/internal/model/profile"
	"github.com/pitot-bench/pitot/internal/session"
	"github.com/pitot-bench/pitot/internal/tool/pitot"
)

// Bench are those of `pitot bench`. Each is also a key of a settings file.
type Bench struct {
	Config string `placeholder:"FILE" help:"YAML file of the same settings, or of a plan; flags override it."`

	Target    `embed:"" group:"Target:"`
	Requests  `embed:"" group:"Requests:"`
	Load      `embed:"" group:"Load:"`
	BeforeRun `embed:"" group:"Before the run:"`
	Sampling  `embed:"" group:"Beside the run:"`
	Page      `embed:"" group:"Beside the run:"`
	Fleet     session.Fleet `embed:"" group:"Fleet:"`
	Results   `embed:"" group:"Results:"`
	Profile   `embed:"" group:"Embedded engine, used without --url:"`
	Engine    Engine `embed:"" prefix:"engine-" group:"Embedded engine, used without --url:"`
}

// Sim are those of `pitot sim`: the same but for a server.
type Sim struct {
	Config string `placeholder:"FILE" help:"YAML file of the same settings; flags override it."`

	Asking   `embed:"" group:"Requests:"`
	Requests `embed:"" group:"Requests:"`
	Load     `embed:"" group:"Load:"`
	Results  `embed:"" group:"Results:"`
	Profile  `embed:"" group:"Engine:"`
	Engine   Engine `embed:"" prefix:"engine-" group:"Engine:"` // but see bareEngineFlags
}

// Target say what to measure and how to reach it.
type Target struct {
	URL  string `path:"target.url" often:"" placeholder:"URL" help:"Server to measure, e.g. http://127.0.0.1:8000. Without it the embedded engine is measured."`
	Host string `path:"target.host" placeholder:"NAME" help:"Server to measure, in place of --url: its name or address (127.0.0.1 with --port alone)."`
	Port int    `path:"target.port" takes:"a port, such as 8000" placeholder:"N" help:"Its port (8000 with --host alone)."`
	Asking
	Endpoint string `path:"target.route" placeholder:"PATH" help:"Route of the requests. Default: that of the protocol, such as /v1/completions."`
	Connection
	Client         string        `path:"client.engine" placeholder:"ENGINE" help:"HTTP client: h1, Pitot's own HTTP/1.1, or nethttp, Go's. Default: h1; nethttp for HTTP/2 and proxies."`
	Procs          int           `path:"client.procs" placeholder:"N" help:"Processors for the client to use. Default: all of this process, at most 8."`
	NewConnections bool          `path:"client.new_connections" help:"Open a new connection for every request."`
	NoResend       bool          `path:"client.no_resend" help:"Do not send a request again whose reused connection the server closed without an answer."`
	Timeout        time.Duration `path:"client.timeout" default:"1h" placeholder:"TIME" help:"Time limit of a request, 0 for none (${default})."`
	IdleTimeout    time.Duration `path:"client.idle_timeout" placeholder:"TIME" help:"Time limit between two arrivals of bytes. Default: none."`
	MaxEvent       int           `path:"client.max_event" placeholder:"MIB" help:"Largest event of a stream, in MiB. Default: 8."`
	MaxBody        int           `path:"client.max_body" placeholder:"MIB" help:"Largest answer that is not a stream, in MiB. Default: 64."`
	ServerEnv      []string      `path:"target.site" sep:"none" placeholder:"TARGET" help:"Where the server runs whose environment is kept: local, pid:N, docker:NAME, podman:NAME, ssh:HOST, kubectl:POD[@NAMESPACE], or none; with :PORT behind it if that is not the URL's. Other processes of a deployment have their role ahead, as in prefill=ssh:HOST:8100; may be repeated. Default: this machine, if the URL is one of it."`
	ServerTree     string        `path:"target.tree" placeholder:"DIR" help:"Working tree of git there whose commit is kept. Default: those that the server's packages are installed from, and its working directory."`
	Temperature    float64       `path:"request.temperature" takes:"a temperature, such as 0.7" placeholder:"T" help:"Sampling temperature of every request. Default: the server's."`
	Body           string        `path:"request.body" aliases:"extra-body" placeholder:"JSON" help:"Object merged into the body of every request, e.g. {\"temperature\": 0}; null leaves a member out."`
}

// Address is the URL of the server, also where --host or --port name it; empty: none is given.
func (t *Target) Address() string {
	if t.URL != "" || t.Host == "" && t.Port == 0 {
		return t.URL
	}
	port := pitot.DefaultPort
	if t.Port != 0 {
		port = strconv.Itoa(t.Port)
	}
	return "http://" + net.JoinHostPort(cmp.Or(t.Host, pitot.DefaultHost), port)
}

// Connection says how a server is reached, for requests and for all else that it is asked.
type Connection struct {
	APIKeyEnv  string   `path:"target.key.env" name:"api-key-env" placeholder:"NAME" help:"Environment variable with the bearer key (OPENAI_API_KEY, if it is set)."`
	APIKeyFile string   `path:"target.key.file" name:"api-key-file" placeholder:"FILE" help:"File with the bearer key, in place of the variable."`
	Header     []string `path:"target.headers" placeholder:"NAME=VALUE" sep:"none" help:"Header of every request; may be repeated."`
	CA         string   `path:"target.ca" name:"ca" placeholder:"FILE" help:"PEM file of certificate authorities to trust in addition to the system's."`
	Insecure   bool     `path:"target.insecure" help:"Do not verify the server's certificate."`
	HTTP2      bool     `path:"target.http2" name:"http2" help:"Use HTTP/2, with prior knowledge if there is no TLS."`
}

// Asking says how to ask for answers.
type Asking struct {
	Model      string `path:"request.model" often:"" placeholder:"NAME" help:"Model or adapter to ask for. Default: the first that /v1/models lists."`
	Protocol   string `path:"request.protocol" often:"" placeholder:"NAME" help:"completions, chat, responses, messages (Anthropic's), generate (SGLang's own), tgi, trt (Triton), truss, embeddings, pooling, rerank or transcription. Default: completions, or chat for images and conversations."`
	NoStream   bool   `path:"request.stream" help:"Ask for whole answers instead of streams."`
	TokenUsage bool   `path:"request.usage" help:"Ask for the token count in every chunk (continuous_usage_stats), not only at the end."`
	IgnoreEOS  *bool  `path:"request.ignore_eos" name:"ignore-eos" negatable:"" help:"Ask for answers of full length. Default: for random workloads."`
}

// Requests say what to send.
type Requests struct {
	Requests int           `path:"requests" takes:"requests, such as 100" often:"" short:"n" aliases:"num-prompts" placeholder:"N" help:"Number of requests; for a mix or tenants, number of arrivals. Default: 100; for files that are not oversampled, all."`
	Duration time.Duration `path:"duration" often:"" placeholder:"TIME" help:"How long to send requests, such as 1m; those in flight are then waited for. With --requests, whichever comes first."`
	Workload
	Mix        []string `path:"load[0].mix" sep:"none" placeholder:"SETTINGS" help:"One workload of several, as settings separated by blanks: weight=0.7 workload=random input-len=200. Repeated; weights are shares of the arrivals."`
	Tenants    []string `path:"load" name:"tenant" aliases:"tenants" sep:"none" placeholder:"SETTINGS" help:"A tenant with its own arrivals and workload, in the same form: name=a rate=5 workload=chat. Repeated."`
	Tokenizer  string   `path:"tokenizer.where" placeholder:"WHERE" help:"tokenizer.json, a tiktoken file, a folder with one, a Hugging Face name in this machine's caches, server, or none for prompts of token ids. Default: the model's name in the caches, else the server's /tokenize, else none."`
	HFDownload bool     `path:"tokenizer.download" name:"hf-download" help:"Download what the cache of this machine lacks from the Hugging Face hub, or from HF_ENDPOINT, with HF_TOKEN if needed."`
	VocabSize  int      `path:"tokenizer.vocab" placeholder:"N" help:"Vocabulary size to draw from if the tokenizer does not define it. Default: the server's, where /v1/models says it as llama.cpp's does, else 16000."`
	Seed       uint32   `path:"seed" often:"" placeholder:"N" help:"Seed of prompts and arrivals. Default: drawn for pitot bench --url, and 0 elsewhere."`
}

// Workload describe a dataset: of all that is sent, or of a part.
type Workload struct {
	Workload      string  `path:"load[0].dataset.kind" often:"" default:"random" placeholder:"NAME" help:"random, random-mm (text and images), sharegpt, custom, trace (of a service), chat or agent (generated conversations), conversations (recorded), recall, sums or copy (questions) (${default})."`
	InputLen      string  `path:"load[0].dataset.input_len" often:"" default:"256" placeholder:"TOKENS" help:"Prompt length of random workloads, and of first turns: a number, or uniform(64,256), normal(200,50) or lognormal(200,0.7), which takes the mean and the coefficient of variation (${default})."`
	InputRange    float64 `path:"load[0].dataset.input_range" takes:"a share, such as 0.5" placeholder:"SHARE" help:"Spread of the prompt length, uniform in [L(1-r), L(1+r)]."`
	PrefixLen     int     `path:"load[0].dataset.prefix_len" often:"" placeholder:"TOKENS" help:"Length of a prefix shared by all random prompts, in addition to the prompt length; for conversations, a system prompt."`
	OutputLen     string  `path:"load[0].dataset.output_len" often:"" placeholder:"TOKENS" help:"Output length, in the same form. Default: 64 for generated workloads, the recorded length for files."`
	OutputRange   float64 `path:"load[0].dataset.output_range" takes:"a share, such as 0.5" placeholder:"SHARE" help:"Spread of the output length of random workloads."`
	Texts         int     `path:"load[0].dataset.texts" default:"1" placeholder:"N" help:"Random texts per embeddings or pooling request; for rerank, documents per query (${default})."`
	Lengths       string  `path:"load[0].dataset.lengths" placeholder:"FILE" help:"File of lengths to draw from: one prompt length per line, or prompt and output length separated by a comma."`
	Fit           int     `path:"load[0].dataset.fit" placeholder:"TOKENS" help:"Shorten prompts and end conversations so that prompt and answer fit this many tokens."`
	Images        int     `path:"load[0].dataset.images" default:"1" placeholder:"N" help:"Images per request of random-mm (${default})."`
	ImageRange    float64 `path:"load[0].dataset.image_range" placeholder:"SHARE" help:"Spread of the number of images."`
	ImageSizes    string  `path:"load[0].dataset.image_sizes" default:"256x256=0.5,1280x720=0.5" placeholder:"LIST" help:"WIDTHxHEIGHT=FREQUENCY, separated by commas (${default})."`
	Data          string  `path:"load[0].dataset.data" often:"" placeholder:"FILE" help:"File of the sharegpt, custom, trace or conversations workload."`
	Shuffle       bool    `path:"load[0].dataset.shuffle" help:"Take the lines of a custom file in random order."`
	Grade         string  `path:"load[0].dataset.grade" placeholder:"GRADER" help:"Grader of answers to lines of a custom file that name none: exact, exact-i, number, choice, contains, json, json-subset, regex:PATTERN, gsm8k.strict or gsm8k.flexible."`
	NoOversample  bool    `path:"load[0].dataset.no_oversample" help:"Send fewer requests instead of repeating some when the file is short."`
	TraceFormat   string  `path:"load[0].dataset.trace_format" placeholder:"NAME" help:"azure, burstgpt, mooncake or bailian. Default: detected from the first line."`
	TimeUnit      string  `path:"load[0].dataset.time_unit" placeholder:"UNIT" help:"Unit of the times of a trace: s, ms or us. Default: ms for mooncake, s for others."`
	TraceModel    string  `path:"load[0].dataset.trace_model" placeholder:"NAME" help:"Only take the requests of this model, if the trace names models."`
	LogType       string  `path:"load[0].dataset.log_type" placeholder:"NAME" help:"Only take the requests of this log type, such as api or conversation."`
	Slice         string  `path:"load[0].dataset.slice" placeholder:"FROM..TO" help:"Only take this part of a trace, from its beginning: 10m..20m, or 1h.. for the rest."`
	Sample        float64 `path:"load[0].dataset.sample" placeholder:"SHARE" help:"Only take this share of a trace, chosen at random."`
	BlockLen      int     `path:"load[0].dataset.block_len" placeholder:"TOKENS" help:"Tokens per hash id of a trace. Default: 512, for bailian 16."`
	Conversations int     `path:"load[0].dataset.conversations" placeholder:"N" help:"Number of conversations. Default: enough for --requests; for a file, all."`
	Turns         string  `path:"load[0].dataset.turns" placeholder:"N" help:"Turns per conversation, a number or a distribution. Default: uniform(2,6) for chat, uniform(4,12) for agent."`
	TurnLen       string  `path:"load[0].dataset.turn_len" placeholder:"TOKENS" help:"Length of a later turn. Default: 64 for chat; lognormal(300,1) for agent, the size of tool results."`
	Think         string  `path:"load[0].dataset.think" placeholder:"TIME" help:"Pause between an answer and the next turn: a time such as 2s, or a distribution. Default: exponential(5s) for chat, lognormal(1s,1) for agent; for a file, the recorded one."`
	History       string  `path:"load[0].dataset.history" default:"live" placeholder:"WHICH" help:"Answers in the history of a recorded conversation: live, those of the server, or recorded, those of the file (${default})."`
}

// Load say when to send.
type Load struct {
	Rate        float64 `path:"load[0].arrival.rate" takes:"requests per second, such as 10 or 2.5, or inf; a rate that changes is --ramp linear:1..20" often:"" aliases:"request-rate" placeholder:"R" help:"Requests, or new conversations, per second; inf for all at once. Default: 10, if no other flag sets the arrivals."`
	Ramp        string  `path:"load[0].arrival.ramp" placeholder:"SHAPE" help:"Rising or falling rate, linear:FROM..TO or exponential:FROM..TO in requests per second."`
	Replay      string  `path:"load[0].arrival.file" placeholder:"FILE" help:"File of send times, one number of seconds per line; data uses the timestamps of --data."`
	Speed       float64 `path:"load[0].arrival.speed" takes:"a factor, such as 2" default:"1" placeholder:"X" help:"Speed of a replay or a trace: its times are divided by this (${default})."`
	Arrival     string  `path:"load[0].arrival.kind" placeholder:"PROCESS" help:"at-once, constant, poisson or gamma. Default: poisson with a rate or a ramp."`
	Burstiness  float64 `path:"load[0].arrival.burstiness" default:"1" placeholder:"B" help:"Shape of gamma arrivals: 1 is Poisson, less is burstier (${default})."`
	Concurrency int     `path:"gate.concurrency" takes:"requests in flight, such as 16" often:"" short:"c" aliases:"max-concurrency" placeholder:"N" help:"Maximum number of requests in flight. Without a rate it makes a closed loop."`
	Hold        bool    `path:"gate.hold" help:"Make --concurrency a limit on conversations: each holds its place until its last request is done, pauses included."`
}

// BeforeRun says what precedes the run.
type BeforeRun struct {
	ReadyTimeout   time.Duration `path:"before.ready.timeout" placeholder:"TIME" help:"Maximum time to wait for the server to become ready and to answer a first small request, 0 to skip. Default: 30s if it accepts connections, else no wait."`
	Warmup         int           `path:"before.warm_up.requests" often:"" default:"2" placeholder:"N" help:"Warm-up requests, with prompts of their own; 0 for none. Default: for pitot bench --url a few waves of short requests until two agree, ${default} elsewhere."`
	WarmupMeasured bool          `path:"before.warm_up.from" help:"Warm up with the first measured prompts instead, which may then be cached."`
	WarmupSteady   bool          `path:"before.warm_up.steady" help:"Warm up with waves of requests at the concurrency of the run, in place of --warmup, until two successive ones agree within 5 % in median TTFT and TPOT; at most ten."`
	Cache          string        `path:"cache" placeholder:"STATE" help:"State of the server's prefix cache when the run begins, to be brought about and proved: cold (it is reset), primed (the prompts of the run were sent before) or warm (left as it is)."`
	Settle         time.Duration `path:"before.settle" placeholder:"TIME" help:"Pause before the run, after warm-up and cache; 10s of it measure what devices draw when idle. Default: none."`
	Profiler       bool          `path:"before.profiler.start.route" help:"Call /start_profile before the run and /stop_profile after it."`
}

// Sampling are the flags for telemetry during a run.
type Sampling struct {
	Collect      []string      `path:"telemetry.sources" sep:"none" placeholder:"SOURCE" help:"What to sample beside the run: the URL of an exporter such as a server's /metrics, DCGM's or node_exporter's; host, nvidia-smi, npu-smi or amd-smi, on another machine with @HOST behind it (ssh); none for nothing. May be repeated. Default: the server's /metrics, this machine, and its devices if the server is on it."`
	CollectEvery time.Duration `path:"telemetry.every" placeholder:"TIME" help:"Time between two samples. Default: 1s."`
	MetricsAddr  string        `rare:"" placeholder:"ADDR" help:"Address, such as 127.0.0.1:9464, on which Prometheus can scrape the figures of the run while it goes on."`
	CollectKeep  []string      `path:"telemetry.keep" sep:"none" placeholder:"PATTERN" help:"Series to keep under their own names, such as vllm:*, besides those that Pitot has a name for. May be repeated."`
}

// Results say what to make of the run.
type Results struct {
	SLO         []string  `path:"objectives" often:"" name:"slo" placeholder:"LIMITS" help:"Objectives: ttft=200ms,tpot=50ms of each request, which make goodput, ttft.p99=200ms or tpot.mean=40ms of the run; <= goes too, in quotes. Of ttft, tpot, itl, e2el."`
	Percentiles []float64 `path:"percentiles" placeholder:"LIST" help:"Percentiles to report. Default: 90,95,99."`
	Report      []string  `default:"pitot" aliases:"dialect" placeholder:"LIST" help:"Reports to print: pitot, vllm, sglang, json (${default}). --dialect is the same."`
	All         bool      `help:"Print the whole report of pitot, not its first screen."`
	Prices      `embed:""`
	Form        string `rare:"" name:"dialect-version" placeholder:"FORM" help:"Version of the vllm or sglang report; see pitot runs report. Default: the newest."`
	Name        string `path:"name" often:"" placeholder:"TEXT" help:"Name of the run."`
	KeepText    bool   `path:"keep_text" help:"Keep the text of the answers."`

	Repeat       int      `default:"1" placeholder:"N" help:"Number of runs to make, one after the other, each with the next seed (${default})."`
	SameSeed     bool     `rare:"" help:"Give all of --repeat the same seed, and so the same requests."`
	FailIf       []string `name:"fail-if" sep:"none" placeholder:"GATE" help:"Exit with 3 if this holds for a figure of the run, such as 'ttft.p99 > 200ms' or 'requests.failed > 0'; with 4 if the run cannot tell. May be repeated."`
	RequireValid bool     `rare:"" help:"Exit with 3 unless the run is valid."`
	Quiet        bool     `rare:"" short:"q" help:"Do not show progress on stderr."`
	ProgressFlag
	StoreFlag
}

// Page says whether runs are shown in a browser while they are made.
type Page struct {
	UI bool `name:"ui" help:"Show the runs in a browser while they are made: a second process serves the page, and prints its address."`
}

// ProgressFlag says how a run is shown while it goes on.
type ProgressFlag struct {
	Progress string `rare:"" enum:"auto,live,plain,off" default:"auto" placeholder:"HOW" help:"Progress on stderr: auto, a live view on a terminal of at least 60 columns and 16 rows, else plain; live, the view on any terminal; plain, one line; off (${default})."`
}

// StoreFlag says where runs are stored.
type StoreFlag struct {
	Store string `rare:"" placeholder:"FILE" help:"SQLite file of the runs. Default: PITOT_STORE, or pitot/pitot.db in the user's data folder."`
}

// Profile  says which deployment the simulated engine stands for.
type Profile struct {
	Profile profileName `path:"target.engine.profile" often:"" placeholder:"NAME|FILE" help:"Deployment to simulate: a profile listed by pitot profiles, or a YAML file. Default: small-chat, unless latencies or slots are given."`
}

// A profileName is never given and empty, as it would be by a variable of a shell that is
// not set.
type profileName string

func (n *profileName) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		return fmt.Errorf("is empty; leave it out for %s", profile.Default)
	}
	*n = profileName(text)
	return nil
}

// Engine configure the simulated engine; those of `pitot serve` too.
type Engine struct {
	TTFT           string   `path:"target.engine.ttft" often:"" placeholder:"TIME" help:"Time to first token, instead of a profile: 50ms, uniform(40ms,60ms), normal(50ms,5ms), lognormal(50ms,0.2), exponential(50ms) or gamma(50ms,0.5); lognormal and gamma take the mean and the coefficient of variation. Default: 50ms, if one of the next four is given."`
	ITL            string   `path:"target.engine.itl" often:"" placeholder:"TIME" help:"Time between two tokens, instead of a profile. Default: 10ms."`
	PerPromptToken string   `path:"target.engine.per_prompt_token" placeholder:"TIME" help:"Added to the time to the first token for each prompt token. Default: 0s."`
	PerImage       string   `path:"target.engine.per_image" placeholder:"TIME" help:"Added to the time to the first token for each image. Default: 0s."`
	Slots          string   `path:"target.engine.slots" often:"" placeholder:"N" help:"Requests served at once; others wait in a queue. Default: no limit."`
	OutputLen      string   `path:"target.engine.output_len" often:"" placeholder:"TOKENS" help:"Length of answers that the model ends itself. Default: the profile's, else lognormal(256,0.5)."`
	MaxModelLen    string   `path:"target.engine.max_model_len" often:"" placeholder:"TOKENS" help:"Maximum tokens of prompt and output together. Default: the profile's, else 131072."`
	Fault          []string `path:"target.engine.fault" often:"" sep:"none" placeholder:"NAME=SHARE[@TOKENS]" help:"Fault for a share of the requests, e.g. reset=0.05@3; may be repeated. See pitot serve --help."`
	Seed           uint64   `path:"target.engine.seed" often:"" placeholder:"N" help:"Seed of its delays, its faults and the lengths of its answers. Default: 0."`

	Slower       string `path:"target.engine.slower" placeholder:"P" help:"Make all steps of the profile longer by this share, such as 3%; -3% makes them shorter."`
	StartSpread  string `path:"target.engine.start_spread" placeholder:"P" help:"Draw a factor on all steps at each start, by the seed: normal, with this relative standard deviation, such as 1%."`
	Drift        string `path:"target.engine.drift.change" placeholder:"P" help:"Make steps longer with time, in the end by this share, such as 5%; with --drift-over."`
	DriftOver    string `path:"target.engine.drift.over" placeholder:"TIME" help:"Time in which they do, such as 10m."`
	DriftSettles bool   `path:"target.engine.drift.settles" help:"Begin with the whole change, which dies away as exp(-t/over)."`
	DriftSince   string `path:"target.engine.drift.since" placeholder:"INSTANT" help:"When the drift began, such as 2026-05-04T08:30:00Z, so that servers share it. Default: at the start of the server."`
	DriftOffset  string `path:"target.engine.drift.offset" placeholder:"TIME" help:"How much of the drift has passed when it would begin, such as 90s."`
	StallEvery   string `path:"target.engine.stalls.every" placeholder:"TIME" help:"Time from one stall to the next, in which all streams stand still: 30s or a distribution, such as exponential(30s); with --stall-length."`
	StallLength  string `path:"target.engine.stalls.length" placeholder:"TIME" help:"How long a stall lasts: 800ms or a distribution."`
}
