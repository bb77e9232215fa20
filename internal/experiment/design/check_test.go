package design

import (
	"strings"
	"testing"
)

// file is an experiment of two servers and one load, with a line changed or added.
func file(change string) string {
	lines := map[string]string{
		"version":   "version: 1",
		"variants":  "variants: [{name: a, server: {command: x --port 1, url: 'http://h:1'}}, {name: b, server: {command: y}}]",
		"workloads": "workloads: [bench -n 20]",
	}
	for line := range strings.SplitSeq(change, "\n") {
		key, _, _ := strings.Cut(line, ":")
		lines[key] = line
	}
	text := ""
	for _, key := range []string{"version", "name", "server", "variants", "matrix", "baseline", "workloads", "design", "warm_up", "level", "margin", "fail_if"} {
		if line := lines[key]; line != "" && line != key+":" {
			text += line + "\n"
		}
	}
	return text
}

// wrong are changes of a right file, and the mistakes that they make.
var wrong = []struct{ change, want string }{
	{"version: 2", "version 2: was written by a newer Pitot; this one reads version 1"},
	{"version: 0", "version 0: must be 1"},
	{"name: last", "name last: is reserved"},
	{"name: --x", `name "--x": must not begin with -`},
	{"name: " + strings.Repeat("x", 65), "name: is 65 characters long, and 64 are possible"},
	{`name: "a\u0007"`, `name "a\a": has characters that cannot be printed`},
	{"variants:", "variants: an experiment compares at least two variants, and there are none"},
	{"variants: [{name: a}]", "variants: an experiment compares at least two variants, and there is only one; repeat it"},
	{"variants: [{name: a}, {name: ' b'}]", `variants[1].name " b": begins or ends with a blank`},
	{"variants: [" + strings.Repeat("{name: a},", 33) + "]", "variants: there are 33 variants, and at most 32"},
	{"baseline: c", `baseline "c": names no variant`},
	{"workloads:", "workloads: is missing"},
	{"workloads: []", "workloads: is missing"},
	{"workloads: [{name: l}]", "workloads[0]: needs a command"},
	{"workloads: [{name: l, command: bench}, {name: l, command: sim}]", `workloads[1].name "l": names two workloads`},
	{"workloads: [A=1 bench]", `workloads[0].command "A=1": begins with a variable`},
	{"workloads: ['# bench']", "workloads[0].command: has no words"},
	{"workloads: [bench > log]", "workloads[0].command: > means something to a shell"},
	{"workloads: [{spec: {load: [{arrival: at-once, dataset: random}], request: {protocols: chat}}}]", "workloads[0].spec.request.protocol: is missing\nworkloads[0].spec.request.protocols: unknown field, did you mean"},
	{"variants: [{name: a, settings: {seed: 1}}, {name: b}]", "variants[0].settings: only applies to workloads with a spec"},
	{"variants: [{name: a, flags: --x 1}, {name: b}]\nworkloads: [{spec: {load: [{arrival: at-once, dataset: random}], request: {protocol: chat}}}]", "variants[0].flags: only applies to workloads with a command"},
	{"variants: [{name: a, settings: {gate: {concurrency: -1}}}, {name: b}]\nworkloads: [{spec: {load: [{arrival: at-once, dataset: random}], request: {protocol: chat}}}]", "variants[0].settings.gate.concurrency -1: must not be negative"},
	{"variants: [{name: a, settings: 5}, {name: b}]\nworkloads: [{spec: {load: [{arrival: at-once, dataset: random}], request: {protocol: chat}}}]", "variants[0].settings: must be a map"},
	{"variants: [{name: a, flags: --x 'y}, {name: b}]", "variants[0].flags: the quote before y is not closed"},

	{"design: {blocks: 1}", ""},
	{"design: {blocks: -1}", "design.blocks -1: must not be negative"},
	{"design: {blocks: 65}", "design.blocks 65: must be at most 64"},
	{"design: {runs: 101}", "design.runs 101: must be at most 100"},
	{"design: {max_blocks: 4}", "design.max_blocks 4: only applies with until, precision or budget"},
	{"design: {max_blocks: 4, budget: 1h}", ""},
	{"design: {max_blocks: 4, blocks: 3, budget: 1h}", "design.max_blocks 4: limits the blocks, and so does blocks"},
	{"design: {until: verdict, blocks: 1}", "design.blocks 1: leaves nothing to stop before: until and precision look after each block; allow at least 2"},
	{"design: {precision: 2%, max_blocks: 1}", "design.max_blocks 1: leaves nothing to stop before"},
	{"design: {precision: -2%}", "design.precision -2%: must be between 0 and 100%"},
	{"design: {seed: 4294967296}", "design.seed 4294967296: must be at most 4294967295"},
	{"design: {confirm: 2}", "design.confirm 2: only applies to a choice among more than two"},
	{"design: {budget: 9000h}", "design.budget 9000h0m0s: must be at most"},
	{"level: 40%", "level 0.4: must be more than 0.5"},
	{"margin: 100%", "margin 1: must be between 0 and 1"},

	{"server: {runner: docker}", "variants[0].server.image: is missing: runner docker starts an image\nvariants[1].server.image: is missing: runner docker starts an image"},
	{"server: {image: img}", "server.image: does not go with runner: local"},
	{"variants: [{name: a, server: {image: img}}, {name: b, server: {runner: docker, image: img}}]", "variants[0].server.command: is missing: runner local starts a command\nvariants[0].server.image: does not go with runner: local; it is for runner: docker or runner: podman"},
	{"variants: [{name: a, server: {command: x, host: u@h}}, {name: b}]", "variants[0].server.host: does not go with runner: local; it is for runner: ssh"},
	{"variants: [{name: a, server: {runner: ssh, command: x}}, {name: b}]", "variants[0].server.host: is missing: runner ssh needs USER@HOST"},
	{"variants: [{name: a, server: {runner: ssh, command: x, host: -oProxyCommand=y}}, {name: b}]", "variants[0].server.host \"-oProxyCommand=y\": must not begin with -"},
	{"variants: [{name: a, server: {runner: kubectl, namespace: n}}, {name: b}]", "variants[0].server.deployment: is missing: runner kubectl starts a deployment or a manifest"},
	{"variants: [{name: a, server: {runner: kubectl, deployment: d, command: x}}, {name: b}]", "variants[0].server.command: does not go with runner: kubectl"},
	{"variants: [{name: a, server: {profile: vision, command: x}}, {name: b}]", "variants[0].server.command: does not go with profile and engine"},
	{"variants: [{name: a, server: {profile: vision, url: 'http://h'}}, {name: b}]", "variants[0].server.url: does not go with profile and engine"},
	{"variants: [{name: a, server: {url: 'http://h', settle: 1s}}, {name: b}]", "variants[0].server.settle: needs a command, or what else starts the server: it is of a server that Pitot starts"},
	{"variants: [{name: a, server: {url: 'http://h:${port}'}}, {name: b}]", "variants[0].server.url \"http://h:${port}\": a port is chosen only for"},
	{"variants: [{name: a, server: {url: 'h:1'}}, {name: b}]", "variants[0].server.url \"h:1\": must begin with http://"},
	{"variants: [{name: a, server: {profile: visoin}}, {name: b}]", "variants[0].server.profile: "},
	{"variants: [{name: a, server: {profile: ./mine.yaml}}, {name: b, server: {engine: {profile: mine.yml}}}]", ""},
	{"variants: [{name: a, server: {profile: vision, engine: {profile: vision}}}, {name: b}]", "variants[0].server.engine.profile vision: is given twice"},
	{"variants: [{name: a, server: {profile: vision, engine: {itl: 5ms}}}, {name: b}]", "variants[0].server.profile vision: a profile has timing of its own; leave it out, or itl"},
	{"variants: [{name: a, server: {engine: {itl: soon}}}, {name: b}]", "variants[0].server.engine.itl: "},
	{"variants: [{name: a, server: {engine: {slot: 5}}}, {name: b}]", "variants[0].server.engine.slot: unknown field, did you mean \"slots\"?"},
	{"variants: [{name: a, server: {command: x, ready: health}}, {name: b}]", "variants[0].server.ready \"health\": must begin with /"},
	{"variants: [{name: a, server: {command: x, env: {A-B: 1}}}, {name: b}]", "variants[0].server.env.A-B: is not the name of a variable"},
	{`variants: [{name: a, server: {command: "x\0"}}, {name: b}]`, "variants[0].server.command: has a zero byte"},
	{"server: {options: --gpus all}", "server.options: applies to no variant: it is for runner: docker or runner: podman or runner: ssh or runner: kubectl"},
	{"server: {settle: 5s}\nvariants: [{name: a, server: {url: 'http://h'}}, {name: b}]", "server.settle: applies to no variant: it is of a server that Pitot starts"},
	{"server: {command: x, settle: 5s}\nvariants: [{name: a, server: {profile: vision}}, {name: b}]", ""},
	{"server: {profile: vision}\nvariants: [{name: a, server: {command: x}}, {name: b}]", ""},

	{"design: {restart: block}", "variants[1].server.url: is missing: with restart: block the servers of all variants are up at once; give each one a url of its own"},
	{"server: {url: 'http://h:1'}\ndesign: {restart: never}", "server.url \"http://h:1\": is that of a too: with restart: never"},
	{"server: {url: 'http://h:${port}'}\ndesign: {restart: never}\nvariants: [{name: a, server: {command: x}}, {name: b, server: {command: y}}]", ""},
	{"design: {restart: never}\nvariants: [{name: a, server: {command: 'x ${port}'}}, {name: b, server: {command: 'y ${port}'}}]", ""},
	{"design: {restart: never}\nserver: {url: 'http://h:1'}\nvariants: [{name: a, flags: --x}, {name: b, flags: --y}]", ""},

	{"variants: [{name: a, server: {command: 'x ${prt} ${HOME:-y} $HOME'}}, {name: b}]", "variants[0].server.command ${prt}: is not an axis of the matrix; a variable of the shell is written $prt"},
	{"variants: [{name: a, flags: '--x ${port}'}, {name: b}]", "variants[0].flags ${port}: stands for a port, which only servers have"},
	{"variants:\nmatrix: {axes: {}}", "matrix.axes: is missing"},
	{"variants:\nmatrix: {axes: [tp]}", "matrix.axes: must be a map of lists"},
	{"variants:\nmatrix: {axes: {tp: []}, flags: '--x ${tp}'}", "matrix.axes.tp: has no values"},
	{"variants:\nmatrix: {axes: {tp: [1, 2], port: [1]}, flags: '--x ${tp}'}", "matrix.axes.port \"port\": must be a name\nmatrix.axes.port: changes nothing"},
	{"variants:\nmatrix: {axes: {tp: [1, 1]}, flags: '--x ${tp}'}", "matrix.axes.tp[1] \"1\": is given twice"},
	{"variants:\nmatrix: {axes: {tp: [1, 2]}, flags: '--x ${tp}', exclude: [{tp: 3}, {pt: 1}, {}]}", "matrix.exclude[0].tp \"3\": is not a value\nmatrix.exclude[1].pt: is not an axis\nmatrix.exclude[2]: names no value"},
	{"variants:\nmatrix: {axes: {tp: [1, 2, 3]}, flags: '--x ${tp}', exclude: [{tp: 1}, {tp: 1}]}", "matrix.exclude[1]: matches nothing that is not left out already"},
	{"variants:\nmatrix: {axes: {tp: [1, 2]}, flags: '--x ${tp}', exclude: [{tp: 1}, {tp: 2}]}", "matrix.exclude: leaves out everything"},
	{"server: {command: 'x ${tp}'}\nmatrix: {axes: {tp: [1, 2]}}\nvariants: [{name: a, server: {command: y}}, {name: b}]", "server.command ${tp}: stands for a value of the matrix, and there is a variant that is not of the matrix; give that variant"},
	{"variants:\nmatrix: {axes: {a: [" + strings.Repeat("x", 99) + ", y]}, flags: '--x ${a}'}", "matrix.axes: the values make a name of 101 characters"},
	{"variants: [{name: a=1}]\nmatrix: {axes: {a: [1]}, flags: '--x ${a}'}", "matrix \"a=1\": names two variants"},
}

// What is wrong is told by the nearest field, and nothing else is.
func TestCheck(t *testing.T) {
	if got := mistakesOf(t, file("")); got != "" {
		t.Fatal(got)
	}
	for _, tt := range wrong {
		got := strings.Split(mistakesOf(t, file(tt.change)), "\n")
		want := strings.Split(tt.want, "\n")
		ok := len(got) == len(want)
		for i := range min(len(got), len(want)) {
			ok = ok && strings.HasPrefix(got[i], want[i]) && (want[i] == "") == (got[i] == "")
		}
		if !ok {
			t.Errorf("%s\ngot  %s\nwant %s", tt.change, strings.Join(got, "\n     "), tt.want)
		}
	}
}

// mistakesOf are the mistakes of a file without their places.
func mistakesOf(t *testing.T, text string) string {
	t.Helper()
	_, _, err := Read("f.yaml", []byte(text))
	all := heads(t, err)
	for i := range all {
		_, all[i], _ = strings.Cut(all[i], ": ")
	}
	return strings.Join(all, "\n")
}
