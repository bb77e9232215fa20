package trace

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Told is every setting of the run by name, as text: that of its Spec, or what was stored
// of the command line before Specs existed.
func (p Plan) Told() map[string]string {
	if p.Spec == nil {
		return p.Settings
	}
	b, err := json.Marshal(p.Spec)
	var tree any
	if err == nil {
		err = json.Unmarshal(b, &tree)
	}
	if err != nil {
		return nil // it came out of JSON
	}
	all := map[string]string{}
	flatten("", tree, all)
	return all
}

// shortened are the parts of a Spec with settings that go by their own names.
var shortened = []string{"load[0].dataset.", "load[0].arrival.", "request.", "target.engine.", "target.", "gate.", "client.", "dialect.settings."}

func flatten(path string, v any, into map[string]string) {
	switch v := v.(type) {
	case map[string]any:
		for key, below := range v {
			flatten(strings.TrimPrefix(path+"."+key, "."), below, into)
		}
		return
	case []any:
		for i, below := range v {
			flatten(fmt.Sprintf("%s[%d]", path, i), below, into)
		}
		return
	}
	for _, prefix := range shortened {
		if name, ok := strings.CutPrefix(path, prefix); ok && name != "kind" { // the load has it
			path = name
			break
		}
	}
	into[path] = fmt.Sprint(v)
}

// Mixed reports whether each arrival is of one of several workloads.
func (p Plan) Mixed() bool {
	if p.Spec == nil {
		return p.Settings["mix"] != "" && p.Settings["mix"] != "[]"
	}
	return len(p.Spec.Load) == 1 && len(p.Spec.Load[0].Mix) > 0
}

// Holds reports whether the limit of concurrency is one of conversations.
func (p Plan) Holds() bool {
	return p.Settings["hold"] == "true" || p.Spec != nil && p.Spec.Gate.Hold
}
