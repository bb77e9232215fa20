package torture

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// wild are values for a number, a time, a share or a distribution.
var wild = []string{
	"0", "-1", "-0", "1e18", "1e300", "1e999", "-1e999", "1e-300", "5e-324", "NaN", "Inf", "-Inf",
	"9223372036854775807", "9223372036854775808", "-9223372036854775808", "18446744073709551616", strings.Repeat("9", 400),
	"0x7fffffff", "1_000", "2147483648", "4294967296", "1e9", "1e12", "0.7", "1e", ".", "+", "", " ", "٣", "\x1b[2J", "1\n2",
	"1e18s", "292y", "-1s", "1ns", "9223372036854775807ns", "1e-300s", "2562047h", "1e300h",
	"uniform(0,1e18)", "uniform(5,1)", "uniform(-1e18,1e18)", "normal(1e300,1e300)", "normal(200,1e18)", "lognormal(200,1e9)",
	"lognormal(1e18,0.1)", "exponential(1e-300s)", "exponential(1e18)", "gamma(1s,1e-300)", "gamma(1e300,1)", "constant(1e999)", "uniform(" + strings.Repeat("(", 10_000),
	"linear:0..1e300", "linear:1e-300..1e-300", "exponential:1e-300..1e300", "0..1e18", "1e300h..", "ttft=1e999", "ttft=-1s,tpot=1e300h", "x=1e18", "reset=1e300@9223372036854775808",
	"1000000x1000000=1", "1x1=1e999", "weight=1e300 workload=random input-len=1e18", "weight=-1 workload=random", "name=a rate=1e-300 workload=random", "name=a rate=1 input-len=-5",
}

// A taker is a command with flags that take numbers. Its flags are those of its help.
type taker struct {
	help, run string
	config    bool // takes a settings file
}

var takers = []taker{
	{"sim", "sim -q -n 3 --output-len 4", true},
	{"bench", "plan -- bench --url http://127.0.0.1:1 --model m --tokenizer none -n 3", false},
	{"bench", "bench -q -n 2 --rate 1000 --output-len 2 --timeout 2s --ready-timeout 1s", true},
	{"runs list", "runs list", false},
	{"runs show", "runs show last", false},
	{"runs report", "runs report last", false},
	{"compare", "compare a b", false},
	{"note", "note a b", false},
	{"conform report", "conform report x.json", false},
}

// named are flags whose value is no number and leads elsewhere.
var named = []string{"config", "store", "url", "output", "data", "ca", "api-key-file", "api-key-env", "header", "version", "help", "profile", "name", "model"}

// takes are the flags of a command that take a value.
func (c taker) takes(t *testing.T, p *place) (flags []string) {
	t.Helper()
	o := p.run(t, append(strings.Fields(c.help), "--help")...)
	for _, m := range regexp.MustCompile(`(?m)^\s+(?:-\w, )?\s*--([a-z0-9-]+)=`).FindAllStringSubmatch(o.out, -1) {
		if !slices.Contains(named, m[1]) {
			flags = append(flags, m[1])
		}
	}
	return flags
}

// Every flag that takes a value gets every wild one, on the command line and, where there
// is one, in a settings file. The short form takes one value, another for each flag, and a third of the flags.
func TestNumbers(t *testing.T) {
	t.Parallel()
	for c, command := range takers {
		t.Run(fmt.Sprintf("%d-%s", c, strings.ReplaceAll(command.help, " ", "-")), func(t *testing.T) {
			t.Parallel()
			base := newPlace(t)
			for _, name := range []string{"a", "b"} {
				if o := base.run(t, "sim", "-q", "-n", "20", "--rate", "100", "--output-len", "4", "--name", name); !o.check(t, 0, 3) {
					return
				}
			}
			flags := command.takes(t, base)
			if len(flags) == 0 {
				t.Fatalf("no flags in the help of %s", command.help)
			}
			for i, flag := range flags {
				if !*long && (i+c)%3 != 0 {
					continue
				}
				t.Run(flag, func(t *testing.T) {
					t.Parallel()
					for j, value := range wild {
						if !*long && (j*7+i*5+c*11)%len(wild) >= 1 {
							continue
						}
						command.take(t, base, flag, value, (i+j)%2 == 0)
					}
				})
			}
		})
	}
}

