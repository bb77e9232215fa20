package conform

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/pitot-bench/pitot/internal/sys/lazy"
)

// A Place holds the values for a client's command line that do not depend on its cell.
type Place struct {
	Host   string
	Port   int
	Model  string
	Dir    string // for its files
	Result string // the file for its report
	Seed   uint64
}

// URL is the URL of the server.
func (p Place) URL() string { return fmt.Sprintf("http://%s:%d", p.Host, p.Port) }

// values are the placeholders of a command line.
func values(c Cell, p Place) map[string]string {
	concurrency, rate := c.Streams, "inf"
	if c.Open() {
		concurrency, rate = c.Requests, strconv.FormatFloat(c.Rate, 'g', -1, 64)
	}
	return map[string]string{
		"url": p.URL(), "base_url": p.URL(), "host": p.Host, "port": strconv.Itoa(p.Port), "model": p.Model,
		"requests": strconv.Itoa(c.Requests), "concurrency": strconv.Itoa(concurrency), "rate": rate,
		"input_len": strconv.Itoa(c.Input), "output_len": strconv.Itoa(c.Output),
		"result": p.Result, "dir": p.Dir, "seed": strconv.FormatUint(p.Seed, 10),
	}
}

// Placeholders lists the names that a command line may contain in braces.
func Placeholders() []string { return slices.Sorted(maps.Keys(values(Cell{}, Place{}))) }

// placeholder is a name in braces. Other braces, such as JSON, are left alone.
var placeholder = lazy.Regexp(`\{[a-z][a-z0-9_]*\}`)

// CheckCommand rejects unknown placeholders.
func CheckCommand(words []string) error {
	known := Placeholders()
	var errs []error
	for _, w := range words {
		for _, found := range placeholder.FindAllString(w, -1) {
			if name := strings.Trim(found, "{}"); !slices.Contains(known, name) {
				errs = append(errs, fmt.Errorf("unknown placeholder %s in %q: there are {%s}", found, w, strings.Join(known, "}, {")))
			}
		}
	}
	return errors.Join(errs...)
}

// Uses reports whether a command line contains a placeholder.
func Uses(words []string, name string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(w, "{"+name+"}") })
}

// Expand fills in the placeholders of a command line.
func Expand(words []string, c Cell, p Place) []string {
	with := values(c, p)
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = placeholder.ReplaceAllStringFunc(w, func(found string) string {
			if v, ok := with[strings.Trim(found, "{}")]; ok {
				return v
			}
			return found
		})
	}
	return out
}
