package conform

import "slices"

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
