package cli

import (
	"fmt"
	"time"

	"github.com/pitot-bench/pitot/internal/model/profile"
)

// A flag of `pitot bench` and `pitot sim` has the path of the setting of a plan.Spec that
// it is for; compile.go puts them together. What has no path is about the results.

// benchFlags are those of `pitot bench`. Each is also a key of a settings file.
type benchFlags struct {
	Config string `placeholder:"FILE" help:"YAML file of the same settings, or of a plan as pitot plan prints it; flags override it."`

	targetFlags  `embed:"" group:"Target:"`
	requestFlags `embed:"" group:"Requests:"`
	loadFlags    `embed:"" group:"Load:"`
	orderFlags   `embed:"" group:"Before the run:"`
	resultFlags  `embed:"" group:"Results:"`
	profileFlag  `embed:"" group:"Embedded engine, used without --url:"`
	Engine       engineFlags `embed:"" prefix:"engine-" group:"Embedded engine, used without --url:"`
}

// simFlags are those of `pitot sim`: the same but for a server.
type simFlags struct {
	Config string `placeholder:"FILE" help:"YAML file of the same settings; flags override it."`

	askFlags     `embed:"" group:"Requests:"`
	requestFlags `embed:"" group:"Requests:"`
	loadFlags    `embed:"" group:"Load:"`
	resultFlags  `embed:"" group:"Results:"`
	profileFlag  `embed:"" group:"Engine:"`
	Engine       engineFlags `embed:"" prefix:"engine-" group:"Engine:"` // but see bareEngineFlags
}

// targetFlags say what to measure and how to reach it.
type targetFlags struct {
	URL string `path:"target.url" placeholder:"URL" help:"Server to measure, e.g. http://127.0.0.1:8000. Without it the embedded engine is measured."`
	askFlags
	Endpoint       string        `path:"target.route" placeholder:"PATH" help:"Route of the requests. Default: that of the protocol, such as /v1/completions."`
	APIKeyEnv      string        `path:"target.key.env" name:"api-key-env" placeholder:"NAME" help:"Environment variable with the bearer key (OPENAI_API_KEY, if it is set)."`
	APIKeyFile     string        `path:"target.key.file" name:"api-key-file" placeholder:"FILE" help:"File with the bearer key, in place of the variable."`
	Header         []string      `path:"target.headers" placeholder:"NAME=VALUE" sep:"none" help:"Header of every request; may be repeated."`
	CA             string        `path:"target.ca" name:"ca" placeholder:"FILE" help:"PEM file of certificate authorities to trust beside the system's."`
	Insecure       bool          `path:"target.insecure" help:"Do not verify the server's certificate."`
	HTTP2          bool          `path:"target.http2" name:"http2" help:"Speak HTTP/2, with prior knowledge where there is no TLS."`
	Client         string        `path:"client.engine" placeholder:"ENGINE" help:"What carries the requests: h1, our own HTTP/1.1, or nethttp, Go's. Default: h1; nethttp for HTTP/2 and proxies."`
	Procs          int           `path:"client.procs" placeholder:"N" help:"Processors that the client may use at once. Default: all of this process, at most 8."`
	NewConnections bool          `path:"client.new_connections" help:"Open a new connection for every request."`
	Timeout        time.Duration `path:"client.timeout" default:"1h" placeholder:"TIME" help:"Time limit of a request, 0 for none (${default})."`
	IdleTimeout    time.Duration `path:"client.idle_timeout" placeholder:"TIME" help:"Time limit between two arrivals of bytes. Default: none."`
	Body           string        `path:"request.body" placeholder:"JSON" help:"Object merged over the body of every request, e.g. {\"temperature\": 0}."`
}

// askFlags say how to ask for answers.
type askFlags struct {
	Model      string `path:"request.model" placeholder:"NAME" help:"Model or adapter to ask for. Default: the first that /v1/models lists."`
	Protocol   string `path:"request.protocol" placeholder:"NAME" help:"completions, chat, responses, messages (Anthropic's), generate (SGLang's own), tgi, trt (Triton), truss, embeddings, pooling, rerank or transcription. Default: completions, or chat for images and conversations."`
	NoStream   bool   `path:"request.stream" help:"Ask for whole answers instead of streams."`
	TokenUsage bool   `path:"request.usage" help:"Ask for the token count in every chunk (continuous_usage_stats), not only at the end."`
	IgnoreEOS  *bool  `path:"request.ignore_eos" name:"ignore-eos" negatable:"" help:"Ask for answers of the full length. Default: for random workloads."`
}

