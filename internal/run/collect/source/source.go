// Package source makes collectors of what a user names.
//
//	URL                       /metrics of a server or an exporter
//	host[@HOST]               processors, memory and network
//	nvidia-smi[@HOST]         devices, and likewise npu-smi and amd-smi
//
// A HOST is what ssh takes: HOST or USER@HOST. Here finds what this machine has by itself.
package source

import (
	"fmt"
	"strings"

	"github.com/pitot-bench/pitot/internal/run/collect"
	"github.com/pitot-bench/pitot/internal/run/collect/child"
	"github.com/pitot-bench/pitot/internal/run/collect/host"
	"github.com/pitot-bench/pitot/internal/run/collect/smi"
	"github.com/pitot-bench/pitot/internal/sys/proc"
)

// Parse makes the collector of a source. ofURL makes that of an http or https URL.
func Parse(text string, ofURL func(url string) (collect.Collector, error)) (collect.Collector, error) {
	if scheme, _, ok := strings.Cut(text, "://"); ok {
		if scheme = strings.ToLower(scheme); scheme != "http" && scheme != "https" {
			return nil, fmt.Errorf("source %q: a URL begins with http:// or https://", text)
		}
		return ofURL(text)
	}
	program, name, remote := strings.Cut(text, "@")
	if remote {
		if err := child.CheckHost(name); err != nil {
			return nil, fmt.Errorf("source %q: %w", text, err)
		}
	}
	switch {
	case program == host.Program && remote:
		return host.There{Host: name}, nil
	case program == host.Program:
		return host.Here{}, nil
	}
	d, err := smi.New(program, name)
	if err != nil {
		return nil, fmt.Errorf("unknown source %q: write %s", text, Grammar())
	}
	return d, nil
}

// Grammar is what Parse takes, for messages and help.
func Grammar() string {
	forms := []string{"a URL"}
	for _, program := range append([]string{host.Program}, smi.Programs()...) {
		forms = append(forms, program+"[@HOST]")
	}
	return strings.Join(forms[:len(forms)-1], ", ") + " or " + forms[len(forms)-1]
}

// Here are collectors of this machine: of the host, if it is one that tells, and of each program
// that is installed. One that knows of no devices ends without a word.
func Here() (found []collect.Collector) {
	if host.Known() {
		found = append(found, host.Here{})
	}
	for _, program := range smi.Programs() {
		d, err := smi.New(program, "")
		if _, missing := proc.Find(program); err == nil && missing == nil {
			found = append(found, smi.IfThere{Devices: d})
		}
	}
	return found
}
