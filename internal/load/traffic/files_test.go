package traffic

import (
	"context"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/pitot-bench/pitot/internal/load/workload"
)

// fields has the words of a text as its tokens.
type fields struct{ workload.Tokenizer }

func (fields) Encode(_ context.Context, text string, _ bool) ([]int32, error) {
	return make([]int32, len(strings.Fields(text))), nil
}

// A file is parsed by Read alone; the requests that a second Build makes are those of the first.
func TestAFileIsParsedOnce(t *testing.T) {
	for kind, text := range map[string]string{
		"custom": "{\"prompt\":\"a b\",\"output_tokens\":3}\n{\"prompt\":\"c\",\"output_tokens\":4}\n",
		"sharegpt": `[{"conversations":[{"value":"a b c d"},{"value":"e f g h"}]},` +
			`{"conversations":[{"value":"i j k l m"},{"value":"n o p q"}]}]`,
	} {
		opened := 0
		s := &workload.Source{
			Requests: 5, Seed: 7, Tokens: fields{},
			Files: workload.Files{Open: func(string) (workload.Reader, error) {
				opened++
				f, err := fstest.MapFS{"f": {Data: []byte(text)}}.Open("f")
				return f.(workload.Reader), err
			}},
		}
		d, err := datasetOf(t, "{kind: "+kind+", data: f}", completions)
		if err != nil {
			t.Fatal(err)
		}
		if err := d.Read(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		first, err := d.Build(t.Context(), s)
		if err != nil || len(first.Requests) != 5 || first.Requests[0].PromptTokens == 0 {
			t.Fatalf("%s: %v, %+v", kind, err, first.Requests)
		}
		if opened != 1 {
			t.Errorf("%s: the file was opened %d times", kind, opened)
		}
		if again, err := d.Build(t.Context(), s); err != nil || !cmp.Equal(first.Requests, again.Requests) {
			t.Errorf("%s: built again: %v, %s", kind, err, cmp.Diff(first.Requests, again.Requests))
		}
	}
}