// requestFlags say what to send.
type requestFlags struct {
	Requests int `path:"requests" short:"n" placeholder:"N" help:"Number of requests; of a mix or of tenants, of arrivals. Default: 100; of files that are not oversampled, all."`
	workloadFlags
	Mix        []string `path:"load[0].mix" sep:"none" placeholder:"SETTINGS" help:"A workload among several, as its settings with blanks between: weight=0.7 workload=random input-len=200. Repeat it; the weights are shares of the arrivals."`
	Tenants    []string `path:"load" name:"tenant" aliases:"tenants" sep:"none" placeholder:"SETTINGS" help:"A tenant with arrivals and a workload of its own, written likewise: name=a rate=5 workload=chat. Repeat it."`
	Tokenizer  string   `path:"tokenizer.where" placeholder:"WHERE" help:"tokenizer.json, a tiktoken file, a folder with one, a Hugging Face name in this machine's caches, server, or none for prompts of token ids. Default: the model's name in the caches, else the server's /tokenize, else none."`
	HFDownload bool     `path:"tokenizer.download" name:"hf-download" help:"Download from the Hugging Face hub, or from HF_ENDPOINT, what its cache on this machine lacks; with HF_TOKEN where that is needed."`
	VocabSize  int      `path:"tokenizer.vocab" default:"16000" placeholder:"N" help:"Token ids to draw from where the tokenizer does not tell (${default})."`
	Seed       uint32   `path:"seed" placeholder:"N" help:"Seed of prompts and arrivals. Default: 0."`
}

