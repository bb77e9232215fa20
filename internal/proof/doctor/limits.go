package doctor

import (
	"fmt"

	"github.com/pitot-bench/pitot/internal/plan"
)

func files(f Facts, p Plan) Finding {
	const item plan.Code = "doctor.open-files"
	if f.Files == 0 {
		return unknown(item, f.OS)
	}
	carries := f.Files - min(f.Files, filesBeside)
	r := found(item, "doctor.files", "files", f.Files, "streams", carries)
	need := uint64(max(p.Streams, manyStreams) + filesBeside)
	raise := plan.Say("doctor.files-raise", "need", need)
	if f.FilesHard < need {
		raise = plan.Say("doctor.files-hard", "hard", f.FilesHard, "need", need)
	}
	switch {
	case uint64(p.Streams) > carries:
		return r.but(Bad, "doctor.files-few", "streams", p.Streams, "need", need, "raise", raise)
	case p.Streams == 0 && carries < manyStreams:
		return r.but(Warn, "doctor.files-any", "raise", raise)
	}
	return r
}

func ports(f Facts, p Plan) Finding {
	const item plan.Code = "doctor.local-ports"
	if f.Ports == nil {
		return unknown(item, f.OS)
	}
	n := f.Ports.High - f.Ports.Low + 1
	r := found(item, "doctor.ports", "ports", n, "low", f.Ports.Low, "high", f.Ports.High)
	widen := `sysctl -w net.ipv4.ip_local_port_range="1024 65535"`
	if f.OS == "darwin" {
		widen = "sysctl -w net.inet.ip.portrange.first=1024"
	}
	switch held := p.Rate * portHeld; {
	case p.Streams > n:
		return r.but(Bad, "doctor.ports-few", "streams", p.Streams, "widen", widen)
	case held > float64(n) && !f.Ports.Reuse:
		return r.but(Warn, "doctor.ports-held", "rate", p.Rate, "ports", held, "widen", widen, "linux", f.OS == "linux")
	case p.Streams == 0 && n < fewPorts:
		return r.but(Warn, "doctor.ports-any", "widen", widen)
	}
	return r
}

func memory(f Facts, p Plan) Finding {
	const item plan.Code = "doctor.memory"
	if f.Memory == 0 {
		return unknown(item, f.OS)
	}
	r := found(item, "doctor.memory-free", "size", size(f.Memory))
	streams := int64(p.Streams) * streamBytes
	switch {
	case f.Memory < leastMemory+streams:
		return r.but(Bad, "doctor.memory-little", "size", size(leastMemory+streams))
	case f.Memory < comfortMemory+streams:
		return r.but(Warn, "doctor.memory-some", "size", size(comfortMemory+streams))
	}
	return r
}

// size is a number of bytes for people.
func size(bytes int64) string {
	if bytes >= 1<<30 {
		return fmt.Sprintf("%.1f GiB", float64(bytes)/(1<<30))
	}
	return fmt.Sprintf("%d MiB", bytes>>20)
}

// What a run takes beside its streams, and for each of them.
const (
	filesBeside   = 64       // open files
	manyStreams   = 1024     // that a machine should carry when no plan says how many
	fewPorts      = 10_000   // fewer are a range that somebody has narrowed
	portHeld      = 60       // seconds that a closed connection keeps its port
	streamBytes   = 50 << 10 // of a stream over net/http, the costlier of the two engines
	leastMemory   = 256 << 20
	comfortMemory = 2 << 30 // half of it is the garbage that may pile up in a run
)
