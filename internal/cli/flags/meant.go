package flags

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/pitot-bench/pitot/internal/plan"
)

// CommandsMeant are names that people try, in the words of other programs, by the line of Pitot's that does it.
var CommandsMeant = map[string]string{
	"pitot bench --url http://HOST:PORT":       "run benchmark bench_serving perf load loadtest test measure start attack stress guidellm genai-perf llmperf",
	"pitot runs list":                          "list ls history results",
	"pitot runs show RUN":                      "show get describe inspect view cat",
	"pitot runs report RUN":                    "report summary summarize result stats print",
	"pitot runs report RUN -o FILE.html":       "html page",
	"pitot runs report RUN -o FILE.svg":        "plot plots graph chart charts draw",
	"pitot runs diff A B":                      "diff",
	"pitot runs export RUN":                    "export dump save json csv parquet",
	"pitot runs rm RUN":                        "rm remove delete del clean prune",
	"pitot runs tag RUN TAG":                   "tag label",
	"pitot runs check":                         "fsck verify",
	"pitot runs repair":                        "repair recover",
	"pitot bench --workload trace --data FILE": "replay trace traces",
	"pitot experiment status":                  "status experiments",
	"pitot experiment resume NAME":             "resume continue",
	"pitot sim":                                "simulate simulation simulator dry-run",
	"pitot serve":                              "server mock engine fake",
	"pitot ui":                                 "web dashboard gui open browser",
	"pitot watch URL":                          "top monitor live metrics",
	"pitot sweep --concurrency 1..64x2":        "sweeps grid scan matrix",
	"pitot capacity --slo ttft=500ms":          "goodput slo tune optimize saturate search max",
	"pitot profiles fit":                       "fit",
	"pitot profiles show NAME":                 "profile",
	"pitot fleet worker":                       "worker workers agent node",
	"pitot fleet up":                           "up controller cluster",
	"pitot plan -- bench":                      "explain preview check validate config",
	"pitot compare BEFORE AFTER":               "cmp versus vs",
	"pitot ab --before SERVER --after SERVER":  "abtest a/b experiment-ab",
	"pitot doctor":                             "health selftest",
}

// FlagsMeant are flags of vLLM's, SGLang's and GuideLLM's clients, and of others, by Pitot's.
var FlagsMeant = map[string]string{
	"workload":    "dataset-name dataset data-type",
	"data":        "dataset-path input-file data-file",
	"input-len":   "random-input-len random-input isl prompt-tokens prompt-len input-tokens synthetic-input-tokens-mean input-length prompt-length",
	"output-len":  "random-output-len random-output osl output-tokens max-tokens max-new-tokens sharegpt-output-len custom-output-len output-length",
	"input-range": "random-range-ratio", "prefix-len": "random-prefix-len gsp-system-prompt-len prefix-tokens",
	"url": "base-url target server endpoint-url address host-url api-base", "protocol": "backend endpoint-type api-type api",
	"requests": "num-requests max-requests request-count number num count total", "duration": "max-seconds time run-time max-duration",
	"rate": "rps qps request-per-second", "arrival": "rate-type arrival-process", "concurrency": "parallel concurrent users batch-size num-users streams",
	"slo": "goodput objectives objective slos sla", "percentiles": "metric-percentiles", "warmup": "num-warmups warmup-requests warmup-request-count num-warmup-requests",
	"model": "served-model-name model-name", "api-key-env": "api-key token", "quiet": "disable-tqdm", "header": "headers", "no-stream": "disable-stream", "no-ignore-eos": "disable-ignore-eos",
	"name": "tag title run-name", "report": "format output-format", "body": "extra-request-body extra-inputs", "ramp": "ramp-up-strategy",
}

// meant is the name that has a word among those behind it; empty: none has.
func meant(table map[string]string, word string) string {
	for name, words := range table {
		if slices.Contains(strings.Fields(words), word) {
			return name
		}
	}
	return ""
}

// WithMeant is the error of a parser, in words that name what was probably meant.
func WithMeant(root *kong.Node, args []string, err error) error {
	text := fmt.Sprint(err)
	word, unexpected := strings.CutPrefix(text, "unexpected argument ")
	flag, unknown := strings.CutPrefix(text, "unknown flag --")
	word, flag = before(word), before(flag)
	node, line := Command(root, args[0]), meant(CommandsMeant, strings.ToLower(word))
	if unexpected && word == args[0] && len(args) > 1 {
		line = cmp.Or(ofGroup(root, word, strings.ToLower(args[1])), line)
	}
	switch {
	case unexpected && line != "" && (word == args[0] || len(args) > 1 && word == args[1] && strings.HasPrefix(line, "pitot "+args[0]+" ")):
		return fmt.Errorf("there is no command %s; write %s", word, line)
	case unexpected && isURL(word) && word == args[0]:
		return fmt.Errorf("there is no command %s; write pitot bench --url %[1]s", word)
	case unexpected && isURL(word) && node != nil && FlagOf(node, "--url") != nil:
		return fmt.Errorf("unexpected argument %s; write --url %[1]s", word)
	case unexpected && word == args[0] && plan.Nearest(word, []string{"help"}) != "":
		return fmt.Errorf("%w, did you mean \"help\"?", err) // which the parser does not know
	case unknown && node == nil && FlagOf(Command(root, "bench"), "--"+flag) != nil:
		return fmt.Errorf("unknown flag --%s; the command comes first: pitot bench --%[1]s", flag)
	case unknown && node != nil:
		name := meant(FlagsMeant, flag)
		if name != "" && FlagOf(node, "--"+strings.TrimPrefix(name, "no-")) != nil {
			return fmt.Errorf("unknown flag --%s; write --%s", flag, name)
		}
	}
	return err
}

// ofGroup is the line of a command that was written with the singular or the plural of its group, as in run list;
// empty: there is none.
func ofGroup(root *kong.Node, group, command string) string {
	for _, node := range root.Children {
		if node.Name != group+"s" && node.Name+"s" != group {
			continue
		}
		if slices.ContainsFunc(node.Children, func(c *kong.Node) bool { return c.Name == command }) {
			return "pitot " + node.Name + " " + command
		}
		if line := meant(CommandsMeant, command); strings.HasPrefix(line, "pitot "+node.Name+" ") {
			return line
		}
	}
	return ""
}

func before(text string) string {
	word, _, _ := strings.Cut(text, ",")
	return word
}

func isURL(word string) bool {
	return strings.HasPrefix(word, "http://") || strings.HasPrefix(word, "https://")
}
