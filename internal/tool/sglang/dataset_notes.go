package sglang

import "github.com/pitot-bench/pitot/internal/plan"

// The descriptions of workloads.
const (
	loadFrom   plan.Code = "load.from"   // tokens, share
	loadGroups plan.Code = "load.groups" // groups, prompts, prefix, suffix, output
)

// The notes on workloads.
const (
	fewerThanAsked  plan.Code = "sglang.fewer-than-asked" // have, asked
	repeatedPrompts plan.Code = "sglang.repeated-prompts" // have, asked
	linesLeftOut    plan.Code = "sglang.lines-left-out"   // lines
	noShareGPT      plan.Code = "sglang.no-sharegpt"
	unreadShareGPT  plan.Code = "sglang.unread-sharegpt"
	hashOrder       plan.Code = "sglang.hash-order"
	addedUnknown    plan.Code = "sglang.added-unknown"
	idsForText      plan.Code = "sglang.ids-for-text"
	uncounted       plan.Code = "sglang.uncounted"
	uncountedChats  plan.Code = "sglang.uncounted-chats"
	milliseconds    plan.Code = "sglang.milliseconds" // fractions, length
	asScript        plan.Code = "sglang.as-script"
	noTemplate      plan.Code = "sglang.no-template"
	textAlone       plan.Code = "sglang.text-alone"
	picturesFirst   plan.Code = "sglang.pictures-first"
	picturesSlow    plan.Code = "sglang.pictures-slow" // pictures, size
	padUnknown      plan.Code = "sglang.pad-unknown"
)
