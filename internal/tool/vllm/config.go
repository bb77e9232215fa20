package vllm

import (
	"fmt"
	"path"
	"strings"

	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/tool/python"
)

// ExpandConfig replaces --config FILE by the flags in that YAML file, put ahead
// of the others so that the command line wins. A true is the bare flag, a false
// is --no-name where that exists, a list is repeated values and a map is JSON.
func ExpandConfig(args []string, read func(name string) ([]byte, error)) ([]string, error) {
	var name string
	var rest []string
	for i := 0; i < len(args); i++ {
		key, value, explicit := strings.Cut(python.Canonical(args[i]), "=")
		if key != "--config" {
			rest = append(rest, args[i])
			continue
		}
		if !explicit {
			if i++; i == len(args) {
				return nil, python.Usagef("argument --config: expected one argument")
			}
			value = args[i]
		}
		name = value
	}
	if name == "" {
		return args, nil
	}
	if ext := path.Ext(name); ext != ".yaml" && ext != ".yml" {
		return nil, python.Usagef("argument --config: %s must end in .yaml or .yml", name)
	}
	data, err := read(name)
	if err != nil {
		return nil, fmt.Errorf("--config: %w", err)
	}
	flags, err := yamlFlags(name, data)
	if err != nil {
		return nil, fmt.Errorf("--config: %w", err)
	}
	return append(flags, rest...), nil
}

func yamlFlags(file string, data []byte) ([]string, error) {
	doc, err := plan.Parse(file, data)
	if err == nil {
		err = doc.Explain()
	}
	if err != nil {
		return nil, err
	}
	var args []string
	for _, m := range doc.Root.Members {
		name := "--" + m.Key
		switch v := m.Value; v.Kind {
		case plan.Null:
		case plan.Bool:
			if v.Text == "true" {
				args = append(args, name)
			} else if python.Canonical(name) == "--self-timed" {
				args = append(args, "--no-self-timed")
			}
		case plan.List:
			args = append(args, name)
			for _, item := range v.Items {
				args = append(args, item.Text)
			}
		case plan.Map:
			object, err := v.JSON()
			if err != nil {
				return nil, doc.At(m.At, err.Error())
			}
			args = append(args, name, string(object))
		default:
			args = append(args, name, v.Text)
		}
	}
	return args, nil
}
