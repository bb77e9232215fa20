package torture

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
)

// With few files a run is refused, or its requests fail as data. Go's runtime needs seven
// for itself: those that this process was started with are closed.
func TestFewFiles(t *testing.T) {
	t.Parallel()
	for _, files := range either([]int{8, 16, 40}, []int{8, 10, 12, 14, 16, 20, 24, 32, 40, 48, 64}) {
		t.Run(fmt.Sprint(files), func(t *testing.T) {
			t.Parallel()
			p, g := newPlace(t), play(t, phase{nth: -1})
			limit := []string{fmt.Sprintf("-n %d", files)}
			for _, args := range [][]string{
				append(g.bench(100), "-c", "100", "--new-connections"),
				append(g.bench(100), "--rate", "1000", "-c", "10000"),
				{"bench", "-q", "-n", "50", "-c", "50", "--output-len", "2"},
				{"sim", "-q", "-n", "5"},
				{"runs", "list"},
			} {
				o := p.start(t, child{args: args, ulimit: limit, before: "exec 3>&- 4>&- 5>&- 6>&- 7>&-;"}).wait()
				report(t, t.Name(), o, append(o.faults(nil), intact(t, p.store)...))
			}
		})
	}
}

// With few ports requests fail as data, and every one has a record.
func TestFewPorts(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	const n = 60
	o := p.start(t, child{
		args: []string{"bench", "-q", "-n", fmt.Sprint(n), "-c", "30", "--new-connections", "--output-len", "2", "--engine-ttft", "1ms", "--engine-itl", "1ms"},
		attr: namespace(syscall.CLONE_NEWNET),
		before: "ip link set lo up 2>/dev/null || exit 99; " +
			"echo 40000 40015 >/proc/sys/net/ipv4/ip_local_port_range 2>/dev/null || exit 99;",
	}).wait()
	if o.code == 99 {
		t.Skip("no network of its own can be had here")
	}
	faults := append(o.faults([]int{0, 1, 2, 3}), intact(t, p.store)...)
	if got := records(t, p.store); o.code != 2 && got != n {
		faults = append(faults, fmt.Sprintf("%d of %d requests have a record", got, n))
	}
	report(t, t.Name(), o, faults)
}

// With little memory a plan that does not fit is refused before anything is allocated.
func TestAbsurdSizes(t *testing.T) {
	t.Parallel()
	for _, args := range []string{
		"sim -n 1000000000000000000",
		"sim -n 2 --input-len 1000000000000",
		"sim -n 2 --output-len 1000000000000",
		"sim -n 2 --prefix-len 1000000000000000000",
		"sim -n 2 --vocab-size 1000000000000000000",
		"sim -n 2 --rate 1e-300",
		"sim -n 2 --rate 1e300",
		"sim -n 2 --replay data --speed 1e-300 --workload trace --data trace.csv",
		"sim --workload chat --conversations 3 --turns 1000000000",
		"sim --workload agent --conversations 1000000000000",
		"sim -n 2 --texts 1000000000000",
		"sim -n 2 --workload random-mm --images 1000000000",
		"sim -n 2 --workload random-mm --image-sizes 1000000x1000000=1",
		"bench -n 1000000000000000000",
		"bench -n 2 --prefix-len 1000000000000000000",
		"bench -n 2 --vocab-size 1000000000000000000",
		"bench -n 2 --rate 1e-300",
		"bench -n 2 -c 1000000000000000000 --output-len 2 --rate 1000",
		"serve --addr 127.0.0.1:0 --truth-limit 1000000000000000000 --slots -1",
		"vllm bench serve --model m --dataset-name random --num-prompts 1000000000000000000",
		"vllm bench serve --model m --dataset-name random --num-prompts 1 --random-input-len 1000000000000",
		"sglang bench_serving --backend sglang --model m --dataset-name random --num-prompts 1 --random-input-len 1000000000000",
	} {
		t.Run(strings.ReplaceAll(args, " ", "_"), func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.write(t, "trace.csv", "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:01:51,10,2\n2023-11-16 18:01:52,10,2\n")
			o := p.start(t, child{args: strings.Fields(args)}).wait()
			report(t, t.Name(), o, o.faults(nil))
		})
	}
}
