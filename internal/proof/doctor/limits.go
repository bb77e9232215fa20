package doctor

import "fmt"

// The needs of a run besides its streams, and per stream.
const (
	filesBeside   = 64       // open files
	manyStreams   = 1024     // that a machine should support without a plan
	fewPorts      = 10_000   // fewer mean that the range was narrowed
	portHeld      = 60       // seconds that a closed connection keeps its port
	streamBytes   = 50 << 10 // per stream with net/http, the costlier of the two engines
	leastMemory   = 256 << 20
	comfortMemory = 2 << 30 // half of it is for garbage that accumulates in a run
)

func files(f Facts, p Plan) Finding {
	const item = "open files"
	if f.Files == 0 {
		return unknown(item, f.OS)
	}
	carries := f.Files - min(f.Files, filesBeside)
	r := Finding{Item: item, Value: fmt.Sprintf("%d, enough for %d streams", f.Files, carries), Verdict: OK}
	need := uint64(max(p.Streams, manyStreams) + filesBeside)
	raise := fmt.Sprintf("raise the limit with `ulimit -n %d` in the shell that starts pitot", need)
	if f.FilesHard < need {
		raise = fmt.Sprintf("the hard limit is %d: raise it to %d as nofile in /etc/security/limits.conf, LimitNOFILE= of a service, or --ulimit of a container", f.FilesHard, need)
	}
	switch {
	case uint64(p.Streams) > carries:
		return r.but(Bad, "%d streams need about %d open files; %s", p.Streams, need, raise)
	case p.Streams == 0 && carries < manyStreams:
		return r.but(Warn, "every stream is an open file; %s", raise)
	}
	return r
}

func ports(f Facts, p Plan) Finding {
	const item = "local ports"
	if f.Ports == nil {
		return unknown(item, f.OS)
	}
	n := f.Ports.High - f.Ports.Low + 1
	r := Finding{Item: item, Value: fmt.Sprintf("%d to one server (%d to %d)", n, f.Ports.Low, f.Ports.High), Verdict: OK}
	widen := "widen the range: `sysctl -w net.ipv4.ip_local_port_range=\"1024 65535\"`"
	if f.OS == "darwin" {
		widen = "widen the range: `sysctl -w net.inet.ip.portrange.first=1024`"
	}
	switch held := p.Rate * portHeld; {
	case p.Streams > n:
		return r.but(Bad, "%d streams to one address need as many ports: %s, or spread them over several addresses of the server", p.Streams, widen)
	case held > float64(n) && !f.Ports.Reuse:
		reuse := ""
		if f.OS == "linux" {
			reuse = ", or set net.ipv4.tcp_tw_reuse=1"
		}
		return r.but(Warn, "with --new-connections %g requests per second hold %.0f ports, since a closed connection keeps its port for a minute: reuse connections, which is the default, %s%s", p.Rate, held, widen, reuse)
	case p.Streams == 0 && n < fewPorts:
		return r.but(Warn, "every stream to one server needs a port: %s", widen)
	}
	return r
}

func memory(f Facts, p Plan) Finding {
	const item = "memory"
	if f.Memory == 0 {
		return unknown(item, f.OS)
	}
	r := Finding{Item: item, Value: fmt.Sprintf("%s available", size(f.Memory)), Verdict: OK}
	streams := int64(p.Streams) * streamBytes
	switch {
	case f.Memory < leastMemory+streams:
		return r.but(Bad, "a run needs about %s: free some, or raise the limit of the container", size(leastMemory+streams))
	case f.Memory < comfortMemory+streams:
		return r.but(Warn, "a run keeps its garbage in half of the free memory, so the garbage collector may run during it: leave %s free", size(comfortMemory+streams))
	}
	return r
}

// size formats a number of bytes.
func size(bytes int64) string {
	if bytes >= 1<<30 {
		return fmt.Sprintf("%.1f GiB", float64(bytes)/(1<<30))
	}
	return fmt.Sprintf("%d MiB", bytes>>20)
}
