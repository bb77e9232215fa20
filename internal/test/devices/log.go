package devices

import (
	_ "embed"
	"sort"
	"strconv"
	"strings"
	"sync"
	"time"
)

// A Logged is a row of a log of nvidia-smi.
type Logged struct {
	At      time.Duration // since the beginning of the log
	Mean    float64       // power.draw and power.draw.average, W
	Instant float64       // power.draw.instant, W
	Clock   float64       // clocks.sm, MHz
	Capped  bool          // clocks_event_reasons.active has the bit of the power limit
}

// A run of a closed loop within the log of H200: 48 requests in flight at vLLM 0.26, nothing before and after.
const (
	LoggedFrom = 4744805 * time.Microsecond
	LoggedTo   = 36886954 * time.Microsecond
)

//go:embed testdata/h200.csv
var h200 string

// H200 is the log of an NVIDIA H200 under driver 580.159.04, twice a second for 204 s: seconds, power.draw,
// power.draw.instant, clocks.sm, clocks_event_reasons.active.
var H200 = sync.OnceValue(func() (rows []Logged) {
	for line := range strings.Lines(h200) {
		var n [5]float64
		for i, cell := range strings.Split(strings.TrimSpace(line), ",") {
			n[i], _ = strconv.ParseFloat(cell, 64)
		}
		rows = append(rows, Logged{time.Duration(n[0] * float64(time.Second)), n[1], n[2], n[3], n[4] == 4})
	}
	return rows
})

// H200At is the row of an instant. Means, of a second each, are taken to change evenly between two rows.
func H200At(at time.Duration) Logged {
	rows := H200()
	i := sort.Search(len(rows), func(i int) bool { return rows[i].At > at })
	switch i {
	case 0:
		return rows[0]
	case len(rows):
		return rows[i-1]
	}
	a, b := rows[i-1], rows[i]
	a.Mean += (b.Mean - a.Mean) * float64(at-a.At) / float64(b.At-a.At)
	return a
}
