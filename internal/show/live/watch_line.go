package live

import (
	"github.com/pitot-bench/pitot/internal/judge/resources"
	"github.com/pitot-bench/pitot/internal/show/doc"
	"github.com/pitot-bench/pitot/internal/show/plain"
	"github.com/pitot-bench/pitot/internal/show/words"
)

// Line is the main things in one line, without its end.
func Line(v View, l *words.Language) string {
	now := v.now()
	var parts []string
	for _, s := range now.Servers {
		line := serverLine(s, l)
		if len(now.Servers) > 1 {
			line = s.Source + ": " + line
		}
		parts = append(parts, line)
	}
	if len(now.Devices) > 0 {
		parts = append(parts, Devices(now.Devices, l))
	}
	for _, h := range now.Hosts {
		parts = append(parts, h.Source+" "+cpu(h, "watch.of-cpus", l))
	}
	parts = append(parts, v.troubles(l)...)
	if len(parts) == 0 {
		parts = []string{l.Word("watch.nothing")}
	}
	return plain.Line(v.Time.Format("15:04:05") + "  " + doc.Join(" | ", parts...))
}

func serverLine(s resources.LiveServer, l *words.Language) string {
	var parts []string
	for _, q := range quantities {
		parts = append(parts, l.Word(q.code)+" "+q.say(q.of(s)))
	}
	return doc.Join("  ", parts...)
}

// Devices is their mean utilization and their power together.
func Devices(all []resources.LiveDevice, l *words.Language) string {
	busy, power := 0.0, 0.0
	var known, powered int
	for _, d := range all {
		if d.Utilization != nil {
			busy, known = busy+*d.Utilization, known+1
		}
		if d.Power != nil {
			power, powered = power+*d.Power, powered+1
		}
	}
	mean, sum := (*float64)(nil), (*float64)(nil)
	if known > 0 {
		busy /= float64(known)
		mean = &busy
	}
	if powered == len(all) {
		sum = &power
	}
	return l.Word("report.devices", "devices", len(all)) + " " + Percent(mean) + " " + Watts(sum)
}
