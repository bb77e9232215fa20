package cli

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// The words of a draft are a command line that makes the same Spec; those that are stored have no secret.
func TestTheWordsOfADraftMakeItAgain(t *testing.T) {
	sess, _, _ := process(t, nil)
	sess = sess.Guarded()
	sess.Compile, sess.Parse = compileLoad, parseDraft
	d, err := sess.Draft("bench", "--header", "X-Team=a b", "--header", "X-Api-Key=sk-canary", "--temperature", "0.5",
		"--body", `{"top_p": 0.5}`, "--percentiles", "50,99", "--rate", "7", "--no-stream", "--mix", "weight=1 input-len=uniform(1,9)", "--mix", "weight=3 input-len=9")
	if err != nil {
		t.Fatal(err)
	}
	d = d.With(d.Set("target.url", "http://127.0.0.1:1/v1/"), d.Set("gate.concurrency", 3), d.Set("load[0].arrival.rate", 2.5), d.Set("duration", 1500*time.Millisecond), d.Set("seed", 5), d.Set("name", "a/1"))
	l, err := sess.Load(d)
	if err != nil {
		t.Fatal(err)
	}
	again, err := sess.Command(d.Words())
	if err == nil {
		again, err = sess.Spec(again.Spec) // with the defaults of its datasets
	}
	if err != nil {
		t.Fatal(d.Words(), err)
	}
	if diff := cmp.Diff(l.Spec, again.Spec); diff != "" {
		t.Errorf("%q: %s", d.Words(), diff)
	}
	if l.Spec.Target.URL != "http://127.0.0.1:1" || l.Spec.Gate.Concurrency != 3 || l.Spec.Name != "a/1" || l.Given["target.headers[1]"] != "sk-canary" {
		t.Errorf("%+v, %v", l.Spec, l.Given)
	}
	if args := strings.Join(l.Args, " "); strings.Contains(args, "canary") || !strings.Contains(args, "--rate=2.5") || strings.Contains(args, "--rate=7") {
		t.Error(args)
	}
	if flag := d.Gives("request.stream"); flag != "--no-stream" {
		t.Errorf("%q gives the stream", flag)
	}
	if flag := d.Gives(""); flag != "" {
		t.Errorf("%q is about the results", flag)
	}
}
