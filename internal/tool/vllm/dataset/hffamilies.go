package dataset

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/pitot-bench/pitot/internal/load/rows"
	"github.com/pitot-bench/pitot/internal/load/workload"
)

// A family is the datasets of the hub that have the same columns.
type family struct {
	split, subset        string // usual ones
	noSubset             bool   // a subset means nothing
	output               int    // tokens of an answer, where it is not that of the row
	recorded             bool   // it is that of the row whatever is asked for
	media, tools, sounds bool
	placed               bool // ids are the positions of rows, of those left out too
	// draft makes a request of a row; nil leaves it out.
	draft func(h *HF, row rows.Row) (*draft, error)
}

var families = map[string]family{
	"lmarena-ai/VisionArena-Chat":                            {split: "train", noSubset: true, output: 128, media: true, draft: arena("conversation")},
	"lmarena-ai/vision-arena-bench-v0.1":                     {split: "train", noSubset: true, output: 128, media: true, draft: arena("turns")},
	"yale-nlp/MMVU":                                          {split: "validation", noSubset: true, output: 128, media: true, draft: mmvu},
	"likaixin/InstructCoder":                                 {split: "train", output: 200, draft: instructCoder},
	"philschmid/mt-bench":                                    {split: "train", output: 256, draft: mtBench},
	"openai/openai_humaneval":                                {split: "test", output: 256, draft: column("prompt")},
	"openai/gsm8k":                                           {split: "test", subset: "main", output: 256, draft: column("question")},
	"lmms-lab/LLaVA-OneVision-Data":                          {media: true, draft: conversation},
	"Aeala/ShareGPT_Vicuna_unfiltered":                       {draft: conversation},
	"AI-MO/aimo-validation-aime":                             {split: "train", draft: problem},
	"AI-MO/NuminaMath-1.5":                                   {split: "train", draft: problem},
	"AI-MO/NuminaMath-CoT":                                   {split: "train", draft: problem},
	"zed-industries/zeta":                                    {split: "train", recorded: true, draft: zeta},
	"vdaita/edit_5k_char":                                    {split: "train", output: 4000, placed: true, draft: blazedit},
	"vdaita/edit_10k_char":                                   {split: "train", output: 4000, placed: true, draft: blazedit},
	"mgoin/mlperf-inference-llama2-data":                     {split: "train", draft: mlperf},
	"mgoin/mlperf-inference-llama3.1-data":                   {split: "train", draft: mlperf},
	"Lin-Chen/MMStar":                                        {split: "val", noSubset: true, output: 128, media: true, draft: mmstar},
	"openslr/librispeech_asr":                                speech,
	"facebook/voxpopuli":                                     speech,
	"LIUM/tedlium":                                           speech,
	"edinburghcstr/ami":                                      speech,
	"speechcolab/gigaspeech":                                 speech,
	"kensho/spgispeech":                                      speech,
	"ArtificialAnalysis/Earnings22-Cleaned-AA":               {split: "train", output: 1024, media: true, sounds: true, draft: earnings},
	"D4nt3/esb-datasets-earnings22-validation-tiny-filtered": speech,
	"gorilla-llm/Berkeley-Function-Calling-Leaderboard":      {tools: true, output: 512},
}

var speech = family{split: "train", output: 1024, media: true, sounds: true, draft: transcription}

// userTurn is a draft of a prompt that is rendered unless that is to be skipped.
func (h *HF) userTurn(prompt string) (*draft, error) {
	if h.SkipTemplate {
		return &draft{Request: workload.Request{Text: prompt}}, nil
	}
	chat, err := json.Marshal([]message{{"user", prompt}})
	return &draft{chat: chat}, err
}

type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// column takes a prompt as it stands in a column.
func column(name string) func(*HF, rows.Row) (*draft, error) {
	return func(h *HF, row rows.Row) (*draft, error) {
		prompt, err := row.String(name)
		if err != nil {
			return nil, err
		}
		return h.userTurn(prompt)
	}
}

func mtBench(h *HF, row rows.Row) (*draft, error) {
	var turns []string
	if err := row.Decode("turns", &turns); err != nil {
		return nil, err
	}
	if len(turns) == 0 {
		return nil, row.Errorf("turns", "is empty")
	}
	return h.userTurn(turns[0])
}

func columns(row rows.Row, names ...string) ([]string, error) {
	out := make([]string, len(names))
	var errs []error
	for i, c := range names {
		var err error
		out[i], err = row.String(c)
		errs = append(errs, err)
	}
	return out, errors.Join(errs...)
}

func instructCoder(h *HF, row rows.Row) (*draft, error) {
	t, err := columns(row, "input", "instruction")
	if err != nil {
		return nil, err
	}
	return h.userTurn(t[0] + "\n\n" + t[1] + " Just output the code, do not include any explanation.")
}

// conversation takes the first turn as the prompt and the second as the answer.
func conversation(h *HF, row rows.Row) (*draft, error) {
	var turns []struct {
		Value string `json:"value"`
	}
	if err := row.Decode("conversations", &turns); err != nil {
		return nil, err
	}
	if len(turns) < 2 {
		return nil, nil
	}
	d := &draft{Request: workload.Request{Text: turns[0].Value}, answer: &turns[1].Value, fits: usualLimits, filtered: h.Output == 0}
	return d, d.picture(row, "image", false)
}

