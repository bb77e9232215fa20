package workload

import "github.com/pitot-bench/pitot/internal/plan"

// Notes on workloads.
const (
	PromptsInexact plan.Code = "workload.prompts-inexact" // inexact, of, surplus tokens in all
	PrefixesUneven plan.Code = "workload.prefixes-uneven" // left, requests, prefixes
	FileShort      plan.Code = "workload.file-short"      // have, asked
	Oversampled    plan.Code = "workload.oversampled"     // have, copies, asked
	NotAligned     plan.Code = "workload.not-aligned"     // why
	PartlyAligned  plan.Code = "workload.partly-aligned"  // why
	ServerCounts   plan.Code = "workload.server-counts"   // there, here, cut
)

// Note adds a note if cond holds.
func Note(notes *[]plan.Message, cond bool, code plan.Code, args ...any) {
	if cond {
		*notes = append(*notes, plan.Msg(code, args...))
	}
}
