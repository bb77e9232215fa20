package live

import (
	"slices"
	"strings"

	"github.com/pitot-bench/pitot/internal/judge/resources"
	"github.com/pitot-bench/pitot/internal/record/telemetry"
	"github.com/pitot-bench/pitot/internal/show/doc"
	"github.com/pitot-bench/pitot/internal/show/plain"
)

// WatchLines are the lines of a screen, none wider than it is; those that do not fit are counted in
// the last one.
func WatchLines(v View, p Paper) []string {
	d := drawing{Page{Paper: p}}
	d.head(v)
	d.servers(v)
	d.devices(v)
	d.hosts(v)
	d.troubles(v)
	return d.Fitted()
}

// A drawing is a screen in the making.
type drawing struct{ Page }

func (d *drawing) head(v View) {
	right := v.Time.Format("15:04:05") + "  " + d.Lang.Word("watch.every", "time", v.Every.Seconds()) + "  " + d.Lang.Word("watch.quit")
	left := doc.Cut(plain.Line(v.Target), max(8, d.Columns-2-doc.Width(right)))
	d.Line(In(plain.Bold, doc.PadRight(left, d.Columns-doc.Width(right))), In(plain.Dim, right))
}

// servers are one under the other if there is one, else in rows.
func (d *drawing) servers(v View) {
	now := v.now()
	if len(now.Servers) == 0 && len(now.Devices)+len(now.Hosts) > 0 {
		return
	}
	d.Section()
	switch len(now.Servers) {
	case 0:
		d.Line(In(plain.Dim, d.Lang.Word("watch.nothing")))
	case 1:
		d.server(v, now.Servers[0])
	default:
		d.table(d.serverTable(now.Servers))
	}
}

// server is one, a quantity in each line, with the course of some.
func (d *drawing) server(v View, s resources.LiveServer) {
	names, values := 0, 11
	for _, q := range quantities {
		names, values = max(names, doc.Width(d.Lang.Word(q.code))), max(values, doc.Width(q.format(q.of(s))))
	}
	room := d.Columns - names - values - 4 - watchPeakWidth
	for _, q := range quantities {
		pieces := []Piece{In(plain.Dim, doc.PadRight(d.Lang.Word(q.code), names)+"  "), In("", doc.PadLeft(q.format(q.of(s)), values))}
		if q.drawn && room >= watchMinSpark {
			course := courseOf(v.Course, s.Source, q.of)
			pieces = append(pieces, In(plain.Green, "  "+doc.PadLeft(d.Spark(course, min(room, watchMaxSpark), q.most), min(room, watchMaxSpark))))
			if most := Largest(course); most != nil && q.most == 0 && *most > 0 {
				pieces = append(pieces, In(plain.Dim, "  "+d.Lang.Word("watch.most", "most", strings.TrimSuffix(q.format(most), " tok/s"))))
			}
		}
		d.Line(pieces...)
	}
}

// Widths of the columns after a value.
const (
	watchPeakWidth = 12 // the largest value of the last minute
	watchMinSpark  = 10
	watchMaxSpark  = 60
)

// courseOf is a quantity of a server over the last minute.
func courseOf(course []resources.Live, source string, of func(resources.LiveServer) *float64) (all []*float64) {
	for _, l := range course {
		i := slices.IndexFunc(l.Servers, func(s resources.LiveServer) bool { return s.Source == source })
		if i < 0 {
			all = append(all, nil)
			continue
		}
		all = append(all, of(l.Servers[i]))
	}
	return all
}

func (d *drawing) serverTable(now []resources.LiveServer) table {
	t := table{columns: []column{{title: d.Lang.Word("watch.server"), left: true}}}
	for i, q := range quantities {
		t.columns = append(t.columns, column{title: d.Lang.Word(q.code), keep: serverKeep[i]})
	}
	for _, s := range now {
		row := []cell{{s.Source, ""}}
		for _, q := range quantities {
			row = append(row, cell{strings.TrimSuffix(q.format(q.of(s)), " tok/s"), ""})
		}
		t.rows = append(t.rows, row)
	}
	return t
}

// serverKeep says which quantities go last where there is no room, in their order.
var serverKeep = []int{9, 8, 7, 4, 5, 3, 6, 2, 1}

func (d *drawing) devices(v View) {
	now := v.now().Devices
	if len(now) == 0 {
		return
	}
	word := d.Lang.Word
	t := table{columns: []column{
		{title: word("watch.device"), left: true},
		{title: word("watch.busy"), keep: 9},
		{title: word("watch.power"), keep: 8},
		{title: word("watch.clock"), keep: 4},
		{title: word("watch.temperature"), keep: 5},
		{title: word("watch.memory"), keep: 6},
		{title: word("watch.throttled"), left: true, keep: 7},
		{title: "", left: true, keep: 1},
	}}
	for i, dev := range now {
		var course []*float64
		for _, l := range v.Course {
			course = append(course, nil)
			if i < len(l.Devices) && l.Devices[i].Device == dev.Device {
				course[len(course)-1] = l.Devices[i].Utilization
			}
		}
		t.rows = append(t.rows, []cell{
			{dev.Device, ""},
			{Percent(dev.Utilization), ""},
			{Watts(dev.Power), ""},
			{mega(dev.Clock), ""},
			{celsius(dev.Temperature), ""},
			{memory(dev.MemoryUsed, dev.MemoryTotal), ""},
			d.condition(dev),
			{d.Spark(course, deviceCourse, 1), plain.Green},
		})
	}
	d.Section()
	d.table(t)
}

// deviceCourse is the width of the course of a device.
const deviceCourse = 20

// condition are the reasons of throttling and the states of health, red if one makes a measurement doubtful.
func (d *drawing) condition(dev resources.LiveDevice) cell {
	all := slices.Concat(dev.Throttled, dev.Unhealthy)
	switch {
	case len(all) > 0:
	case dev.Throttled == nil && dev.Unhealthy == nil:
		return cell{Unknown, ""}
	case dev.Throttled == nil:
		return cell{telemetry.HealthOK, ""}
	default:
		return cell{d.Lang.Word("watch.not-throttled"), ""}
	}
	color := ""
	if slices.ContainsFunc(dev.Throttled, telemetry.SeriousThrottling) || slices.ContainsFunc(dev.Unhealthy, telemetry.SeriousHealth) {
		color = plain.Red
	}
	return cell{strings.Join(all, " "), color}
}

func (d *drawing) hosts(v View) {
	now := v.now().Hosts
	if len(now) == 0 {
		return
	}
	word := d.Lang.Word
	t := table{columns: []column{
		{title: word("watch.host"), left: true}, {title: word("watch.cpus"), keep: 9}, {title: word("watch.memory"), keep: 8}, {title: word("watch.pressure"), keep: 7},
	}}
	for _, h := range now {
		t.rows = append(t.rows, []cell{{h.Source, ""}, {cpu(h, "watch.of", d.Lang), ""}, {memory(h.MemoryUsed, h.MemoryTotal), ""}, {pressure(h), ""}})
	}
	d.Section()
	d.table(t)
}

func (d *drawing) troubles(v View) {
	all := v.troubles(d.Lang)
	if len(all) == 0 {
		return
	}
	d.Section()
	for _, t := range all {
		for _, line := range doc.Wrap(plain.Line(t), d.Columns) {
			d.Line(In(plain.Red, line))
		}
	}
}
