package run

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/pitot-bench/pitot/internal/model/apiserver"
	"github.com/pitot-bench/pitot/internal/model/profile"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// engine is the server that a Spec without a URL names.
func (p *Prepared) engine() error {
	if p.spec.Target.URL != "" {
		return nil
	}
	cfg, deployment, err := p.standing()
	if err != nil {
		return plan.Below("target.engine", err)
	}
	p.server = cfg
	if deployment != nil {
		p.run.Env.Profile = &trace.Profile{Name: deployment.Name, Error: deployment.Accuracy(), Text: deployment.Text}
	}
	if !p.spec.Target.Simulated {
		p.run.Env.Embedded = true
		return nil
	}
	if p.admission, err = apiserver.NewAdmission(cfg); err != nil {
		return err
	}
	return p.checkSimulated()
}

// standing is the engine, and the profile that it stands for, nil for none.
func (p *Prepared) standing() (apiserver.Config, *profile.Profile, error) {
	if p.Profile != nil && p.spec.Target.Simulated {
		return apiserver.Standing(p.Machine.Pitot, p.Profile), p.Profile, nil
	}
	var settings apiserver.Settings
	if p.spec.Target.Engine != nil {
		if problems := plan.DecodeJSON(p.spec.Target.Engine, &settings); problems != nil {
			return apiserver.Config{}, nil, problems
		}
	}
	return settings.Config(p.Machine.Pitot, p.Read)
}

var simulatedProtocols = []string{"completions", "chat", "generate"}

// checkSimulated refuses settings without a meaning in virtual time, and sets the model.
func (p *Prepared) checkSimulated() error {
	var problems plan.Problems
	asked := &p.spec.Request
	problems.If(!slices.Contains(simulatedProtocols, asked.Protocol), "request.protocol", asked.Protocol, "a simulation speaks %s; without a URL `pitot bench` has the engine answer in the others", strings.Join(simulatedProtocols, ", "))
	problems.If(p.spec.KeepText, "keep_text", nil, "a simulated answer has no text")
	problems.If(len(p.server.Faults) > 0, "target.engine.fault", nil, "nothing is sent that could go wrong; faults are for `pitot serve` and `pitot bench`")
	if asked.Model == "" {
		asked.Model = p.admission.Model()
	}
	names := p.admission.Models()
	problems.If(!slices.Contains(names, asked.Model), "request.model", asked.Model, "the engine serves %s", strings.Join(names, ", "))
	return problems.Err()
}

// startEngine starts the embedded engine, on loopback.
func (p *Prepared) startEngine() (url string, err error) {
	p.server.Precise = p.Quiet != nil
	server, err := apiserver.New(p.server)
	if err != nil {
		return "", plan.Problems{{Path: "target.engine", Why: err.Error()}}
	}
	l, err := p.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("start the embedded engine: %w", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- server.Serve(ctx, l, nil) }()
	p.engineLag = server.TakeLateness
	p.stopEngine = func() error {
		cancel()
		return <-done
	}
	return "http://" + l.Addr().String(), nil
}

// An engineTokenizer does the same as /tokenize and /detokenize of the engine.
type engineTokenizer struct{ *apiserver.Admission }

func (t engineTokenizer) name() plan.Message { return plan.Msg(tokensEngine) }

func (t engineTokenizer) Encode(_ context.Context, text string, _ bool) ([]int32, error) {
	return t.Admission.Encode(text), nil
}

func (t engineTokenizer) Decode(_ context.Context, ids []int32) (string, error) {
	return t.Admission.Decode(ids)
}
