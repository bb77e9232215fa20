//go:build !linux

package clock

// NewAlarm returns an Alarm.
func NewAlarm() *Alarm { return newRuntimeAlarm() }
