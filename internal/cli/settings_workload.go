package cli

import (
	"fmt"
	"strconv"

	"github.com/pitot-bench/pitot/internal/load/dist"
)

// workloadSettings describe one workload: the whole of what is sent, a part of a mix, or
// what a tenant sends.
type workloadSettings struct {
	Workload     string  `enum:"random,random-mm,sharegpt,custom,trace,chat,agent,conversations" default:"random" placeholder:"NAME" help:"random, random-mm (text and pictures), sharegpt, custom, trace (of a service), chat or agent (conversations that are drawn), or conversations (that were recorded) (${default})."`
	Requests     int     `short:"n" placeholder:"N" help:"Number of requests; of a mix or of tenants, of arrivals. Default: 100; of files that are not oversampled, all."`
	InputLen     length  `default:"256" placeholder:"TOKENS" help:"Prompt length of random workloads, and of first turns: a number, or uniform(64,256), normal(200,50) or lognormal(200,0.7), which takes the mean and the coefficient of variation (${default})."`
	InputRange   float64 `placeholder:"SHARE" help:"Spread of the prompt length, uniform in [L(1-r), L(1+r)]."`
	PrefixLen    int     `placeholder:"TOKENS" help:"Tokens that all random prompts share at their beginning, beside the prompt length; of conversations, a system prompt."`
	OutputLen    length  `placeholder:"TOKENS" help:"Output length, likewise. Default: 64 for workloads that are drawn, the recorded length for files."`
	OutputRange  float64 `placeholder:"SHARE" help:"Spread of the output length of random workloads."`
	Texts        int     `default:"1" placeholder:"N" help:"Random texts in a request to embed or pool; of one to rerank, documents beside the query (${default})."`
	Lengths      string  `placeholder:"FILE" help:"Draw lengths from those in this file: a line has that of a prompt, or that, a comma, and that of its answer."`
	Fit          int     `placeholder:"TOKENS" help:"Shorten prompts, and end conversations, so that prompt and answer fit so many tokens."`
	Images       int     `default:"1" placeholder:"N" help:"Pictures in a request of random-mm (${default})."`
	ImageRange   float64 `placeholder:"SHARE" help:"Spread of the number of pictures."`
	ImageSizes   string  `default:"256x256=0.5,1280x720=0.5" placeholder:"LIST" help:"WIDTHxHEIGHT=FREQUENCY, separated by commas (${default})."`
	Data         string  `placeholder:"FILE" help:"File of the sharegpt, custom, trace or conversations workload."`
	Shuffle      bool    `help:"Take the lines of a custom file in random order."`
	NoOversample bool    `help:"Send fewer requests rather than some twice when the file is short."`

	traceSettings
	chatSettings
}

// traceSettings say what to take of a trace.
type traceSettings struct {
	TraceFormat string  `enum:",azure,burstgpt,mooncake" default:"" placeholder:"NAME" help:"azure, burstgpt or mooncake. Default: what the file begins with."`
	TraceModel  string  `placeholder:"NAME" help:"Take the requests of this model alone, where a trace tells models."`
	LogType     string  `placeholder:"NAME" help:"Take the requests of this type of log alone, such as api or conversation."`
	Slice       string  `placeholder:"FROM..TO" help:"Take this part of a trace, since its beginning: 10m..20m, or 1h.. for what comes then."`
	Sample      float64 `placeholder:"SHARE" help:"Take this share of a trace, each request by chance."`
	BlockLen    int     `default:"512" placeholder:"TOKENS" help:"Tokens that a hash id of a trace stands for (${default})."`
}

// chatSettings say how conversations go.
type chatSettings struct {
	Conversations int            `placeholder:"N" help:"Number of conversations. Default: as many as make --requests; of a file, all."`
	Turns         *dist.Count    `placeholder:"N" help:"Turns of a conversation, a number or a distribution. Default: uniform(2,6) for chat, uniform(4,12) for agent."`
	TurnLen       *dist.Count    `placeholder:"TOKENS" help:"Length of a later turn. Default: 64 for chat; lognormal(300,1), as of results of tools, for agent."`
	Think         *dist.Duration `placeholder:"TIME" help:"Pause from an answer to the next turn: a time such as 2s, or a distribution. Default: exponential(5s) for chat, lognormal(1s,1) for agent, what a file says."`
	History       string         `enum:"live,recorded" default:"live" placeholder:"WHICH" help:"What answers a recorded conversation goes on from: live, those that come, or recorded, those of the file (${default})."`
}

// A length is a number of tokens, or a distribution of them. Its zero value is none.
type length struct {
	fixed int
	count *dist.Count // nil: always fixed
}

// UnmarshalText reads either.
func (l *length) UnmarshalText(text []byte) error {
	if n, err := strconv.Atoi(string(text)); err == nil {
		*l = length{fixed: n}
		return nil
	}
	c, err := dist.ParseCount(string(text))
	*l = length{count: &c}
	return err
}

// String is what UnmarshalText reads.
func (l length) String() string {
	if l.count != nil {
		return l.count.String()
	}
	return strconv.Itoa(l.fixed)
}

// given tells a length from none.
func (l length) given() bool { return l.count != nil || l.fixed != 0 }

// law is the distribution.
func (l length) law() dist.Count {
	if l.count != nil {
		return *l.count
	}
	return dist.ConstantCount(l.fixed)
}

// describe is the length with the share by which it may differ.
func (l length) describe(share float64) string { return fmt.Sprintf("%v%s", l, spread(share)) }
