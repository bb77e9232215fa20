package conform

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A Cell is one load for a client, with the server's behaviour. It is a closed loop
// of Streams, or an open one at a Rate.
type Cell struct {
	Name     string   `json:"name"`
	Streams  int      `json:"streams,omitempty"` // requests in flight
	Rate     float64  `json:"rate,omitempty"`    // requests per second
	Requests int      `json:"requests"`
	Input    int      `json:"input"`  // tokens of a prompt
	Output   int      `json:"output"` // tokens of an answer
	Arrivals Arrivals `json:"arrivals"`
	// First is the time to the first token, Step that between two tokens of a
	// stream: the mean for Spread, the period for Lockstep.
	First time.Duration `json:"first_ns"`
	Step  time.Duration `json:"step_ns"`
	// Busy runs a busy loop on the client's processor.
	Busy bool `json:"busy,omitempty"`
	// Faults is the share of requests that fail: a third each with status 500, a
	// reset, and an end without its marker.
	Faults float64 `json:"faults,omitempty"`
}

// Arrivals is the timing of the streams' tokens.
type Arrivals string

// The arrivals: each stream on its own, or a token of every stream at once, like a
// step of an engine.
const (
	Spread   Arrivals = "spread"
	Lockstep Arrivals = "lockstep"
)

// Open reports whether the requests come at a rate, independent of their answers.
func (c Cell) Open() bool { return c.Rate > 0 }

func (c Cell) String() string {
	load := fmt.Sprintf("%d streams", c.Streams)
	if c.Streams == 1 {
		load = "1 stream"
	}
	if c.Open() {
		load = fmt.Sprintf("%g requests/s", c.Rate)
	}
	parts := []string{load, string(c.Arrivals), fmt.Sprintf("step %v", c.Step), fmt.Sprintf("%d requests of %d tokens", c.Requests, c.Output)}
	if c.Busy {
		parts = append(parts, "a busy neighbour")
	}
	if c.Faults > 0 {
		parts = append(parts, fmt.Sprintf("%g %% faults", 100*c.Faults))
	}
	return strings.Join(parts, ", ")
}

// Fields are the names of a cell's fields in a grid.
func Fields() []string {
	return []string{"name", "streams", "rate", "requests", "input", "output", "arrivals", "first", "step", "busy", "faults"}
}

func (c *Cell) set(field, text string) (err error) {
	switch field {
	case "name":
		c.Name = text
	case "streams":
		c.Streams, err = parseInteger(text, 1e7)
	case "rate":
		c.Rate, err = positive(text)
	case "requests":
		c.Requests, err = parseInteger(text, 1e7)
	case "input":
		c.Input, err = parseInteger(text, 1e7)
	case "output":
		c.Output, err = parseInteger(text, mostOutput)
	case "arrivals":
		if c.Arrivals = Arrivals(text); !slices.Contains([]Arrivals{Spread, Lockstep}, c.Arrivals) {
			err = fmt.Errorf("%q: must be spread or lockstep", text)
		}
	case "first":
		c.First, err = span(text)
	case "step":
		c.Step, err = span(text)
	case "busy":
		if c.Busy, err = strconv.ParseBool(text); err != nil {
			err = fmt.Errorf("%q: must be true or false", text)
		}
	case "faults":
		if c.Faults, err = strconv.ParseFloat(text, 64); err != nil || !(c.Faults >= 0 && c.Faults <= 1) {
			err = fmt.Errorf("%q: must be a share from 0 to 1", text)
		}
	default:
		err = fmt.Errorf("unknown; there are %s", strings.Join(Fields(), ", "))
	}
	return err
}

// mostOutput is the longest answer of the truth server.
const mostOutput = 1 << 18

func parseInteger(text string, most int) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > most {
		return 0, fmt.Errorf("%q: must be a whole number from 1 to %d", text, most)
	}
	return n, nil
}

