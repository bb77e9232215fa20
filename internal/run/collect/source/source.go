// Package source makes the collectors that a user names.
//
//	URL                       /metrics of a server or an exporter
//	host[@HOST]               processors, memory and network
//	nvidia-smi[@HOST]         devices, and likewise npu-smi and amd-smi
//
// A HOST is as for ssh: HOST or USER@HOST. Here finds the sources of this machine.
//
// # Hosts
//
// Host samples the processors, memory, network and control groups of a Linux host: of
// this machine, or of another one through ssh.
//
// Both are the same files of /proc and /sys. Here they are read; there a shell that stays connected prints them on
// request, and the same code reads its output. Each sample of another host is one exchange: its instant is the
// middle, and it is off by at most half of the exchange, whatever the clock of the host says.
//
// The files are read here and not by prometheus/procfs, which reads files of a mounted /proc only, and no text that
// came from elsewhere. A test compares the two.
//
// # Metrics over HTTP
//
// A Scraper samples the /metrics of servers and exporters over HTTP.
//
//	GET /metrics ── exposition.Reader ─> samples ── rows.go ──> Pitot's names and units
//	   │                                   │
//	   └ middle of the exchange            └ own stamps ── skew.go ──> the run's clock
//
// Names of foreign series are data: a Row each, in rows_servers.go and rows_machines.go. Series without a Row keep
// their names if a pattern admits them.
//
// An Exporter shares no connection with the run. It makes one request at a time: a server that answers slowly is
// asked less often, one that does not answer is asked again at growing intervals of up to 10 s.
//
// A page is read into the memory of the page before it, a sample at a time, and only labels that a row wants are
// allocated: during a run garbage is not collected.
//
// The instant of a value is the middle of the exchange that brought it, from before the request was written to the
// end of the answer, and off by half of that at most. Samples with stamps are by another clock, which the Date
// header of each answer bounds (see skew).
//
// # Devices
//
// NewSMI samples devices through the programs of their makers: nvidia-smi, npu-smi and
// amd-smi, here or on another host through ssh.
//
// One program of a source stays running and prints a line for each device and period. A form knows a command line
// and how to read its output; forms of a program are tried in turn, the one with the most values first, since older
// versions know fewer fields and flags.
//
// Unknown values are no points: "[N/A]", "N/A", "NA", "-" and their like. The others are in SI units: W, B, Hz,
// shares from 0 to 1, and °C.
package source

import (
	"fmt"
	"strings"

	"github.com/pitot-bench/pitot/internal/run/collect"
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
		if err := collect.CheckHost(name); err != nil {
			return nil, fmt.Errorf("source %q: %w", text, err)
		}
	}
	switch {
	case program == Program && remote:
		return RemoteHost{Host: name}, nil
	case program == Program:
		return Host{}, nil
	}
	d, err := NewSMI(program, name)
	if err != nil {
		return nil, fmt.Errorf("unknown source %q: write %s", text, Grammar())
	}
	return d, nil
}

// Grammar describes the argument of Parse, for messages and help.
func Grammar() string {
	forms := []string{"a URL"}
	for _, program := range append([]string{Program}, Programs()...) {
		forms = append(forms, program+"[@HOST]")
	}
	return strings.Join(forms[:len(forms)-1], ", ") + " or " + forms[len(forms)-1]
}

// Here are collectors of this machine: of the host, if it can be sampled, and of each program that is installed. A
// program without devices ends silently.
func Here() (found []collect.Collector) {
	if Known() {
		found = append(found, Host{})
	}
	for _, program := range Programs() {
		d, err := NewSMI(program, "")
		if _, missing := proc.Find(program); err == nil && missing == nil {
			found = append(found, OptionalDevices{Devices: d})
		}
	}
	return found
}