// picture adds the picture in column.
func (d *draft) picture(row rows.Row, column string, must bool) error {
	if !must && !row.Has(column) {
		return nil
	}
	v, err := row.Value(column)
	if err != nil {
		return err
	}
	m, err := picture(v)
	if err != nil {
		return row.Errorf(column, "%w", err)
	}
	d.Media = []workload.Media{m}
	return nil
}

// arena takes the first message of the first turn, and the first picture.
func arena(column string) func(*HF, rows.Row) (*draft, error) {
	return func(_ *HF, row rows.Row) (*draft, error) {
		var turns [][]message
		if err := row.Decode(column, &turns); err != nil {
			return nil, err
		}
		if len(turns) == 0 || len(turns[0]) == 0 {
			return nil, row.Errorf(column, "has no message")
		}
		pictures, err := row.List("images")
		if err != nil {
			return nil, err
		}
		if len(pictures) == 0 {
			return nil, row.Errorf("images", "is empty")
		}
		m, err := picture(pictures[0])
		if err != nil {
			return nil, row.Errorf("images", "%w", err)
		}
		return &draft{Request: workload.Request{Text: turns[0][0].Content, Media: []workload.Media{m}}}, nil
	}
}

// mmvu asks a question with lettered choices about a video, which lies in the copy.
func mmvu(h *HF, row rows.Row) (*draft, error) {
	t, err := columns(row, "question", "video")
	if err != nil {
		return nil, err
	}
	choices, err := row.Object("choices")
	if err != nil {
		return nil, err
	}
	names, err := objectKeys(row, "choices")
	if err != nil {
		return nil, err
	}
	var said []string
	for _, name := range names {
		v := choices[name]
		if v == nil {
			v = "None"
		}
		said = append(said, fmt.Sprintf("%s.%v", name, v))
	}
	where := strings.Replace(t[1], "https://huggingface.co/datasets/"+h.name()+"/resolve/main", h.root, 1)
	m := workload.Media{MIME: "video/mp4", URL: address(where, "http://", "https://", "file://")}
	return &draft{Request: workload.Request{Text: t[0] + " " + strings.Join(said, " "), Media: []workload.Media{m}}}, nil
}

// objectKeys are the keys of an object in the order of the file.
func objectKeys(row rows.Row, column string) ([]string, error) {
	raw, err := row.JSON(column)
	if err != nil {
		return nil, err
	}
	d := json.NewDecoder(strings.NewReader(string(raw)))
	if _, err := d.Token(); err != nil {
		return nil, row.Errorf(column, "%w", err)
	}
	var keys []string
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, row.Errorf(column, "%w", err)
		}
		var skipped json.RawMessage
		if err := d.Decode(&skipped); err != nil {
			return nil, row.Errorf(column, "%w", err)
		}
		keys = append(keys, fmt.Sprint(key))
	}
	return keys, nil
}

func problem(h *HF, row rows.Row) (*draft, error) {
	t, err := columns(row, "problem", "solution")
	if err != nil {
		return nil, err
	}
	return &draft{Request: workload.Request{Text: t[0]}, answer: &t[1], fits: longLimits, filtered: h.Output == 0}, nil
}

// editableRegion marks what is to be edited.
const editableRegion = "<|editable_region_start|>"

// zeta asks for the next edit; the answer is as long as the region that is edited.
func zeta(_ *HF, row rows.Row) (*draft, error) {
	t, err := columns(row, "events", "input", "output")
	if err != nil {
		return nil, err
	}
	answer := t[2]
	if at := strings.Index(answer, editableRegion); at >= 0 {
		answer = answer[at:]
	} else if r := []rune(answer); len(r) > 0 {
		answer = string(r[len(r)-1:]) // Python's text[-1:]
	}
	return &draft{Request: workload.Request{Text: zetaPrompt(t[0], t[1])}, answer: &answer}, nil
}

// blazedit asks for changes of a file, of those that change as much as is wanted.
func blazedit(h *HF, row rows.Row) (*draft, error) {
	t, err := columns(row, "code", "change_request")
	if err != nil {
		return nil, err
	}
	distance, err := row.Float("norm_distance")
	if err != nil {
		return nil, err
	}
	if distance < h.MinDistance || distance > h.MaxDistance {
		return nil, nil
	}
	return h.userTurn(editPrompt(t[0], t[1]))
}

// mlperf renders a system's and a user's message, and wants an answer as long as that
// of the row.
func mlperf(_ *HF, row rows.Row) (*draft, error) {
	t, err := columns(row, "system_prompt", "question", "output")
	if err != nil {
		return nil, err
	}
	chat, err := json.Marshal([]message{{"system", t[0]}, {"user", t[1]}})
	return &draft{chat: chat, answer: &t[2], bare: true, fits: usualLimits, filtered: true}, err
}

// mmstar asks a question without its options about a picture.
func mmstar(_ *HF, row rows.Row) (*draft, error) {
	question, err := row.String("question")
	if err != nil {
		return nil, err
	}
	question, _, _ = strings.Cut(question, "Options:")
	d := &draft{Request: workload.Request{Text: strings.TrimSpace(question)}}
	return d, d.picture(row, "image", true)
}
