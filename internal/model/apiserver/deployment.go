package apiserver

import (
	"cmp"
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/pitot-bench/pitot/internal/model/profile"
	"github.com/pitot-bench/pitot/internal/plan"
)

// Deployment is the profile that settings of the engine stand for, with all that they change of
// it, and the profile as it is written; nil for both of latencies. The error is that of
// Settings.Config.
func Deployment(
	settings json.RawMessage, read func(file string) ([]byte, error),
) (changed, base *profile.Profile, err error) {
	var s Settings
	if settings != nil {
		if problems := plan.DecodeJSON(settings, &s); problems != nil {
			return nil, nil, problems
		}
	}
	if len(s.latencies()) > 0 {
		return nil, nil, nil
	}
	if changed, base, err = s.deployment(read); err == nil && s.OutputLen != nil {
		changed.Model.OutputLen = *s.OutputLen
	}
	return changed, base, err
}

// deployment is a profile with what the settings change of it, and as it is.
func (s Settings) deployment(read func(string) ([]byte, error)) (p, base *profile.Profile, err error) {
	file, data, err := ProfileText(cmp.Or(s.Profile, profile.Default), read)
	if err == nil {
		base, err = profile.Parse(file, data)
	}
	if err == nil {
		p, err = s.with(file, data)
	}
	if err == nil {
		err = s.pace(&p.Engine)
	}
	if err != nil || s.MaxModelLen == nil {
		return p, base, err
	}
	p.Engine.MaxModelLen = *s.MaxModelLen
	if problems := p.Engine.Validate(); problems != nil {
		return nil, nil, plan.Problems{{
			Path: "max_model_len", Value: strconv.Itoa(*s.MaxModelLen), Why: "profile " + p.Name + ": " + problems.Error(),
		}}
	}
	return p, base, nil
}

// with is a profile with the fields that are set. Its stated error holds without them.
func (s Settings) with(file string, data []byte) (*profile.Profile, error) {
	if s.Set == nil {
		return profile.Parse(file, data)
	}
	var problems plan.Problems
	var sets []profile.Set
	for i, text := range s.Set {
		one, err := profile.ParseSet(text)
		problems.If(err != nil, plan.Item("set", i), nil, "%v", err)
		sets = append(sets, one)
	}
	if problems != nil {
		return nil, problems
	}
	p, err := profile.With(file, data, sets)
	if errors.As(err, &problems) {
		for i, one := range problems {
			at := slices.IndexFunc(sets, func(s profile.Set) bool { return s.String() == one.Path })
			problems[i] = plan.Problem{Path: plan.Item("set", max(0, at)), Value: one.Path, Why: one.Why, Hint: one.Hint}
		}
		return nil, problems
	}
	if err == nil {
		p.Error = "not validated with " + strings.Join(s.Set, ", ")
	}
	return p, err
}

// ReadProfile reads a profile of the program, or a file if the name is that of one: a
// path, or with the ending of YAML.
func ReadProfile(name string, read func(file string) ([]byte, error)) (*profile.Profile, error) {
	file, data, err := ProfileText(name, read)
	if err != nil {
		return nil, err
	}
	return profile.Parse(file, data)
}

// ProfileText is the YAML of a profile, and what to call it. The error is plan.Problems of
// the setting profile.
func ProfileText(name string, read func(file string) ([]byte, error)) (file string, data []byte, err error) {
	ending := filepath.Ext(name)
	if !strings.ContainsRune(filepath.ToSlash(name), '/') && ending != ".yaml" && ending != ".yml" {
		if data, err = profile.Text(name); err != nil {
			return "", nil, plan.Problems{{
				Path: "profile", Why: err.Error(), Hint: "a file is named by its path or its ending .yaml",
			}}
		}
		return name + ".yaml", data, nil
	}
	if data, err = read(name); err != nil {
		var path *fs.PathError
		if errors.As(err, &path) {
			err = path.Err
		}
		return "", nil, plan.Problems{{Path: "profile", Value: name, Why: err.Error()}}
	}
	return name, data, nil
}