func positive(text string) (float64, error) {
	x, err := strconv.ParseFloat(text, 64)
	if err != nil || !(x > 0 && x <= 1e6) {
		return 0, fmt.Errorf("%q: must be a number above 0, up to 1000000", text)
	}
	return x, nil
}

func span(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 || d > time.Hour {
		return 0, fmt.Errorf("%q: must be a time such as 20ms", text)
	}
	return d, nil
}

// blank is a cell of defaults; zeros depend on other fields.
func blank() Cell {
	return Cell{Input: 32, Output: 64, Arrivals: Spread, First: 50 * time.Millisecond, Step: 20 * time.Millisecond}
}

// complete fills in omitted fields.
func (c *Cell) complete() error {
	switch {
	case c.Streams > 0 && c.Open():
		return errors.New("streams make a closed loop and a rate an open one: give only one")
	case c.Streams == 0 && !c.Open():
		return errors.New("a cell needs streams or a rate")
	}
	if c.Requests == 0 {
		c.Requests = max(16, 2*c.Streams, int(5*c.Rate))
	}
	if c.Name == "" {
		c.Name = c.name()
	}
	if c.Arrivals == Lockstep && c.Step == 0 {
		return errors.New("lockstep needs a step")
	}
	return nil
}

// name is made from the fields most likely to distinguish cells.
func (c *Cell) name() string {
	load := strconv.Itoa(c.Streams)
	if c.Open() {
		load = fmt.Sprintf("%g/s", c.Rate)
	}
	name := fmt.Sprintf("%s %s %v", load, c.Arrivals, c.Step)
	if c.Busy {
		name += " busy"
	}
	if c.Faults > 0 {
		name += fmt.Sprintf(" faults %g%%", 100*c.Faults)
	}
	return name
}

// HasServerFlag reports whether a command says where the server is.
func HasServerFlag(command []string) bool {
	return slices.ContainsFunc([]string{"url", "base_url", "port"}, func(name string) bool { return Uses(command, name) })
}

// Ours reports whether a command is one of this program's clients and lacks the address of the
// server.
func Ours(command []string) bool {
	return !HasServerFlag(command) && (beginsWith(command, "pitot", "bench") || beginsWith(command, "pitot", "vllm", "bench", "serve"))
}

func beginsWith(words []string, first ...string) bool {
	return len(words) >= len(first) && slices.Equal(words[:len(first)], first)
}

// WordsFor are the words of a command for a cell. In our own commands the flags of the cell come
// first, so that the user's override them.
func WordsFor(command []string, cell Cell) []string {
	switch {
	case !Ours(command):
		return command
	case command[1] == "vllm":
		return slices.Concat(command[:4], vllmWords(cell), command[4:])
	}
	return slices.Concat(command[:2], benchWords(cell), command[2:])
}

// benchWords are the flags of `pitot bench` for a cell. The server is known to be
// there, and to compile nothing.
func benchWords(cell Cell) []string {
	words := []string{
		"--url", "{url}", "--model", "{model}", "--requests", "{requests}", "--input-len", "{input_len}", "--output-len", "{output_len}",
		"--seed", "{seed}", "--ready-timeout", "0s", "--warmup", "2", "--percentiles", "90,99", "--report", "json", "--quiet",
	}
	if cell.Open() {
		return append(words, "--rate", "{rate}", "--arrival", "constant")
	}
	return append(words, "--concurrency", "{concurrency}")
}

// vllmWords are the flags of `vllm bench serve` for a cell.
func vllmWords(cell Cell) []string {
	words := []string{
		"--base-url", "{url}", "--model", "{model}", "--num-prompts", "{requests}", "--random-input-len", "{input_len}", "--random-output-len", "{output_len}",
		"--seed", "{seed}", "--percentile-metrics", "ttft,tpot,itl,e2el", "--metric-percentiles", "90,99", "--disable-tqdm",
		"--save-result", "--result-filename", "{result}",
	}
	if cell.Open() {
		return append(words, "--request-rate", "{rate}", "--burstiness", "inf")
	}
	return append(words, "--max-concurrency", "{concurrency}")
}
