package known

import (
	"strconv"
)

// The backends of tools by protocol.
var (
	vllmBackends   = map[string]string{"completions": "openai", "chat": "openai-chat", "embeddings": "openai-embeddings"}
	vllmRoutes     = map[string]string{"completions": "/v1/completions", "chat": "/v1/chat/completions", "embeddings": "/v1/embeddings"}
	sglangBackends = map[string]string{"completions": "vllm", "chat": "vllm-chat", "embeddings": "vllm-embedding"}
)

// forVLLM is `vllm bench serve`.
func forVLLM(l load) command {
	const program = "vllm bench serve"
	if c, unfit := l.unfit(program, vllmBackends); unfit {
		return c
	}
	var c command
	s := &l.spec
	c.add("--backend", vllmBackends[s.Request.Protocol])
	route := vllmRoutes[s.Request.Protocol]
	if s.Target.Route != "" {
		route = s.Target.Route
	}
	c.add("--endpoint", route)
	l.common(&c)
	if l.rate > 0 && l.burstiness != 1 {
		b := "inf"
		if l.burstiness > 0 {
			b = strconv.FormatFloat(l.burstiness, 'g', -1, 64)
		}
		c.add("--burstiness", b)
	}
	l.has(arrivalPath + "burstiness")
	if l.dataset == "random" {
		l.vllmRandom(&c)
	} else {
		l.file(&c, l.dataset, "--"+l.dataset+"-output-len")
	}
	switch {
	case s.Request.IgnoreEOS:
		c.add("--ignore-eos")
		l.has("request.ignore_eos")
	case l.dataset == "random" && l.tool == "": // it always requests ignore_eos
		l.extra = append(l.extra, "ignore_eos: false")
	}
	if n := s.Before.WarmUp.Requests; n > 0 {
		c.add("--num-warmups", strconv.Itoa(n))
		l.has("before.warm_up.requests")
	}
	if s.Target.Insecure {
		c.add("--insecure")
		l.has("target.insecure")
	}
	if len(s.Adapters.Names) > 0 {
		c.add("--lora-modules", s.Adapters.Names...)
		l.has("adapters.names")
	}
	if body := s.Request.Body; len(body) > 0 && l.tool != "vllm" {
		c.add("--extra-body", string(body))
		l.has("request.body")
	} else if l.tool == "vllm" {
		l.has("request.body") // what its backends send by themselves
	}
	l.objectives(&c)
	l.end(&c, program, "vllm")
	return c
}

// vllmRandom adds lengths that are drawn from [L·(1-ratio), L·(1+ratio)].
func (l *load) vllmRandom(c *command) {
	c.add("--dataset-name", "random")
	if l.tool != "sglang" || numberOf(l.settings["range_ratio"]) == 1 { // else they are from L·ratio to L
		l.randomLengths(c)
	}
	l.hasOf("range_ratio")
	if n, ok := l.length("prefix_len"); ok && n != "0" {
		c.add("--random-prefix-len", n)
	}
	for _, name := range []string{"texts", "batch"} {
		if n, ok := l.length(name); ok && n != "1" {
			c.add("--random-batch-size", n)
		}
	}
	if a, b := numberOf(l.settings["input_range"]), numberOf(l.settings["output_range"]); a != 0 && a == b {
		c.add("--random-range-ratio", strconv.FormatFloat(a, 'g', -1, 64))
		l.hasOf("input_range", "output_range")
	}
}

func (l *load) randomLengths(c *command) {
	if n, ok := l.length("input_len"); ok {
		c.add("--random-input-len", n)
	}
	if n, ok := l.length("output_len"); ok {
		c.add("--random-output-len", n)
	}
}

// forSGLang is `sglang.bench_serving`.
func forSGLang(l load) command {
	const program = "sglang.bench_serving"
	if c, unfit := l.unfit(program, sglangBackends); unfit {
		return c
	}
	var c command
	s := &l.spec
	c.add("--backend", sglangBackends[s.Request.Protocol])
	l.common(&c)
	if l.rate > 0 && l.burstiness != 1 {
		l.extra = append(l.extra, "burstiness "+strconv.FormatFloat(l.burstiness, 'g', -1, 64))
	}
	l.has(arrivalPath + "burstiness")
	if !s.Request.Stream {
		c.add("--disable-stream")
	}
	if r := s.Target.Route; r != "" && r != vllmRoutes[s.Request.Protocol] {
		l.extra = append(l.extra, "route "+r)
	}
	if l.dataset == "random" {
		l.sglangRandom(&c)
	} else {
		l.file(&c, l.dataset, "--sharegpt-output-len")
	}
	if !s.Request.IgnoreEOS && l.tool != "sglang" {
		c.add("--disable-ignore-eos")
	}
	l.has("request.ignore_eos")
	if n := s.Before.WarmUp.Requests; n != 1 {
		c.add("--warmup-requests", strconv.Itoa(n))
	}
	l.has("before.warm_up.requests")
	if len(s.Adapters.Names) > 0 {
		c.add("--lora-name", s.Adapters.Names...)
		l.has("adapters.names")
	}
	if body := s.Request.Body; len(body) > 0 && l.tool == "" {
		c.add("--extra-request-body", string(body))
		l.has("request.body")
	} else if l.tool != "" {
		l.has("request.body")
	}
	l.objectives(&c)
	l.end(&c, program, "sglang")
	return c
}

// sglangRandom adds lengths that are drawn from [L·ratio, L].
func (l *load) sglangRandom(c *command) {
	c.add("--dataset-name", "random")
	l.randomLengths(c)
	ratio := "1"
	if l.tool == "sglang" {
		ratio = strconv.FormatFloat(numberOf(l.settings["range_ratio"]), 'g', -1, 64)
	}
	c.add("--random-range-ratio", ratio)
	l.hasOf("range_ratio")
}
