// Package vllmdata is the datasets of `vllm bench serve` that come from files: which
// rows, in which order, become which requests.
package vllmdata