// take gives one value to one flag.
func (c taker) take(t *testing.T, p *place, flag, value string, file bool) {
	t.Helper()
	args := append(without(strings.Fields(c.run), flag), "--"+flag+"="+value)
	if file && c.config || *long && c.config {
		file := p.write(t, fmt.Sprintf("settings-%x.yaml", random(flag+value).Uint64()), flag+": "+value+"\n")
		o := p.start(t, child{args: append(strings.Fields(c.run), "--config", file), wall: 10 * time.Second}).wait()
		report(t, t.Name(), o, o.faults(nil))
		if !*long {
			return
		}
	}
	o := p.start(t, child{args: args, wall: 10 * time.Second}).wait()
	report(t, t.Name(), o, o.faults(nil))
}

// without are the words of a command line without a flag and its value: none takes two.
func without(words []string, flag string) []string {
	short := map[string]string{"requests": "-n", "concurrency": "-c"}[flag]
	i := slices.IndexFunc(words, func(word string) bool { return word == "--"+flag || word == short })
	if i < 0 {
		return words
	}
	return slices.Delete(words, i, i+2)
}

// plans are runs whose plans have among them a number of every kind.
var plans = []string{
	"bench -n 5 --rate 3 --slo ttft=1s --percentiles 50,99 --input-range 0.5 --output-range 0.5 --prefix-len 3 --warmup 3 --ready-timeout 1s --vocab-size 1000",
	"bench --workload random-mm -n 2 --rate 2 --arrival gamma --burstiness 0.5 --images 2 --image-range 0.5 --image-sizes 32x32=0.5,64x32=0.5",
	"bench --workload chat --tokenizer x -n 5 --rate 3 --think 2s --turns 3 -c 4 --hold",
	"bench --workload agent --tokenizer x --conversations 3 --turns uniform(2,3) --rate 2 --fit 1000",
	"bench -n 6 --ramp linear:1..5 --engine-ttft 10ms --engine-itl 1ms --engine-slots 3 --engine-max-model-len 1000 --engine-fault reset=0.1@3 --engine-seed 4 --timeout 5s --idle-timeout 1s --procs 2",
	"bench --mix weight=0.7 --mix weight=0.3 -n 5 --rate 5",
	"sim -n 5 --rate 5 --slots 2 --ttft 5ms",
	"vllm bench serve --model m --dataset-name random --num-prompts 3 --burstiness 0.5 --max-concurrency 3 --ramp-up-strategy linear --ramp-up-start-rps 1 --ramp-up-end-rps 4",
	"sglang bench_serving --backend sglang --model m --dataset-name generated-shared-prefix --num-prompts 3",
}

var scalar = regexp.MustCompile(`(?m)^(\s*(?:- )?)([a-z_0-9]+): "?(-?[0-9][^"\n]*)"?$`)

// Every number of a plan is replaced by every wild one.
func TestNumbersOfPlans(t *testing.T) {
	t.Parallel()
	for i, line := range plans {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			plan := p.run(t, append([]string{"plan", "--"}, strings.Fields(line)...)...)
			at := scalar.FindAllStringSubmatchIndex(plan.out, -1)
			if len(at) == 0 {
				t.Fatalf("no number in the plan of %s: %s", line, plan.err)
			}
			for j, m := range at {
				for k, value := range wild {
					if !*long && (k*7+j*5+i)%(3*len(wild)) != 0 {
						continue
					}
					file := p.write(t, fmt.Sprintf("plan-%d-%d.yaml", j, k), plan.out[:m[6]]+value+plan.out[m[7]:])
					o := p.start(t, child{args: []string{"plan", file}, wall: 10 * time.Second}).wait()
					report(t, t.Name(), o, o.faults(nil))
				}
			}
		})
	}
}
