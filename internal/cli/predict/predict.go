// Package predict is `pitot predict`: the figures of a deployment under a load, with intervals, without measuring.
package predict

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/alecthomas/kong"

	"github.com/pitot-bench/pitot/internal/cli/flags"
	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/model/apiserver"
	"github.com/pitot-bench/pitot/internal/model/predict"
	"github.com/pitot-bench/pitot/internal/model/profile"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
	"github.com/pitot-bench/pitot/internal/session"
	"github.com/pitot-bench/pitot/internal/show/report"
	"github.com/pitot-bench/pitot/internal/show/words"
	"github.com/pitot-bench/pitot/internal/sys/files"
)

// Cmd is `pitot predict`.
type Cmd struct {
	Name   string `arg:"" name:"profile" placeholder:"NAME|FILE" help:"Profile of the deployment; one that pitot calibrate wrote says how sure the prediction is."`
	Config string `placeholder:"FILE" help:"YAML file of the load, or of a plan; flags override it."`

	Set         []string  `sep:"none" placeholder:"FIELD=VALUE" help:"What if: a field of the profile has another value, as kv.tokens=2x or replicas.count=4. Repeated. One field may have several values: 1,2,4 or 1..8 or 1..64x2."`
	SLO         string    `name:"slo" placeholder:"LIMITS" help:"Objectives, as ttft.p99=500ms,tpot.mean=40ms: the share of the requests that meets each; with several values of --set, the first that meets all."`
	Level       float64   `default:"90" placeholder:"PERCENT" help:"Level of the intervals (${default})."`
	Extrapolate bool      `help:"Predict loads beyond those that the profile was calibrated from."`
	Percentiles []float64 `path:"percentiles" placeholder:"LIST" help:"Percentiles to predict. Default: 99."`
	Format      string    `short:"f" enum:"text,json" default:"text" placeholder:"FORMAT" help:"text or json (${default})."`

	flags.Price
	Devices int `placeholder:"N" help:"Devices of one replica, that --cost is of."`

	flags.Asking   `embed:"" group:"Requests:"`
	flags.Requests `embed:"" group:"Requests:"`
	flags.Load     `embed:"" group:"Load:"`
	flags.StoreFlag
}

// Help explains the intervals.
func (Cmd) Help() string {
	return "An interval holds one new run of the load, with new requests. With --replay RUN the requests of a run that was made are predicted, beside what was measured. Nothing is sent and nothing is kept."
}

// Run predicts.
func (c *Cmd) Run(sess *session.Session, k *kong.Context) error {
	p, err := c.parse()
	if err != nil {
		return err
	}
	if c.Format == "json" { // which has words too
		own := *sess
		own.Lang, sess = words.In(words.Default), &own
	}
	ctx, release := sess.UntilInterrupt(context.Background())
	defer release()
	w, err := c.workload(sess, k)
	if err != nil {
		return err
	}
	sess.SayTaken(p.taken)
	r, err := p.predict(ctx, w)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		return err
	}
	if err := refusal(r); err != nil {
		return err
	}
	if c.Format == "json" {
		enc := json.NewEncoder(sess.Stdout)
		enc.SetIndent("", "  ")
		return enc.Encode(r)
	}
	return report.Predicted(sess.Stdout, r, sess.Words())
}

// refusal is the error of a load beyond the calibration, with a hint.
func refusal(r *predict.Report) error {
	why, all := r.Refused()
	if !all {
		return nil
	}
	return session.Usagef("not predicted: %s when profile %s was calibrated; calibrate it with such loads, or use --extrapolate", why, r.Profile)
}

// A problem is the prediction to make, without the load.
type problem struct {
	*Cmd
	base    *profile.Profile
	fixed   []profile.Set
	several []profile.Set // values of one field; nil: no field has several
	goals   []metrics.Objective
	taken   []string           // of them, as they were given: of each request
	variant []*profile.Profile // by value; one if none has several
}

