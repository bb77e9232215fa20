package run

import "github.com/pitot-bench/pitot/internal/plan"

// What is noted of a run.
const (
	noTokenizer      plan.Code = "run.no-tokenizer"
	otherTokenizer   plan.Code = "run.other-tokenizer"
	shortReplay      plan.Code = "run.short-replay"
	fewArrivals      plan.Code = "run.few-arrivals"
	partNote         plan.Code = "run.part-note"
	warmUpFailed     plan.Code = "run.warm-up-failed"
	flushFailed      plan.Code = "run.flush-failed"
	profilerOff      plan.Code = "run.profiler-not-started"
	profilerOn       plan.Code = "run.profiler-not-stopped"
	selfTestFailed   plan.Code = "run.self-test-failed"
	selfTestDoubtful plan.Code = "run.self-test-doubtful"
	infoUnknown      plan.Code = "run.info-unknown"
	accountUnknown   plan.Code = "run.account-unknown"
	countersUnknown  plan.Code = "run.counters-unknown"
	engineEnded      plan.Code = "run.engine-ended"
	loadMix          plan.Code = "load.mix"
	loadTenants      plan.Code = "load.tenants"
	loadShare        plan.Code = "load.share"
	arriveTenants    plan.Code = "arrival.tenants"
	arriveTenant     plan.Code = "arrival.tenant"
	tokensNone       plan.Code = "tokenizer.none"
	tokensServer     plan.Code = "tokenizer.server"
	tokensEngine     plan.Code = "tokenizer.engine"
	unknownModel     plan.Code = "run.unknown-model"
	unknownTokenizer plan.Code = "run.unknown-tokenizer"
	unknownLoad      plan.Code = "run.unknown-load"
)
