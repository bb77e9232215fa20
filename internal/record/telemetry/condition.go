package telemetry

// Reasons why the clocks of a device are held down: labels "reason" of DeviceThrottled, from
// any source.
const (
	ThrottledHWThermal  = "hw_thermal"     // the hardware, by temperature
	ThrottledSWThermal  = "sw_thermal"     // the driver, by temperature
	ThrottledPowerBrake = "hw_power_brake" // the power supply of the machine asked for it
	ThrottledHWSlowdown = "hw_slowdown"    // the hardware, by temperature or power, not further specified
	ThrottledSWPower    = "sw_power_cap"   // the driver, at the power limit; usual under full load
	ThrottledMemory     = "memory_thermal" // by the temperature of the memory
	ThrottledRegulator  = "vr_thermal"     // by the temperature of the voltage regulators
)

// SeriousThrottling reports whether a reason makes a measurement doubtful. The power limit does
// not: a device at full load runs at it all the time, and does so in every run alike.
func SeriousThrottling(reason string) bool { return reason != ThrottledSWPower }

// States of health that devices report: labels "state" of DeviceUnhealthy.
const (
	HealthOK        = "ok"
	HealthWarning   = "warning"
	HealthAlarm     = "alarm"
	HealthCritical  = "critical"
	HealthUnhealthy = "unhealthy" // not further specified
)

// Unhealthy are the states of npu-smi other than HealthOK.
var Unhealthy = []string{HealthWarning, HealthAlarm, HealthCritical}

// SeriousHealth reports whether a state makes a measurement doubtful. A warning does not.
func SeriousHealth(state string) bool { return state != HealthWarning }