// workloadFlags describe a dataset: of all that is sent, or of a part.
type workloadFlags struct {
	Workload      string  `path:"load[0].dataset.kind" default:"random" placeholder:"NAME" help:"random, random-mm (text and images), sharegpt, custom, trace (of a service), chat or agent (conversations that are drawn), or conversations (that were recorded) (${default})."`
	InputLen      string  `path:"load[0].dataset.input_len" default:"256" placeholder:"TOKENS" help:"Prompt length of random workloads, and of first turns: a number, or uniform(64,256), normal(200,50) or lognormal(200,0.7), which takes the mean and the coefficient of variation (${default})."`
	InputRange    float64 `path:"load[0].dataset.input_range" placeholder:"SHARE" help:"Spread of the prompt length, uniform in [L(1-r), L(1+r)]."`
	PrefixLen     int     `path:"load[0].dataset.prefix_len" placeholder:"TOKENS" help:"Tokens that all random prompts share at their beginning, beside the prompt length; of conversations, a system prompt."`
	OutputLen     string  `path:"load[0].dataset.output_len" placeholder:"TOKENS" help:"Output length, likewise. Default: 64 for generated workloads, the recorded length for files."`
	OutputRange   float64 `path:"load[0].dataset.output_range" placeholder:"SHARE" help:"Spread of the output length of random workloads."`
	Texts         int     `path:"load[0].dataset.texts" default:"1" placeholder:"N" help:"Random texts in a request to embed or pool; of one to rerank, documents beside the query (${default})."`
	Lengths       string  `path:"load[0].dataset.lengths" placeholder:"FILE" help:"Draw lengths from those in this file: a line has that of a prompt, or that, a comma, and that of its answer."`
	Fit           int     `path:"load[0].dataset.fit" placeholder:"TOKENS" help:"Shorten prompts, and end conversations, so that prompt and answer fit so many tokens."`
	Images        int     `path:"load[0].dataset.images" default:"1" placeholder:"N" help:"Images in a request of random-mm (${default})."`
	ImageRange    float64 `path:"load[0].dataset.image_range" placeholder:"SHARE" help:"Spread of the number of images."`
	ImageSizes    string  `path:"load[0].dataset.image_sizes" default:"256x256=0.5,1280x720=0.5" placeholder:"LIST" help:"WIDTHxHEIGHT=FREQUENCY, separated by commas (${default})."`
	Data          string  `path:"load[0].dataset.data" placeholder:"FILE" help:"File of the sharegpt, custom, trace or conversations workload."`
	Shuffle       bool    `path:"load[0].dataset.shuffle" help:"Take the lines of a custom file in random order."`
	NoOversample  bool    `path:"load[0].dataset.no_oversample" help:"Send fewer requests rather than some twice when the file is short."`
	TraceFormat   string  `path:"load[0].dataset.trace_format" placeholder:"NAME" help:"azure, burstgpt or mooncake. Default: what the file begins with."`
	TraceModel    string  `path:"load[0].dataset.trace_model" placeholder:"NAME" help:"Take the requests of this model alone, where a trace tells models."`
	LogType       string  `path:"load[0].dataset.log_type" placeholder:"NAME" help:"Take the requests of this type of log alone, such as api or conversation."`
	Slice         string  `path:"load[0].dataset.slice" placeholder:"FROM..TO" help:"Take this part of a trace, since its beginning: 10m..20m, or 1h.. for what comes then."`
	Sample        float64 `path:"load[0].dataset.sample" placeholder:"SHARE" help:"Take this share of a trace, each request by chance."`
	BlockLen      int     `path:"load[0].dataset.block_len" default:"512" placeholder:"TOKENS" help:"Tokens that a hash id of a trace stands for (${default})."`
	Conversations int     `path:"load[0].dataset.conversations" placeholder:"N" help:"Number of conversations. Default: as many as make --requests; of a file, all."`
	Turns         string  `path:"load[0].dataset.turns" placeholder:"N" help:"Turns of a conversation, a number or a distribution. Default: uniform(2,6) for chat, uniform(4,12) for agent."`
	TurnLen       string  `path:"load[0].dataset.turn_len" placeholder:"TOKENS" help:"Length of a later turn. Default: 64 for chat; lognormal(300,1), as of results of tools, for agent."`
	Think         string  `path:"load[0].dataset.think" placeholder:"TIME" help:"Pause from an answer to the next turn: a time such as 2s, or a distribution. Default: exponential(5s) for chat, lognormal(1s,1) for agent; for a file, as recorded."`
	History       string  `path:"load[0].dataset.history" default:"live" placeholder:"WHICH" help:"Answers that a recorded conversation goes on from: live, those that come, or recorded, those of the file (${default})."`
}

// loadFlags say when to send.
type loadFlags struct {
	Rate        float64 `path:"load[0].arrival.rate" placeholder:"R" help:"Requests per second, or conversations that begin. Default, when nothing else says when to send: 10."`
	Ramp        string  `path:"load[0].arrival.ramp" placeholder:"SHAPE" help:"Rising or falling rate, linear:FROM..TO or exponential:FROM..TO in requests per second."`
	Replay      string  `path:"load[0].arrival.file" placeholder:"FILE" help:"Send at the times in this file, one number of seconds a line; data takes the timestamps of --data."`
	Speed       float64 `path:"load[0].arrival.speed" default:"1" placeholder:"X" help:"Divide the times of a replay or a trace by this (${default})."`
	Arrival     string  `path:"load[0].arrival.kind" placeholder:"PROCESS" help:"at-once, constant, poisson or gamma. Default: poisson with a rate or a ramp."`
	Burstiness  float64 `path:"load[0].arrival.burstiness" default:"1" placeholder:"B" help:"Shape of gamma arrivals: 1 is Poisson, less is burstier (${default})."`
	Concurrency int     `path:"gate.concurrency" short:"c" placeholder:"N" help:"Requests in flight at most. Alone it makes a closed loop."`
	Hold        bool    `path:"gate.hold" help:"With --concurrency, conversations at most: one keeps its place from its first request to its last, pauses included."`
}

