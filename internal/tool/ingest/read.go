package ingest

import (
	"bytes"
	"io"
	"strings"

	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/tool/argparse"
)

// Read reads all results in a source: objects or arrays of JSON, or else tables in
// text.
func Read(s Source) (found []Found, problems []Problem) {
	if isJSON(s) {
		found, problems = readJSON(s)
	} else {
		found, problems = readText(s)
	}
	for i := range found {
		scrub(&found[i].Run)
	}
	return found, problems
}

// scrub hides secrets wherever words of a source are kept, whoever has looked for
// them before.
func scrub(run *trace.Run) {
	o := run.Origin
	if o == nil { // Pitot's own, which keeps none
		return
	}
	for _, text := range []*string{&run.Name, &run.Plan.Model, &run.Plan.URL, &run.Env.Server} {
		*text = argparse.Mask(*text)
	}
	run.Plan.Workload, run.Env.Tokenizer = run.Plan.Workload.Map(argparse.Mask), run.Env.Tokenizer.Map(argparse.Mask)
	for _, texts := range [][]string{o.Path, o.Around} {
		for i := range texts {
			texts[i] = argparse.Mask(texts[i])
		}
	}
	for name, value := range o.Setup {
		o.Setup[name] = argparse.Mask(value)
	}
	for i := range o.Claims {
		o.Claims[i].Text = argparse.Mask(o.Claims[i].Text)
	}
}

// headSize is enough of a file to see what it begins with, behind any blank lines.
const headSize = 4096

// isJSON reports whether a source begins as JSON does: logs begin with brackets
// too.
func isJSON(s Source) bool {
	head := make([]byte, headSize)
	n, _ := s.Data.ReadAt(head, 0)
	text := string(bytes.TrimPrefix(head[:n], []byte("\xef\xbb\xbf")))
	text = strings.TrimLeft(text, " \t\r\n")
	if text == "" || strings.HasPrefix(text, wrapping) {
		return false
	}
	inside := strings.TrimLeft(text[1:], " \t\r\n")
	switch text[0] {
	case '{':
		return inside == "" || strings.ContainsAny(inside[:1], `"}`)
	case '[':
		return inside == "" || strings.ContainsAny(inside[:1], `{]`)
	}
	return false
}

// section is the whole of a source to read from its beginning.
func (s Source) section() io.Reader { return io.NewSectionReader(s.Data, 0, s.Size) }
