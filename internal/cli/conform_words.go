package cli

import (
	"slices"

	"github.com/pitot-bench/pitot/internal/proof/conform"
)

// ours reports whether the command is one of this program's clients that is
// still to be told where the server is.
func (c conformRunCmd) ours() bool {
	return !c.told() && (beginsWith(c.Command, "pitot", "bench") || beginsWith(c.Command, "pitot", "vllm", "bench", "serve"))
}

// told reports whether the command says where the server is.
func (c conformRunCmd) told() bool {
	return slices.ContainsFunc([]string{"url", "base_url", "port"}, func(name string) bool { return conform.Uses(c.Command, name) })
}

func beginsWith(words []string, first ...string) bool {
	return len(words) >= len(first) && slices.Equal(words[:len(first)], first)
}

// words are the command before it is filled in.
func (c conformRunCmd) words() []string {
	if len(c.Command) == 0 {
		return []string{"pitot", "bench"}
	}
	return c.Command
}

// wordsFor are those for a cell. Our own commands are told what the cell asks
// for ahead of what they were given, which is so the last word.
func (c conformRunCmd) wordsFor(cell conform.Cell) []string {
	words := c.words()
	switch {
	case len(c.Command) > 0 && !c.ours():
		return words
	case words[1] == "vllm":
		return slices.Concat(words[:4], vllmWords(cell), words[4:])
	}
	return slices.Concat(words[:2], benchWords(cell), words[2:])
}

// benchWords are the flags of `pitot bench` for a cell. The server is known to be
// there.
func benchWords(cell conform.Cell) []string {
	words := []string{
		"--url", "{url}", "--model", "{model}", "--requests", "{requests}", "--input-len", "{input_len}", "--output-len", "{output_len}",
		"--seed", "{seed}", "--ready-timeout", "0s", "--percentiles", "90,99", "--report", "json", "--quiet",
	}
	if cell.Open() {
		return append(words, "--rate", "{rate}", "--arrival", "constant")
	}
	return append(words, "--concurrency", "{concurrency}")
}

// vllmWords are the flags of `vllm bench serve` for a cell.
func vllmWords(cell conform.Cell) []string {
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
