package runs

import (
	"errors"
	"strconv"
	"strings"
	"time"
)

// day is what a clock without changes has.
const day = 24 * time.Hour

// Since reads from when on runs are wanted: a date, an instant, or a time before now, in days
// too. The zero time stands for all of them.
func Since(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	for _, layout := range []string{time.DateOnly, "2006-01-02T15:04", time.DateTime, time.RFC3339} {
		if t, err := time.ParseInLocation(layout, text, now.Location()); err == nil {
			return t, nil
		}
	}
	ago, err := time.ParseDuration(text)
	if number, ok := strings.CutSuffix(text, "d"); ok {
		var days int
		days, err = strconv.Atoi(number)
		if ago = time.Duration(days) * day; ago/day != time.Duration(days) {
			ago = -1
		}
	}
	if err != nil || ago < 0 {
		return time.Time{}, errors.New("must be a date such as 2026-01-31, or a time until now such as 24h or 7d")
	}
	return now.Add(-ago), nil
}
