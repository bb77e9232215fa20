package plot

// Mean is the digest of several runs of one thing together, for plots in which a line for
// each would hide all others: at each share the mean of their times, and in each window the
// mean of their tokens. It has no timeline. One run is as it is.
func Mean(runs []Digest) (out Digest) {
	if len(runs) == 1 {
		return runs[0]
	}
	var latencies []Latencies
	var flows []Flow
	for _, d := range runs {
		latencies = append(latencies, d.Latencies)
		if d.Output.Window > 0 {
			flows = append(flows, d.Output)
		}
	}
	return Digest{Latencies: MeanLatencies(latencies), Output: meanFlow(flows)}
}

// MeanLatencies are at each share the mean of those of the runs that have some.
func MeanLatencies(runs []Latencies) Latencies {
	of := func(one func(Latencies) Quantiles) Quantiles {
		var all []Quantiles
		for _, l := range runs {
			all = append(all, one(l))
		}
		return meanQuantiles(all)
	}
	return Latencies{
		TTFT: of(func(l Latencies) Quantiles { return l.TTFT }), TPOT: of(func(l Latencies) Quantiles { return l.TPOT }),
		ITL: of(func(l Latencies) Quantiles { return l.ITL }), E2EL: of(func(l Latencies) Quantiles { return l.E2EL }),
	}
}

func meanQuantiles(all []Quantiles) Quantiles {
	var sums Quantiles
	n := 0.0
	for _, q := range all {
		if len(q) == 0 {
			continue
		}
		if sums == nil {
			sums = make(Quantiles, len(q))
		}
		n++
		for i, v := range q {
			sums[i] += v
		}
	}
	for i := range sums {
		sums[i] /= n
	}
	return sums
}

// meanFlow has the widest of the windows, which are powers of two.
func meanFlow(all []Flow) (out Flow) {
	for _, f := range all {
		out.Window, out.End = max(out.Window, f.Window), max(out.End, f.End)
	}
	for _, f := range all {
		for i, tokens := range f.Tokens {
			at := int(float64(i) * f.Window / out.Window)
			for at >= len(out.Tokens) {
				out.Tokens = append(out.Tokens, 0)
			}
			out.Tokens[at] += tokens / float64(len(all))
		}
	}
	return out
}
