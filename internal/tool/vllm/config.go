package vllm

import (
	"encoding/json"
	"fmt"
	"path"
	"strings"

	"github.com/goccy/go-yaml"

	"github.com/pitot-bench/pitot/internal/tool/argparse"
)

// ExpandConfig replaces --config FILE by the flags in that YAML file, put ahead
// of the others so that the command line wins. A true is the bare flag, a false
// is --no-name where that exists, a list is repeated values and a map is JSON.
func ExpandConfig(args []string, read func(name string) ([]byte, error)) ([]string, error) {
	var name string
	var rest []string
	for i := 0; i < len(args); i++ {
		key, value, explicit := strings.Cut(argparse.Canonical(args[i]), "=")
		if key != "--config" {
			rest = append(rest, args[i])
			continue
		}
		if !explicit {
			if i++; i == len(args) {
				return nil, argparse.Usagef("argument --config: expected one argument")
			}
			value = args[i]
		}
		name = value
	}
	if name == "" {
		return args, nil
	}
	if ext := path.Ext(name); ext != ".yaml" && ext != ".yml" {
		return nil, argparse.Usagef("argument --config: %s must end in .yaml or .yml", name)
	}
	data, err := read(name)
	if err != nil {
		return nil, fmt.Errorf("--config: %w", err)
	}
	flags, err := yamlFlags(data)
	if err != nil {
		return nil, fmt.Errorf("--config %s: %w", name, err)
	}
	return append(flags, rest...), nil
}

func yamlFlags(data []byte) ([]string, error) {
	var items yaml.MapSlice
	if err := yaml.Unmarshal(data, &items); err != nil {
		return nil, err
	}
	var args []string
	for _, item := range items {
		name := "--" + fmt.Sprint(item.Key)
		switch v := item.Value.(type) {
		case nil:
		case bool:
			if v {
				args = append(args, name)
			} else if argparse.Canonical(name) == "--self-timed" {
				args = append(args, "--no-self-timed")
			}
		case []any:
			args = append(args, name)
			for _, x := range v {
				args = append(args, fmt.Sprint(x))
			}
		case map[string]any:
			b, err := json.Marshal(v)
			if err != nil {
				return nil, fmt.Errorf("%v: %w", item.Key, err)
			}
			args = append(args, name, string(b))
		default:
			args = append(args, name, fmt.Sprint(v))
		}
	}
	return args, nil
}
