package result

import (
	"fmt"
	"strings"

	"github.com/pitot-bench/pitot/internal/plan/secret"
)

// maxSettings is how many settings of a result are kept: some tools repeat the
// whole configuration of a server.
const maxSettings = 500

// setting keeps one, unless its name says that it is a secret.
func (f *PartialRun) setting(name, value string) {
	if hidden(name) || value == "" || len(f.Origin.Setup) >= maxSettings {
		return
	}
	if f.Origin.Setup == nil {
		f.Origin.Setup = map[string]string{}
	}
	f.Origin.Setup[name] = secret.Mask(value)
}

// Settings keeps the members of o under dotted names, but for those that skip
// names by the same.
func (f *PartialRun) Settings(prefix string, o *Object, skip func(name string) bool) {
	for name, v := range o.All() {
		if full := prefix + name; !hidden(name) && (skip == nil || !skip(full)) {
			f.settingOf(full, v, skip)
		}
	}
}

func (f *PartialRun) settingOf(name string, v any, skip func(string) bool) {
	switch v := v.(type) {
	case *Object:
		f.Settings(name+".", v, skip)
	case *List:
		f.settingsIn(name, v, skip)
	default:
		if text, ok := scalarText(v); ok {
			f.setting(name, text)
		}
	}
}

// settingsIn keeps the items of a short array: scalars in one setting, the only
// item as if there were no array.
func (f *PartialRun) settingsIn(name string, l *List, skip func(string) bool) {
	if len(l.Items) == 1 {
		f.settingOf(name, l.Items[0], skip)
		return
	}
	var texts []string
	for i, item := range l.Items {
		if text, ok := scalarText(item); ok {
			texts = append(texts, text)
		} else {
			f.settingOf(fmt.Sprintf("%s.%d", name, i), item, skip)
		}
	}
	f.setting(name, strings.Join(texts, ", "))
}

// hidden are settings that are stored without their values. Headers may have secrets under any name.
func hidden(name string) bool {
	return secret.Setting(name) || strings.Contains(strings.ToLower(name), "header")
}
