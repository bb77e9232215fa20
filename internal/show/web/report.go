package web

import (
	"bytes"
	"compress/flate"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"
)

// ErrNotBuilt is the error for a report by a binary without the page.
var ErrNotBuilt = errors.New("this binary was built without the page; run make build with Node 20.19 or newer installed, or install a release")

// A Question is one that a report has the answer to.
type Question struct {
	Path  string // below /api/
	Query url.Values
	Bytes bool // its answer is not JSON
}

// A Report is a page that is one file: it has the answers in it and asks nobody.
type Report struct {
	Title    string
	Language string
	Start    string // the address that it shows, such as runs/ID
	Run      string // the run to show with its requests; empty: none
	// Questions are asked in this order; one that is not answered is an error.
	Questions []Question
}

// RunReport is the page of a run, with the requests that its timeline shows: at most 100 000.
func RunReport(id, title string) Report {
	path := "runs/" + url.PathEscape(id)
	return Report{Title: title, Start: path, Run: id, Questions: []Question{
		{Path: path},
		{Path: path + "/course"},
		{Path: path + "/reports"},
		{Path: path + "/predicted"},
		{Path: path + "/note"},
		{Path: path + "/rows", Query: url.Values{"most": {"100000"}, "packed": {"1"}}, Bytes: true},
	}}
}

// ExperimentReport is the page of an experiment, with its comparison.
func ExperimentReport(name string) Report {
	path := "experiments/" + url.PathEscape(name)
	return Report{Title: name, Start: path, Questions: []Question{
		{Path: path}, {Path: "compare", Query: url.Values{"run": {name}}},
	}}
}

// WriteReport writes a report: HTML with the same script as the page, which its policy lets run
// alone; it reaches no network.
func (s *Server) WriteReport(ctx context.Context, w io.Writer, r Report) error {
	if !Built() {
		return ErrNotBuilt
	}
	script, errScript := dist.ReadFile("dist/page.js")
	style, errStyle := dist.ReadFile("dist/page.css")
	if r.Run != "" {
		if err := s.settle(ctx, r.Run); err != nil {
			return err
		}
	}
	answers, errAnswers := s.answersOf(ctx, r)
	if err := errors.Join(errScript, errStyle, errAnswers); err != nil {
		return err
	}
	return r.write(w, string(script), string(style), answers)
}

// write puts the page together.
func (r Report) write(w io.Writer, script, style, answers string) error {
	script = inline(script)
	return reportPage.Execute(w, map[string]any{
		"Title": r.Title, "Language": r.Language,
		"Policy": fmt.Sprintf("default-src 'none'; script-src '%s'; style-src '%s'; img-src data: blob:; base-uri 'none'; form-action 'none'", hash(script), hash(style)),
		// No escaping: style and script are embedded, and in the JSON < is \u003c.
		"Style":   template.HTML("<style>" + style + "</style>"),
		"Answers": template.HTML(`<script type="application/json" id="answers">` + answers + "</script>"),
		"Script":  template.HTML(`<script type="module">` + script + "</script>"),
	})
}

// hash is a source of a policy that lets a text run.
func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// inline is a script that may stand within an HTML element: what would end it, or begin a
// comment, only occurs in its strings.
func inline(script string) string {
	return strings.NewReplacer("</script", `\x3c/script`, "<script", `\x3cscript`, "<!--", `\x3c!--`).Replace(script)
}

// settle waits until all stored requests of a run have been read.
func (s *Server) settle(ctx context.Context, id string) error {
	s.Handler() // which makes what reads them
	l, err := s.Runs.Find(id)
	if err != nil {
		return err
	}
	f, err := s.read.of(l)
	for err == nil && ctx.Err() == nil && f.reading() {
		f.await(ctx)
	}
	return errors.Join(err, ctx.Err())
}

// answersOf is a JSON object of the answers by their paths; HTML in it is escaped.
func (s *Server) answersOf(ctx context.Context, r Report) (string, error) {
	start, err := json.Marshal(r.Start)
	if err != nil {
		return "", err
	}
	all := map[string]json.RawMessage{"start": start}
	for _, q := range append([]Question{{Path: "hello"}}, r.Questions...) {
		answer, err := s.ask(ctx, q, r.Language)
		if err != nil {
			return "", err
		}
		if all[q.Path] = answer; q.Bytes {
			if all[q.Path], err = deflated(answer); err != nil {
				return "", err
			}
		}
	}
	text, err := json.Marshal(all)
	return string(text), err
}

// ask puts a question as the page would.
func (s *Server) ask(ctx context.Context, q Question, lang string) ([]byte, error) {
	query := url.Values{"lang": {lang}}
	maps.Copy(query, q.Query)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "/api/"+q.Path+"?"+query.Encode(), http.NoBody)
	if err != nil {
		return nil, err
	}
	got := recorder{header: http.Header{}, code: http.StatusOK}
	s.Handler().ServeHTTP(&got, r)
	if got.code != http.StatusOK {
		return nil, fmt.Errorf("%s: %s", q.Path, strings.TrimSpace(got.String()))
	}
	return got.Bytes(), nil
}

// A recorder is an http.ResponseWriter in memory.
type recorder struct {
	bytes.Buffer
	header http.Header
	code   int
}

func (k *recorder) Header() http.Header  { return k.header }
func (k *recorder) WriteHeader(code int) { k.code = code }

// deflated is raw DEFLATE of bytes as base64, a JSON string.
func deflated(b []byte) (json.RawMessage, error) {
	var packed bytes.Buffer
	w, err := flate.NewWriter(&packed, flate.BestCompression)
	if err != nil {
		return nil, err
	}
	_, errWrite := w.Write(b)
	if err := errors.Join(errWrite, w.Close()); err != nil {
		return nil, err
	}
	return json.Marshal(base64.StdEncoding.EncodeToString(packed.Bytes()))
}

var reportPage = template.Must(template.New("report").Parse(`<!doctype html>
<html lang="{{.Language}}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{{.Policy}}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>{{.Title}}</title>
{{.Style}}
</head>
<body>
<div id="page"></div>
{{.Answers}}
{{.Script}}
</body>
</html>
`))
