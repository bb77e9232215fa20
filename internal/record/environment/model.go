package environment

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/sys/lazy"
	"github.com/pitot-bench/pitot/internal/sys/probe"
)

// ModelAsks are what ReadModel reads of the folders that ModelFolders names.
func ModelAsks(folders []probe.Ask) (asks []probe.Ask) {
	for _, f := range folders {
		below := func(name string, kind probe.Kind, file string) probe.Ask {
			return probe.Ask{
				Name: name, Kind: kind, Dir: f.Dir, Glob: strings.TrimPrefix(f.Glob+"/"+file, "/"), Limit: 256 << 10,
			}
		}
		asks = append(asks, below("config", probe.Text, "config.json"), below("sizes", probe.Size, "*.safetensors"),
			below("sizes", probe.Size, "*.bin"), below("sizes", probe.Size, "*.gguf"))
		quant := below("quant", probe.Lines, "*quant*.json")
		quant.Match = `"(model_quant_type|quant_algo|kv_cache_quant_algo)"`
		asks = append(asks, quant)
		if f.Glob == "" {
			asks = append(asks, probe.Ask{Name: "file", Kind: probe.Size, Dir: f.Dir}) // a GGUF file itself
		}
	}
	return asks
}

// HashAsks are what AddHashes reads, of a model that was found.
func (m *Model) HashAsks() []probe.Ask {
	return []probe.Ask{
		{Name: "config-hash", Kind: probe.Hash, Dir: path.Join(m.Path, "config.json")},
		{Name: "index-hash", Kind: probe.Hash, Dir: path.Join(m.Path, "model.safetensors.index.json")},
	}
}

var hexDigits = lazy.Regexp(`^[0-9a-f]{64}`)

// AddHashes adds those of configuration and index.
func (m *Model) AddHashes(a probe.Answers) {
	m.Config, m.Index = hexDigits.FindString(a.Text("config-hash")), hexDigits.FindString(a.Text("index-hash"))
}

// ReadModel reads the answers to ModelAsks: of the first folder that has anything. nil: there
// is none.
func ReadModel(name string, a probe.Answers) *Model {
	sizes := map[string]int64{}
	for _, one := range a.All("sizes") {
		for file, size := range probe.Sizes(one.Text) {
			sizes[file] = size
		}
	}
	for file, size := range probe.Sizes(a.Text("file")) {
		if strings.HasSuffix(file, ".gguf") {
			return &Model{Path: clean(file), Files: 1, Bytes: size}
		}
	}
	m := new(Model)
	if config := a.All("config"); len(config) > 0 {
		m.Path = path.Dir(config[0].Path)
		m.config(config[0].Text)
	} else {
		for file := range sizes {
			m.Path = cmp.Or(m.Path, path.Dir(file))
		}
	}
	if m.Path == "" {
		if name == "" {
			return nil
		}
		return &Model{Path: clean(name)}
	}
	for file, size := range sizes {
		if path.Dir(file) == m.Path {
			m.Files, m.Bytes = m.Files+1, m.Bytes+size
		}
	}
	for line := range strings.Lines(a.Text("quant")) {
		if file, text, ok := strings.Cut(line, ".json:"); ok && path.Dir(file) == m.Path {
			text = strings.Trim(clean(text), `{},"`)
			m.Quantization = cmp.Or(m.Quantization, strings.NewReplacer(`"`, "", ": ", "=").Replace(text))
		}
	}
	if revision := path.Base(m.Path); strings.Contains(m.Path, "/snapshots/") {
		m.fact("revision", revision)
	}
	m.Path = clean(m.Path)
	return m
}

func (m *Model) fact(name, value string) {
	if value = clean(value); value == "" {
		return
	}
	if m.Facts == nil {
		m.Facts = map[string]string{}
	}
	m.Facts[name] = value
}

// modelNumbers are numbers of a config.json that distinguish models.
var modelNumbers = []string{
	"num_hidden_layers", "hidden_size", "num_attention_heads", "num_key_value_heads", "n_routed_experts", "num_experts",
	"num_experts_per_tok", "max_position_embeddings", "vocab_size", "num_nextn_predict_layers", "sliding_window",
}

// config reads a config.json; a model of several kinds of input has a text_config in it.
func (m *Model) config(text string) {
	var top map[string]json.RawMessage
	if plan.Unmarshal([]byte(text), &top) != nil {
		return
	}
	var below map[string]json.RawMessage
	_ = json.Unmarshal(top["text_config"], &below) // there need not be one
	m.Architecture = scalar(first(top["architectures"]))
	m.DType = cmp.Or(scalar(top["torch_dtype"]), scalar(top["dtype"]), scalar(below["torch_dtype"]),
		scalar(below["dtype"]))
	m.fact("model_type", scalar(top["model_type"]))
	for _, name := range modelNumbers {
		m.fact(name, cmp.Or(scalar(top[name]), scalar(below[name])))
	}
	var quant map[string]json.RawMessage
	for _, raw := range []json.RawMessage{top["quantization_config"], below["quantization_config"], top["quantize"]} {
		if len(quant) == 0 && json.Unmarshal(raw, &quant) != nil {
			m.Quantization = cmp.Or(m.Quantization, scalar(raw))
		}
	}
	var parts []string
	for _, name := range []string{
		"quant_method", "bits", "fmt", "format", "group_size", "activation_scheme", "quant_algo",
	} {
		if value := scalar(quant[name]); value != "" {
			parts = append(parts, value)
			if name != "quant_method" {
				parts[len(parts)-1] = name + "=" + value
			}
		}
	}
	m.Quantization = cmp.Or(strings.Join(parts, " "), m.Quantization)
}

func first(raw json.RawMessage) json.RawMessage {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil || len(list) == 0 {
		return nil
	}
	return list[0]
}

// scalar is a text, number or boolean as text; empty for anything else.
func scalar(raw json.RawMessage) string {
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return ""
	}
	switch v := v.(type) {
	case string:
		return clean(v)
	case bool:
		return fmt.Sprint(v)
	case float64:
		return clean(string(raw))
	}
	return ""
}

// directURL is a direct_url.json (PEP 610).
type directURL struct {
	URL string `json:"url"`
	VCS struct {
		Commit string `json:"commit_id"`
	} `json:"vcs_info"`
	Info struct{ Editable bool } `json:"dir_info"`
}

// ReadSources reads direct_url.json files: where packages came from that were not installed
// by their version. Those that are editable are folders to look at.
func ReadSources(files []probe.Answer) (trees []Tree) {
	for _, f := range files {
		var from directURL
		if plan.Unmarshal([]byte(f.Text), &from) != nil {
			continue
		}
		name, _ := ofFolder(path.Dir(f.Path))
		folder, isFile := strings.CutPrefix(from.URL, "file://")
		switch {
		case from.VCS.Commit != "":
			trees = append(trees, Tree{
				Path: clean(userInfo.ReplaceAllString(from.URL, "$1")), Package: name, Commit: clean(from.VCS.Commit),
			})
		case isFile && path.IsAbs(folder) && from.Info.Editable:
			trees = append(trees, Tree{Path: clean(folder), Package: name})
		}
	}
	slices.SortStableFunc(trees, func(a, b Tree) int { return strings.Compare(a.Package, b.Package) })
	return trees
}

var userInfo = lazy.Regexp(`(://)[^/@\s]+@`)
