package source

import "github.com/pitot-bench/pitot/internal/record/telemetry"

const (
	scrapePercent = 0.01
	scrapeMega    = 1e6
	micro         = 1e-6
	milli         = 1e-3
	scrapeMebi    = 1 << 20
)

// machines are the series of exporters of devices and hosts. Names are those of:
//
//	dcgm-exporter 4.5.3-4.8.2           etc/default-counters.csv, internal/pkg/rendermetrics
//	npu-exporter 6 and 7                mind-cluster, component/npu-exporter/collector/metrics
//	device-metrics-exporter mid-2026    ROCm, docs/configuration/metricslist.md
//	amd_smi_exporter 2.0                src/cpu_data.go; units by src/amd-smi-custom-rules.yml
//	Triton 2.73                         docs/user_guide/metrics.md
//	node_exporter 1.5 to 1.12           output of Debian's 1.5.0 (testdata)
//
// Of npu-exporter, utilization without overall_ is that of the AI cores, and used_memory without hbm_ is DDR. A
// device that several containers share is in a page once for each: one of them counts. No device draws 0 W: that is
// how the second die of an Atlas A3 and further partitions of an Instinct say that they have no sensor.
// npu-exporter and amd_smi_exporter print -1 for values that they could not read.
var machines = []Row{
	{Foreign: "DCGM_FI_DEV_GPU_UTIL", Name: telemetry.DeviceUtilization, Factor: scrapePercent, Labels: gpu, Fold: Most},
	{Foreign: "DCGM_FI_PROF_GR_ENGINE_ACTIVE", Name: telemetry.DeviceUtilization, Labels: gpu, Fold: Most},
	{Foreign: "DCGM_FI_DEV_FB_USED", Name: telemetry.DeviceMemoryUsed, Factor: scrapeMebi, Labels: gpu, Fold: Most},
	{Foreign: "DCGM_FI_DEV_FB_TOTAL", Name: telemetry.DeviceMemoryTotal, Factor: scrapeMebi, Labels: gpu, Fold: Most},
	{Foreign: "DCGM_FI_DEV_FB_USED", Name: telemetry.DeviceMemoryTotal, Factor: scrapeMebi, Labels: gpu, Fold: Most, Term: true},
	{Foreign: "DCGM_FI_DEV_FB_FREE", Name: telemetry.DeviceMemoryTotal, Factor: scrapeMebi, Labels: gpu, Fold: Most, Term: true},
	{Foreign: "DCGM_FI_DEV_FB_RESERVED", Name: telemetry.DeviceMemoryTotal, Factor: scrapeMebi, Labels: gpu, Fold: Most, Term: true},
	{Foreign: "DCGM_FI_DEV_POWER_USAGE", Name: telemetry.DevicePower, Labels: gpu, Fold: Most, Form: Positive},
	{Foreign: "DCGM_FI_DEV_ENFORCED_POWER_LIMIT", Name: telemetry.DevicePowerLimit, Labels: gpu, Fold: Most, Form: Positive},
	{Foreign: "DCGM_FI_DEV_POWER_MGMT_LIMIT", Name: telemetry.DevicePowerLimit, Labels: gpu, Fold: Most, Form: Positive},
	{Foreign: "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", Name: telemetry.DeviceEnergy, Factor: milli, Labels: gpu, Fold: Most},
	{Foreign: "DCGM_FI_DEV_GPU_TEMP", Name: telemetry.DeviceTemperature, Labels: gpu, Fold: Most},
	{Foreign: "DCGM_FI_DEV_SM_CLOCK", Name: telemetry.DeviceClock, Factor: scrapeMega, Labels: gpu, Fold: Most},
	{Foreign: "DCGM_FI_DEV_MEM_CLOCK", Name: telemetry.DeviceMemoryClock, Factor: scrapeMega, Labels: gpu, Fold: Most},
	{Foreign: "DCGM_FI_DEV_CLOCKS_EVENT_REASONS", Name: telemetry.DeviceThrottled, Labels: gpu, Form: Bits},
	{Foreign: "DCGM_FI_DEV_CLOCK_THROTTLE_REASONS", Name: telemetry.DeviceThrottled, Labels: gpu, Form: Bits},

	{Foreign: "npu_chip_info_overall_utilization", Name: telemetry.DeviceUtilization, Factor: scrapePercent, Labels: npu, Fold: Most},
	{Foreign: "npu_chip_info_utilization", Name: telemetry.DeviceUtilization, Factor: scrapePercent, Labels: npu, Fold: Most},
	{Foreign: "npu_chip_info_hbm_used_memory", Name: telemetry.DeviceMemoryUsed, Factor: scrapeMebi, Labels: npu, Fold: Most},
	{Foreign: "npu_chip_info_used_memory", Name: telemetry.DeviceMemoryUsed, Factor: scrapeMebi, Labels: npu, Fold: Most},
	{Foreign: "npu_chip_info_hbm_total_memory", Name: telemetry.DeviceMemoryTotal, Factor: scrapeMebi, Labels: npu, Fold: Most, Form: Positive},
	{Foreign: "npu_chip_info_total_memory", Name: telemetry.DeviceMemoryTotal, Factor: scrapeMebi, Labels: npu, Fold: Most, Form: Positive},
	{Foreign: "npu_chip_info_power", Name: telemetry.DevicePower, Labels: npu, Fold: Most, Form: Die},
	{Foreign: "npu_chip_info_temperature", Name: telemetry.DeviceTemperature, Labels: npu, Fold: Most},
	{Foreign: "npu_chip_info_aicore_current_freq", Name: telemetry.DeviceClock, Factor: scrapeMega, Labels: npu, Fold: Most, Form: Positive},
	{Foreign: "npu_chip_info_process_info_num", Name: telemetry.DeviceProcesses, Labels: npu, Fold: Most},
	{Foreign: "npu_chip_info_health_status", Name: telemetry.DeviceUnhealthy, Labels: npu + " +state=" + telemetry.HealthUnhealthy, Fold: Most, Form: Zero},

	{Foreign: "gpu_gfx_activity", Name: telemetry.DeviceUtilization, Factor: scrapePercent, Labels: scrapeAmd, Only: wholeGPU, Fold: Most},
	{Foreign: "gpu_used_vram", Name: telemetry.DeviceMemoryUsed, Factor: scrapeMebi, Labels: scrapeAmd, Fold: Most},
	{Foreign: "gpu_total_vram", Name: telemetry.DeviceMemoryTotal, Factor: scrapeMebi, Labels: scrapeAmd, Fold: Most, Form: Positive},
	{Foreign: "gpu_package_power", Name: telemetry.DevicePower, Labels: scrapeAmd, Only: wholeGPU, Fold: Most, Form: Positive},
	{Foreign: "gpu_power_usage", Name: telemetry.DevicePower, Labels: scrapeAmd, Only: wholeGPU, Fold: Most, Form: Positive},
	{Foreign: "gpu_average_package_power", Name: telemetry.DevicePower, Labels: scrapeAmd, Only: wholeGPU, Fold: Most, Form: Positive},
	{Foreign: "gpu_energy_consumed", Name: telemetry.DeviceEnergy, Factor: micro, Labels: scrapeAmd, Only: wholeGPU, Fold: Most},
	{Foreign: "gpu_junction_temperature", Name: telemetry.DeviceTemperature, Labels: scrapeAmd, Only: wholeGPU, Fold: Most},
	{Foreign: "gpu_edge_temperature", Name: telemetry.DeviceTemperature, Labels: scrapeAmd, Only: wholeGPU, Fold: Most},
	{Foreign: "gpu_clock", Name: telemetry.DeviceClock, Factor: scrapeMega, Labels: scrapeAmd, Only: wholeGPU + " clock_type=system", Fold: Most},
	{Foreign: "gpu_clock", Name: telemetry.DeviceMemoryClock, Factor: scrapeMega, Labels: scrapeAmd, Only: wholeGPU + " clock_type=memory", Fold: Most},
	{Foreign: "gpu_violation_ppt_residency_percentage", Name: telemetry.DeviceThrottled, Labels: scrapeAmd + " +reason=sw_power_cap", Only: wholeGPU, Form: Above, Fold: Most},
	{Foreign: "gpu_violation_processor_hot_residency_percentage", Name: telemetry.DeviceThrottled, Labels: scrapeAmd + " +reason=hw_slowdown", Only: wholeGPU, Form: Above, Fold: Most},
	{Foreign: "gpu_violation_socket_thermal_residency_percentage", Name: telemetry.DeviceThrottled, Labels: scrapeAmd + " +reason=hw_thermal", Only: wholeGPU, Form: Above, Fold: Most},
	{Foreign: "gpu_violation_vr_thermal_residency_percentage", Name: telemetry.DeviceThrottled, Labels: scrapeAmd + " +reason=vr_thermal", Only: wholeGPU, Form: Above, Fold: Most},
	{Foreign: "gpu_violation_hbm_thermal_residency_percentage", Name: telemetry.DeviceThrottled, Labels: scrapeAmd + " +reason=memory_thermal", Only: wholeGPU, Form: Above, Fold: Most},

	{Foreign: "amd_gpu_use_percent", Name: telemetry.DeviceUtilization, Factor: scrapePercent, Labels: "gpu_use_percent=device"},
	{Foreign: "amd_gpu_power", Name: telemetry.DevicePower, Factor: micro, Labels: "gpu_power=device", Form: Positive},
	{Foreign: "amd_gpu_power_cap", Name: telemetry.DevicePowerLimit, Factor: micro, Labels: "gpu_power_cap=device", Form: Positive},
	{Foreign: "amd_gpu_current_temperature", Name: telemetry.DeviceTemperature, Factor: milli, Labels: "gpu_current_temperature=device"},
	{Foreign: "amd_gpu_SCLK", Name: telemetry.DeviceClock, Labels: "gpu_SCLK=device", Form: Positive},
	{Foreign: "amd_gpu_MCLK", Name: telemetry.DeviceMemoryClock, Labels: "gpu_MCLK=device", Form: Positive},

	{Foreign: "nv_gpu_utilization", Name: telemetry.DeviceUtilization, Labels: "gpu_uuid=device"},
	{Foreign: "nv_gpu_memory_used_bytes", Name: telemetry.DeviceMemoryUsed, Labels: "gpu_uuid=device"},
	{Foreign: "nv_gpu_memory_total_bytes", Name: telemetry.DeviceMemoryTotal, Labels: "gpu_uuid=device", Form: Positive},
	{Foreign: "nv_gpu_power_usage", Name: telemetry.DevicePower, Labels: "gpu_uuid=device", Form: Positive},
	{Foreign: "nv_gpu_power_limit", Name: telemetry.DevicePowerLimit, Labels: "gpu_uuid=device", Form: Positive},
	{Foreign: "nv_energy_consumption", Name: telemetry.DeviceEnergy, Labels: "gpu_uuid=device"},
	{Foreign: "nv_cpu_memory_used_bytes", Name: telemetry.HostMemoryUsed},
	{Foreign: "nv_cpu_memory_total_bytes", Name: telemetry.HostMemoryTotal, Form: Positive},

	{Foreign: "node_cpu_seconds_total", Name: telemetry.HostCPUTime, Labels: "cpu", Only: "mode!=idle mode!=iowait mode!=steal"},
	{Foreign: "node_memory_MemTotal_bytes", Name: telemetry.HostMemoryUsed, Term: true},
	{Foreign: "node_memory_MemAvailable_bytes", Name: telemetry.HostMemoryUsed, Factor: -1, Term: true},
	{Foreign: "node_memory_MemTotal_bytes", Name: telemetry.HostMemoryTotal, Form: Positive},
	{Foreign: "node_network_receive_bytes_total", Name: telemetry.HostReceived, Labels: "device=interface", Only: "device!=lo"},
	{Foreign: "node_network_transmit_bytes_total", Name: telemetry.HostSent, Labels: "device=interface", Only: "device!=lo"},
	{Foreign: "node_context_switches_total", Name: telemetry.HostSwitches},
	{Foreign: "node_pressure_cpu_waiting_seconds_total", Name: telemetry.HostPressure, Labels: "+resource=cpu"},
	{Foreign: "node_pressure_memory_waiting_seconds_total", Name: telemetry.HostPressure, Labels: "+resource=memory"},
	{Foreign: "node_pressure_io_waiting_seconds_total", Name: telemetry.HostPressure, Labels: "+resource=io"},
}

// Labels of devices, with the part of a partitioned one after a dot; and series of an entire device, which a
// partitioned Instinct exports with its first partition.
const (
	gpu       = "gpu.GPU_I_ID=device"
	npu       = "id=device npuID=device"
	scrapeAmd = "gpu_id.gpu_partition_id=device"
	wholeGPU  = "gpu_partition_id=0"
)
