package vllm

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/tidwall/gjson"

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
	columns              []string
	// draft makes a request of a row, of which texts are the columns; nil leaves it out.
	draft func(h *HF, row rows.Row, texts []string) (*draft, error)
}

var families = map[string]family{
	"lmarena-ai/VisionArena-Chat":                            {split: "train", noSubset: true, output: 128, media: true, draft: arena("conversation")},
	"lmarena-ai/vision-arena-bench-v0.1":                     {split: "train", noSubset: true, output: 128, media: true, draft: arena("turns")},
	"yale-nlp/MMVU":                                          {split: "validation", noSubset: true, output: 128, media: true, columns: []string{"question", "video"}, draft: mmvu},
	"likaixin/InstructCoder":                                 {split: "train", output: 200, columns: []string{"input", "instruction"}, draft: instructCoder},
	"philschmid/mt-bench":                                    {split: "train", output: 256, draft: mtBench},
	"openai/openai_humaneval":                                {split: "test", output: 256, columns: []string{"prompt"}, draft: datasetAsked},
	"openai/gsm8k":                                           {split: "test", subset: "main", output: 256, columns: []string{"question"}, draft: datasetAsked},
	"lmms-lab/LLaVA-OneVision-Data":                          {media: true, draft: conversation},
	"Aeala/ShareGPT_Vicuna_unfiltered":                       {draft: conversation},
	"AI-MO/aimo-validation-aime":                             problems,
	"AI-MO/NuminaMath-1.5":                                   problems,
	"AI-MO/NuminaMath-CoT":                                   problems,
	"zed-industries/zeta":                                    {split: "train", recorded: true, columns: []string{"events", "input", "output"}, draft: zeta},
	"vdaita/edit_5k_char":                                    edits,
	"vdaita/edit_10k_char":                                   edits,
	"mgoin/mlperf-inference-llama2-data":                     mlperfs,
	"mgoin/mlperf-inference-llama3.1-data":                   mlperfs,
	"Lin-Chen/MMStar":                                        {split: "val", noSubset: true, output: 128, media: true, columns: []string{"question"}, draft: mmstar},
	"openslr/librispeech_asr":                                speech,
	"facebook/voxpopuli":                                     speech,
	"LIUM/tedlium":                                           speech,
	"edinburghcstr/ami":                                      speech,
	"speechcolab/gigaspeech":                                 speech,
	"kensho/spgispeech":                                      speech,
	"ArtificialAnalysis/Earnings22-Cleaned-AA":               {split: "train", output: 1024, media: true, sounds: true, columns: []string{"url"}, draft: earnings},
	"D4nt3/esb-datasets-earnings22-validation-tiny-filtered": speech,
	"gorilla-llm/Berkeley-Function-Calling-Leaderboard":      {tools: true, output: 512},
}

// Families of several datasets.
var (
	problems = family{split: "train", columns: []string{"problem", "solution"}, draft: problem}
	edits    = family{split: "train", output: 4000, placed: true, columns: []string{"code", "change_request"}, draft: blazedit}
	mlperfs  = family{split: "train", columns: []string{"system_prompt", "question", "output"}, draft: mlperf}
	speech   = family{split: "train", output: 1024, media: true, sounds: true, draft: transcription}
)

