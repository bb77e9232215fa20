package cli

import (
	"cmp"
	"net/url"
	"slices"
	"strings"

	"github.com/pitot-bench/pitot/internal/plan/shell"
	"github.com/pitot-bench/pitot/internal/session"
)

// notOurs is the error for a command line of a tool that Pitot does not stand in for, with the nearest of its own; nil
// for other command lines.
func notOurs(words []string) error {
	if len(words) == 0 {
		return nil
	}
	switch plain := straight(words); {
	case plain[0] == "ais_bench":
		return session.Usagef("pitot does not run ais_bench; the nearest line of its own is\n" +
			"  pitot bench --url http://HOST:PORT --protocol chat --model NAME --rate REQUEST_RATE --concurrency BATCH_SIZE -n N --input-len N --output-len N\n" +
			"with host_ip, host_port, model, request_rate and batch_size from the file that `ais_bench --models NAME --search` shows")
	case len(plain) > 1 && plain[0] == "evalscope" && plain[1] == "perf":
		line, rest := fromEvalscope(plain[2:])
		text := "pitot does not run evalscope perf; the nearest line of its own is\n  " + shell.Join(line)
		if len(rest) > 0 {
			text += "\nwithout " + strings.Join(rest, ", ")
		}
		return session.Usagef("%s", text)
	}
	return nil
}

// evalscopeFlags are the flags of evalscope perf that Pitot has, by its own names.
var evalscopeFlags = map[string]string{
	"--model": "--model", "-n": "-n", "--number": "-n", "--rate": "--rate", "--parallel": "--concurrency",
	"--max-tokens": "--output-len", "--temperature": "--temperature", "--seed": "--seed",
}

// fromEvalscope is a command line of Pitot's for one of evalscope perf, and the flags that it leaves out.
func fromEvalscope(words []string) (line, rest []string) {
	line = []string{"pitot", "bench"}
	given := map[string]string{}
	for i := 0; i < len(words); i++ {
		name, value, joined := strings.Cut(words[i], "=")
		if !strings.HasPrefix(name, "-") {
			rest = append(rest, words[i]) // a further value of a list
			continue
		}
		if !joined && i+1 < len(words) && !isOption(words[i+1]) {
			i++
			value = words[i]
		}
		given[name] = value
		switch ours, ok := evalscopeFlags[name]; {
		case name == "--url":
			line = append(line, urlFlags(value)...)
		case name == "--rate" && strings.HasPrefix(value, "-"), name == "--min-prompt-length", name == "--max-prompt-length":
		case ok:
			line = append(line, ours, value)
		default:
			rest = append(rest, name)
		}
	}
	least, most := given["--min-prompt-length"], given["--max-prompt-length"]
	switch {
	case least != "" && most != "" && least != most:
		line = append(line, "--input-len", "uniform("+least+","+most+")")
	case most != "" || least != "":
		line = append(line, "--input-len", cmp.Or(most, least))
	}
	slices.Sort(rest)
	return line, slices.Compact(rest)
}

// isOption reports whether a word is a flag; a negative number is a value.
func isOption(word string) bool {
	return strings.HasPrefix(word, "-") && strings.Trim(word, "-0123456789.") != ""
}

// urlFlags are the address and the protocol of a route.
func urlFlags(text string) []string {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" {
		return []string{"--url", text}
	}
	protocol := "completions"
	if strings.HasSuffix(u.Path, "/chat/completions") {
		protocol = "chat"
	}
	base := u.Scheme + "://" + u.Host
	if prefix, ok := strings.CutSuffix(strings.TrimSuffix(strings.TrimSuffix(u.Path, "/completions"), "/chat"), "/v1"); ok {
		base += prefix
	}
	return []string{"--url", base, "--protocol", protocol}
}
