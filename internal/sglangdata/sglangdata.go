// Package sglangdata is the datasets of `sglang.bench_serving`: which draws and which
// rows, in which order, become which requests.
package sglangdata