func (f family) of(h *HF, row rows.Row) (*draft, error) {
	texts, errs := make([]string, len(f.columns)), make([]error, len(f.columns))
	for i, c := range f.columns {
		texts[i], errs[i] = row.String(c)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return f.draft(h, row, texts)
}

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

// asked takes a prompt as it stands in a column.
func datasetAsked(h *HF, _ rows.Row, t []string) (*draft, error) { return h.userTurn(t[0]) }

func mtBench(h *HF, row rows.Row, _ []string) (*draft, error) {
	prompt, err := firstTurn(row)
	if err != nil {
		return nil, err
	}
	return h.userTurn(prompt)
}

func instructCoder(h *HF, _ rows.Row, t []string) (*draft, error) {
	return h.userTurn(t[0] + "\n\n" + t[1] + " Just output the code, do not include any explanation.")
}

// conversation takes the first turn as the prompt and the second as the answer.
func conversation(h *HF, row rows.Row, _ []string) (*draft, error) {
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
func arena(column string) func(*HF, rows.Row, []string) (*draft, error) {
	return func(_ *HF, row rows.Row, _ []string) (*draft, error) {
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
func mmvu(h *HF, row rows.Row, t []string) (*draft, error) {
	choices, err := row.Object("choices")
	if err != nil {
		return nil, err
	}
	inOrder, err := row.JSON("choices")
	if err != nil {
		return nil, err
	}
	var said []string
	gjson.ParseBytes(inOrder).ForEach(func(name, _ gjson.Result) bool {
		v := choices[name.String()]
		if v == nil {
			v = "None"
		}
		said = append(said, fmt.Sprintf("%s.%v", name, v))
		return true
	})
	where := strings.Replace(t[1], "https://huggingface.co/datasets/"+h.name()+"/resolve/main", h.root, 1)
	m := workload.Media{MIME: "video/mp4", URL: address(where, "http://", "https://", "file://")}
	return &draft{Request: workload.Request{Text: t[0] + " " + strings.Join(said, " "), Media: []workload.Media{m}}}, nil
}

func problem(h *HF, _ rows.Row, t []string) (*draft, error) {
	return &draft{Request: workload.Request{Text: t[0]}, answer: &t[1], fits: longLimits, filtered: h.Output == 0}, nil
}

// editableRegion marks the text to edit.
const editableRegion = "<|editable_region_start|>"

// zeta asks for the next edit; the answer is as long as the region that is edited.
func zeta(_ *HF, _ rows.Row, t []string) (*draft, error) {
	answer := t[2]
	if at := strings.Index(answer, editableRegion); at >= 0 {
		answer = answer[at:]
	} else if r := []rune(answer); len(r) > 0 {
		answer = string(r[len(r)-1:]) // Python's text[-1:]
	}
	return &draft{Request: workload.Request{Text: zetaPrompt(t[0], t[1])}, answer: &answer}, nil
}

// blazedit asks for changes of a file, of those that change as much as is wanted.
func blazedit(h *HF, row rows.Row, t []string) (*draft, error) {
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
func mlperf(_ *HF, _ rows.Row, t []string) (*draft, error) {
	chat, err := json.Marshal([]message{{"system", t[0]}, {"user", t[1]}})
	return &draft{chat: chat, answer: &t[2], bare: true, fits: usualLimits, filtered: true}, err
}

// mmstar asks a question without its options about a picture.
func mmstar(_ *HF, row rows.Row, t []string) (*draft, error) {
	question, _, _ := strings.Cut(t[0], "Options:")
	d := &draft{Request: workload.Request{Text: strings.TrimSpace(question)}}
	return d, d.picture(row, "image", true)
}

// The words that that tool puts around what a row has. They are part of its prompts:
// with others the lengths would differ.

func zetaPrompt(events, input string) string {
	return strings.Join([]string{
		"### Instruction:",
		"You are a code completion assistant and your task is to analyze user edits and then rewrite an excerpt that the user provides, suggesting the appropriate edits within the excerpt, taking into account the cursor location.",
		"", "### User Edits:",
		"", events,
		"", "### User Excerpt:",
		"", input,
		"", "### Response:",
		"", "",
	}, "\n")
}

func editPrompt(code, change string) string {
	return strings.Join([]string{
		"Given a code file, please apply the change requests and generate the new file.",
		"", "Original file:",
		"```python", code, "```",
		"", "Change request:",
		change,
		"", `Please generate the new code file in the "New file" section below.`,
	}, "\n")
}

// Control tokens that open a transcription.
const (
	whisperPrompt = "<|startoftranscript|><|en|><|transcribe|><|notimestamps|>"
	coherePrompt  = "<|startofcontext|><|startoftranscript|><|emo:undefined|><|en|><|en|><|pnc|><|noitn|><|notimestamp|><|nodiarize|>"
)