// orderFlags say what precedes the run.
type orderFlags struct {
	ReadyTimeout   time.Duration `path:"before.ready.timeout" placeholder:"TIME" help:"Maximum time to wait for the server to become ready and to answer a first small request, 0 to skip that. Default: 30s for one that accepts connections, none for one that does not."`
	Warmup         int           `path:"before.warm_up.requests" default:"2" placeholder:"N" help:"Warm-up requests, with prompts of their own (${default})."`
	WarmupMeasured bool          `path:"before.warm_up.from" help:"Warm up with the first of the measured prompts instead: they may then be cached."`
	Profiler       bool          `path:"before.profiler.start.route" help:"Call /start_profile before the run and /stop_profile after it."`
}

// resultFlags say what to make of the run.
type resultFlags struct {
	SLO         []string  `path:"objectives" name:"slo" placeholder:"LIMITS" help:"Goodput objectives, e.g. ttft=200ms,tpot=50ms; of ttft, tpot, itl, e2el."`
	Percentiles []float64 `path:"percentiles" placeholder:"LIST" help:"Percentiles to report. Default: 90,95,99."`
	Report      []string  `default:"pitot" aliases:"dialect" placeholder:"LIST" help:"Reports to print: pitot, vllm, sglang, json (${default}). --dialect is the same."`
	Form        string    `name:"dialect-version" placeholder:"FORM" help:"Form of the report of vllm or sglang, as of pitot runs report. Default: main."`
	Name        string    `path:"name" placeholder:"TEXT" help:"Name to find the run by."`
	KeepText    bool      `path:"keep_text" help:"Keep the text of the answers."`

	RequireValid bool `help:"Exit with 3 unless the run is valid."`
	Quiet        bool `short:"q" help:"No progress on stderr."`
	storeSetting
}

// storeSetting says where runs are kept.
type storeSetting struct {
	Store string `placeholder:"FILE" help:"SQLite file of the runs. Default: PITOT_STORE, or pitot/pitot.db in the user's data folder."`
}

// profileFlag says which deployment the simulated engine stands for.
type profileFlag struct {
	Profile profileName `path:"target.engine.profile" placeholder:"NAME|FILE" help:"Deployment that it stands for: a profile that pitot profiles lists, or a YAML file. Default: small-chat, unless latencies or slots are given."`
}

// A profileName is never given and empty, as it would be by a variable of a shell that is
// not set.
type profileName string

// UnmarshalText reads a name.
func (n *profileName) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		return fmt.Errorf("is empty; leave it out for %s", profile.Default)
	}
	*n = profileName(text)
	return nil
}

// engineFlags configure the simulated engine; those of `pitot serve` too.
type engineFlags struct {
	TTFT           string   `path:"target.engine.ttft" placeholder:"TIME" help:"In place of a profile, time to the first token: 50ms, uniform(40ms,60ms), normal(50ms,5ms), lognormal(50ms,0.2), exponential(50ms) or gamma(50ms,0.5); lognormal and gamma take the mean and the coefficient of variation. Default: 50ms, if another of the next four is given."`
	ITL            string   `path:"target.engine.itl" placeholder:"TIME" help:"Time between two tokens. Default: 10ms, as above."`
	PerPromptToken string   `path:"target.engine.per_prompt_token" placeholder:"TIME" help:"Added to the time to the first token for each prompt token. Default: 0s."`
	PerImage       string   `path:"target.engine.per_image" placeholder:"TIME" help:"Added to it for each image. Default: 0s."`
	Slots          string   `path:"target.engine.slots" placeholder:"N" help:"Requests served at once; more wait in a queue. Default: no limit."`
	OutputLen      string   `path:"target.engine.output_len" placeholder:"TOKENS" help:"Length of answers whose end is up to the model. Default: the profile's, else lognormal(256,0.5)."`
	MaxModelLen    string   `path:"target.engine.max_model_len" placeholder:"TOKENS" help:"Prompt and output together. Default: the profile's, else 131072."`
	Fault          []string `path:"target.engine.fault" sep:"none" placeholder:"NAME=SHARE[@TOKENS]" help:"Misbehave for a share of the requests, e.g. reset=0.05@3; may be repeated. See pitot serve --help."`
	Seed           uint64   `path:"target.engine.seed" placeholder:"N" help:"Seed of its delays, faults and answers. Default: 0."`
}