// parse reads the profile and the fields to set. It reports all mistakes at once.
func (c *Cmd) parse() (*problem, error) {
	p := &problem{Cmd: c}
	var errs []error
	if !(c.Level >= 50 && c.Level <= 99.9) {
		errs = append(errs, session.Usagef("--level %g: must be from 50 to 99.9", c.Level))
	}
	if c.Devices < 0 {
		errs = append(errs, session.Usagef("--devices %d: must be positive", c.Devices))
	}
	if c.SLO != "" {
		goals, taken, err := metrics.Parse(c.SLO)
		p.goals, p.taken = goals, taken
		errs = append(errs, flagged("--slo", err))
	}
	var err error
	if p.fixed, p.several, err = sets(c.Set); err != nil {
		errs = append(errs, session.Usagef("--set %w", err))
	}
	file, data, err := apiserver.ProfileText(c.Name, files.ReadSmall)
	if err == nil {
		p.base, err = profile.Parse(file, data)
	}
	if errs = append(errs, session.Usage(err)); errors.Join(errs...) != nil {
		return nil, errors.Join(errs...)
	}
	return p, p.vary(file, data)
}

// vary makes the profiles to simulate: one, or one by each of several values.
func (p *problem) vary(file string, data []byte) error {
	each := [][]profile.Set{p.fixed}
	if p.several != nil {
		each = nil
		for _, s := range p.several {
			each = append(each, append(slices.Clone(p.fixed), s))
		}
	}
	for _, sets := range each {
		one, err := profile.With(file, data, sets)
		if err != nil {
			return flagged("--set", err)
		}
		p.variant = append(p.variant, one)
	}
	return nil
}

func (p *problem) predict(ctx context.Context, w workload) (*predict.Report, error) {
	r := p.report()
	var traces []*trace.Trace
	for i, one := range p.variant {
		c, words, err := w.on(ctx, one)
		if err == nil && i == 0 {
			r.Load = words
			if traces, err = w.measured(c.Run); err == nil && one.Engine.KV.PrefixCache == p.base.Engine.KV.PrefixCache {
				r.Cache, err = w.cached(ctx, one)
			}
		}
		if err != nil {
			return nil, err
		}
		c.Profile, c.Base, c.Level, c.Percentiles, c.Objectives = one, p.base, p.Level/100, c.Run.Plan.Percentiles, p.goals
		made, err := predict.Simulate(ctx, c)
		if err != nil {
			return nil, err
		}
		attach(made, c, traces)
		r.Add(p.value(i), made, p.Extrapolate)
		r.SetPrice(p.PerHour(), p.Devices*max(1, one.Engine.Replicas.Count))
	}
	r.AddRuns(traces)
	return r, nil
}

// value is the one that variant i has in the field with several; empty if none has.
func (p *problem) value(i int) string {
	if p.several == nil {
		return ""
	}
	return p.several[i].Value
}

// report has the facts known before any simulation.
func (p *problem) report() *predict.Report {
	r := &predict.Report{Profile: p.base.Name, Title: p.base.Title, Calibrated: p.base.Calibration != nil}
	if k := p.base.Calibration; k != nil {
		r.Runs, r.Steps, r.Doubts = k.Runs, k.Steps, k.Doubts
	}
	for _, s := range p.fixed {
		r.WhatIf = append(r.WhatIf, s.String())
	}
	if p.several != nil {
		r.Field = p.several[0].Field
		r.WhatIf = append(r.WhatIf, r.Field)
	}
	return r
}

// flagged is an error of a flag, each of its problems under the flag's name.
func flagged(flag string, err error) error {
	var problems plan.Problems
	if !errors.As(err, &problems) {
		return session.Usage(err)
	}
	var errs []error
	for _, p := range problems {
		errs = append(errs, fmt.Errorf("%s %w", flag, p))
	}
	return session.Usage(errors.Join(errs...))
}
