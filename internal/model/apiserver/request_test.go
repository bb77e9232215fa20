package apiserver

import (
	"testing"

	"github.com/pitot-bench/pitot/internal/wire/phrase"
)

// An accepted request has tokens, and any other is refused with a message.
func FuzzTake(f *testing.F) {
	for i, s := range []string{
		`{"prompt":[1,2,3]}`,
		`{"messages":[{"role":"user","content":[{"type":"text","text":"x"},` +
			`{"type":"image_url","image_url":{"url":"data:image/png;base64,AA=="}}]}]}`,
		`{"input":"a","max_output_tokens":3,"instructions":"b"}`,
		`{"messages":[{"role":"user","content":[{"type":"image","source":{"type":"base64","data":"AA=="}}]}],"max_tokens":3}`,
		`{"input_ids":[1,2],"image_data":["AAAA"],"return_logprob":false}`,
		`{"inputs":"a"}`, `{"text_input":"a","end_id":1048576}`, ``, `{"input":[[1],[2,3]]}`, `{"input":"a"}`,
		`{"query":"q","documents":["a",{"text":"b"}]}`,
	} {
		f.Add([]byte(s), uint8(i))
	}
	v := newVocabulary()
	f.Fuzz(func(t *testing.T, body []byte, which uint8) {
		protocols := phrase.All()
		asked, refused := phrase.Read(protocols[int(which)%len(protocols)].Routes[0], phrase.JSON, body)
		req, refused := v.take(asked, refused)
		if refused != nil {
			if refused.Code != 400 || refused.Message == "" {
				t.Errorf("refusal %+v", refused)
			}
			return
		}
		if len(req.prompt)+len(req.images) == 0 {
			t.Errorf("%q gives %+v", body, req)
		}
		for _, text := range append(req.more, req.prompt) {
			for _, id := range text {
				if id < 0 {
					t.Errorf("%q gives token %d", body, id)
				}
			}
		}
	})
}
