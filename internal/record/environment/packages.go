package environment

import (
	"cmp"
	"path"
	"slices"
	"strings"
)

// mattering are the packages that explain most, the first ones first, by their normal names.
var mattering = []string{
	"vllm", "vllm-ascend", "sglang", "sgl-kernel", "sgl-kernel-npu", "sglang-router", "lmdeploy", "tensorrt-llm",
	"text-generation-server", "llama-cpp-python", "mindie-llm", "torch", "torch-npu", "triton", "triton-ascend",
	"flashinfer-python", "flashinfer", "flash-attn", "xformers", "transformers", "tokenizers", "deep-ep", "deep-gemm",
	"nvidia-nccl-cu12", "nvidia-nccl-cu13", "kvcached", "lmcache", "mooncake-transfer-engine", "ray", "torchao",
	"torchvision", "numpy", "nvidia-cublas-cu12", "nvidia-cudnn-cu12",
}

// normal is a name by PEP 503.
func normal(name string) string {
	name = strings.ToLower(name)
	for _, sign := range []string{"_", "."} {
		name = strings.ReplaceAll(name, sign, "-")
	}
	for strings.Contains(name, "--") {
		name = strings.ReplaceAll(name, "--", "-")
	}
	return name
}

// sortPackages puts those that matter first, then by name.
func sortPackages(all []Version) {
	rank := func(v Version) int {
		if i := slices.Index(mattering, normal(v.Name)); i >= 0 {
			return i
		}
		return len(mattering)
	}
	slices.SortStableFunc(all, func(a, b Version) int {
		return cmp.Or(rank(a)-rank(b), strings.Compare(normal(a.Name), normal(b.Name)))
	})
}

// matter is how many of sorted packages matter.
func matter(all []Version) int {
	return len(slices.DeleteFunc(slices.Clone(all), func(v Version) bool {
		return !slices.Contains(mattering, normal(v.Name))
	}))
}

// ReadPackages reads lines PATH:LINE of METADATA files, of which Name and Version are wanted.
// Of a package that is there twice the first path counts, as for Python's import.
func ReadPackages(lines string) (all []Version) {
	type found struct{ name, version string }
	by := map[string]*found{}
	var order []string
	for line := range strings.Lines(lines) {
		dir, rest, ok := strings.Cut(line, "/METADATA:")
		field, value, isField := strings.Cut(rest, ":")
		if !ok || !isField {
			continue
		}
		if by[dir] == nil {
			by[dir], order = new(found), append(order, dir)
		}
		switch value = clean(value); field {
		case "Name":
			by[dir].name = cmp.Or(by[dir].name, value)
		case "Version":
			by[dir].version = cmp.Or(by[dir].version, value)
		}
	}
	have := map[string]bool{}
	for _, dir := range order {
		f := *by[dir]
		name, version := ofFolder(dir)
		f.name, f.version = cmp.Or(f.name, name), cmp.Or(f.version, version)
		if key := normal(f.name); f.name != "" && f.version != "" && !have[key] {
			have[key] = true
			all = append(all, Version{f.name, f.version})
		}
	}
	sortPackages(all)
	return all
}

// ofFolder reads the name of a folder such as torch_npu-2.8.0.dist-info.
func ofFolder(dir string) (name, version string) {
	name, version, _ = strings.Cut(strings.TrimSuffix(path.Base(dir), ".dist-info"), "-")
	return clean(name), clean(version)
}
