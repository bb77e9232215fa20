package workload

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"
)

// texts reads several texts, or a query and documents.
func (l customLine) texts(r *Request) error {
	field, list := "texts", l.Texts
	if l.Texts == nil {
		field, list = "documents", l.Documents
		if l.Query == nil || *l.Query == "" {
			return errors.New(`field "query" is missing, and there are documents`)
		}
	}
	if json.Unmarshal(list, &r.Batch) != nil || len(r.Batch) == 0 {
		return errors.New("field \"" + field + "\" must be a list of at least one text")
	}
	if l.Texts == nil {
		r.Batch = append([]string{*l.Query}, r.Batch...)
	}
	return nil
}

// audio reads audio in base64.
func (l customLine) audio(r *Request) error {
	kind, data := "audio/wav", *l.Audio
	if head, body, ok := strings.Cut(data, ";base64,"); ok {
		kind, data = strings.TrimPrefix(head, "data:"), body
	}
	b, err := base64.StdEncoding.DecodeString(data)
	if err != nil || len(b) == 0 || !strings.HasPrefix(kind, "audio/") {
		return errors.New(`field "audio" must be audio in base64, or a data: URL`)
	}
	r.Media = []Media{{MIME: kind, Data: b}}
	return nil
}
