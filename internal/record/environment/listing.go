package environment

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/pitot-bench/pitot/internal/plan/shell"
	"github.com/pitot-bench/pitot/internal/sys/lazy"
	"github.com/pitot-bench/pitot/internal/sys/probe"
)

// A Listing reads the lines in which a note states the system of a server: NAME: VERSION, NAME==VERSION,
// VARIABLE=value. These are also the forms of collect_env.py of vLLM and vllm-ascend and of sglang.check_env,
// with CANN's ascend_toolkit_install.info and the table of `npu-smi info` in them.
//
// Of two values for one fact the first counts.
type Listing struct {
	env      Environment
	vars     map[string]string
	named    []Device        // that lines name
	counted  bool            // with how many there are
	firmware string          // of all devices
	table    strings.Builder // of npu-smi
	open     bool            // the table goes on
	file     string          // the package whose install.info is being read
}

const (
	longestStated = 1000 // bytes of a line
	mostStated    = 512  // packages, and variables
	mostTable     = 64 << 10
	mostCards     = 1024
	mostNodes     = 64

	longestProduct = 100
	longestKey     = 64 // bytes
)

// Line reads a line, and reports whether it states something. Own lines are those of a section on the environment:
// there a variable and the version of any package count too.
func (l *Listing) Line(text string, own bool) bool {
	if text = strings.TrimSpace(text); l.Row(text) {
		return true
	}
	if len(text) > longestStated {
		return false
	}
	if strings.ContainsAny(text, "*`\u3000") {
		text = strings.TrimSpace(marks.Replace(text))
	}
	return l.installed(text) || l.listed(text) || l.variables(text, own) || l.fact(text, own) || l.inline(text, own)
}

var marks = strings.NewReplacer("**", "", "`", "", "\u3000", " ")

// Row keeps a line of a table of npu-smi, and reports whether it is one.
func (l *Listing) Row(text string) bool {
	if !strings.HasPrefix(text, "|") && !strings.HasPrefix(text, "+") {
		l.open = false
		return false
	}
	if !l.open && (l.table.Len() > 0 || !strings.Contains(text, "npu-smi") || !strings.Contains(text, "Version:")) {
		return false
	}
	if l.open = true; l.table.Len()+len(text) < mostTable {
		l.table.WriteString(text + "\n")
	}
	return true
}

func (l *Listing) installed(text string) bool {
	name, value, ok := strings.Cut(text, "=")
	switch {
	case ok && name == "package_name":
		l.file = strings.ToLower(clean(value))
		return true
	case l.file == "" || !ok:
		l.file = ""
		return false
	case name == "version" && strings.Contains(l.file, "cann-toolkit"):
		l.toolkit("cann", versionIn(value))
	case name == "version":
		l.toolkit(strings.TrimPrefix(l.file, "ascend-"), versionIn(value))
	}
	return name == "version" || name == "innerversion"
}

var (
	// tagged is a package as collect_env.py lists it: by pip NAME==VERSION, by conda NAME VERSION BUILD CHANNEL.
	tagged = lazy.Regexp(`^\[(?:pip3?|conda|uv)\]\s+([A-Za-z][\w.-]*)(?:==|\s+)v?(\d+(?:\.\w+)+(?:[+!]\S+)?)(?:\s|$)`)
	// frozen is a package of `pip freeze` or `pip list`.
	frozen = lazy.Regexp(`^([A-Za-z][\w.-]*)(?:==|\s+)v?(\d+\.\d+(?:\.|\+)\S+)(?:\s+\S+)?$`)
)

// listed reads a package with its version.
func (l *Listing) listed(text string) bool {
	var m []string
	switch at := strings.IndexAny(text, "= \t"); {
	case strings.HasPrefix(text, "["):
		m = tagged.FindStringSubmatch(text)
	case at > 0 && strings.IndexAny(strings.TrimLeft(text[at:], "= \t"), "v0123456789") == 0: // else a line of a log
		m = frozen.FindStringSubmatch(text)
	}
	if m == nil {
		return false
	}
	if slot := slots[key(m[1])]; slot != "" { // CANN 8.5.1
		return l.set(slot, m[2])
	}
	l.pack(m[1], m[2])
	return true
}

func (l *Listing) pack(name, version string) {
	p := Version{clean(name), clean(version)}
	same := func(q Version) bool { return normal(q.Name) == normal(p.Name) }
	if len(l.env.Packages) < mostStated && !slices.ContainsFunc(l.env.Packages, same) {
		l.env.Packages = append(l.env.Packages, p)
	}
}

func (l *Listing) toolkit(name, version string) {
	if len(l.env.Toolkits) < mostStated {
		l.env.addToolkit(clean(name), version)
	}
}

// variable is the name of one, as engines and their libraries have them.
var variableName = lazy.Regexp(`^[A-Z][A-Z0-9]*_[A-Z0-9_]+$`)

// variables reads export NAME=value ..., and in a section of its own NAME=value. A value that only the shell knows is
// left out.
func (l *Listing) variables(text string, own bool) bool {
	line, exported := strings.CutPrefix(text, "export ")
	if !exported && !own || !strings.Contains(line, "=") {
		return false
	}
	words := []string{line}
	if exported {
		var err error
		if words, err = shell.Split(line); err != nil {
			words = strings.Fields(line)
		}
	}
	found := false
	for _, word := range words {
		name, value, _ := strings.Cut(word, "=")
		if !variableName.MatchString(name) && name != "PYTHONHASHSEED" || strings.ContainsAny(value, "$`<") || value == "" {
			continue
		}
		if found = true; l.vars == nil {
			l.vars = map[string]string{}
		}
		if _, has := l.vars[name]; !has && len(l.vars) < mostStated {
			l.vars[name] = strings.Trim(value, `"'`)
		}
	}
	return found
}

var (
	// spaced is NAME VERSION.
	spaced = lazy.Regexp(`^(\D{1,48}?)\s+([vV]?\d+\.\S+)$`)
	// numbered is GPU 0,1,2: one device or some of one product.
	numbered = lazy.Regexp(`^(?:gpu|npu)s? ?\d+(?:, ?\d+)*$`)
	numaNode = lazy.Regexp(`^numa (?:node|节点)\d+ cpu(?:\(s\))?$`) // of lscpu
	revision = lazy.Regexp(`^[0-9a-f]{7,64}$`)
	module   = lazy.Regexp(`^[a-z][a-z0-9_.-]*$`)
	// released is the version of any module: one of two numbers may be any figure.
	released = lazy.Regexp(`^\d+\.\d+(?:\.|\+)\S+$`)
)

// pair is NAME: VALUE, aligned or not. What a log puts ahead of its lines has digits, and is no name.
func pair(text string) (name, value string, ok bool) {
	at := strings.IndexAny(text, ":：")
	if at <= 0 || at > longestKey {
		return "", "", false
	}
	name, value = strings.TrimSpace(text[:at]), strings.TrimSpace(strings.TrimPrefix(strings.TrimPrefix(text[at:], ":"), "："))
	if value == "" || strings.ContainsAny(name, "=|[") {
		return "", "", false
	}
	digits := strings.ContainsAny(name, "0123456789")
	return name, value, !digits || strings.IndexAny(name, "gGnN") == 0
}

// fact reads NAME: VALUE of a name that is known.
func (l *Listing) fact(text string, own bool) bool {
	written, value, ok := pair(text)
	if !ok {
		m := spaced.FindStringSubmatch(text)
		if m == nil || versionSlots[slots[key(m[1])]] == "" {
			return false
		}
		written, value = m[1], m[2]
	}
	value = clean(value)
	if unstated.MatchString(value) {
		return false
	}
	name := key(written)
	switch slot := slots[name]; {
	case numaNode.MatchString(name):
		return own && l.set("numa", value)
	case numbered.MatchString(name):
		return l.devices(value, strings.Split(strings.ReplaceAll(strings.TrimLeft(name, "gnpus "), " ", ""), ","))
	case slot != "":
		return l.set(slot, value)
	case own && ownSlots[name] != "":
		return l.set(ownSlots[name], value)
	}
	name = normal(strings.ReplaceAll(name, " ", "-"))
	if of, ok := strings.CutSuffix(name, "commit"); ok || strings.HasSuffix(name, "commit-id") {
		of = strings.TrimSuffix(strings.TrimSuffix(of, "commit-id"), "-")
		return (of != "" || own) && l.commit(of, value)
	}
	version := versionIn(value)
	anyModule := own && module.MatchString(written) && released.MatchString(version)
	if version == "" || !anyModule && !slices.Contains(mattering, name) {
		return false
	}
	l.pack(name, version)
	return true
}

func (l *Listing) commit(of, value string) bool {
	hash, _, _ := strings.Cut(value, " ")
	if !revision.MatchString(hash) || of != "" && !slices.Contains(mattering, of) {
		return false
	}
	same := func(t Tree) bool { return t.Package == of }
	if len(l.env.Trees) < mostStated && !slices.ContainsFunc(l.env.Trees, same) {
		l.env.Trees = append(l.env.Trees, Tree{Package: of, Commit: hash})
	}
	return true
}

// listNames are ahead of several facts in one line; the empty one is the word version alone.
var listNames = []string{"environment", "env", "software", "环境", "测试环境", "软件", "软件环境", ""}

// inline reads Environment: NAME VERSION, NAME VERSION.
func (l *Listing) inline(text string, own bool) bool {
	name, value, ok := pair(text)
	if !ok || !slices.Contains(listNames, key(name)) {
		return false
	}
	found := false
	for part := range strings.FieldsFuncSeq(value, func(r rune) bool { return strings.ContainsRune(",，;；、", r) }) {
		part = strings.TrimSpace(part)
		found = l.listed(part) || l.fact(part, own) || found
	}
	return found
}

// unstated are values that say that nothing is known.
var unstated = lazy.Regexp(`(?i)^(?:could not collect|n/?a|none|not available|module not found|not set|not found|unknown|disabled|[-?.]+|无|未知|<.*|\{.*|\$.*)$`)

// key is how a name is looked up: in lower case, without the word version.
func key(name string) string {
	return strings.Join(strings.Fields(unversioned.Replace(strings.ToLower(name))), " ")
}

var unversioned = strings.NewReplacer("_", " ", "-", " ", "版本号", " ", "版本", " ", "versions", " ", "version", " ")

// slots are the facts that have a place of their own, by the names that notes give them.
var slots = byName(map[string]string{
	"image":    "image,docker image,container image,镜像,容器镜像",
	"driver":   "driver,npu driver,gpu driver,ascend driver,ascend npu driver,nvidia driver,cuda driver,驱动,npu驱动,昇腾驱动,npu 驱动",
	"firmware": "firmware,npu firmware,ascend firmware,固件,npu固件,昇腾固件,npu 固件",
	"cann":     "cann,cann toolkit,ascend cann,ascend cann toolkit",
	"cuda":     "cuda,cuda toolkit,cuda runtime",
	"rocm":     "rocm",
	"hdk":      "hdk,ascend hdk",
	"nnal":     "nnal,cann nnal,ascend cann nnal",
	"atb":      "atb,ascend cann atb",
	"bisheng":  "bisheng",
	"python":   "python",
	"torch":    "pytorch,torch",
	"platform": "python platform",
	"system":   "os,操作系统",
	"devices":  "gpu,npu,gpus,npus,gpu model,npu model,npu型号,gpu型号,npu 型号",
	"hardware": "hardware,硬件,机型,服务器型号",
})

// ownSlots are those of names that mean the same only in a section on the environment.
var ownSlots = byName(map[string]string{
	"system":   "system,系统",
	"hardware": "server,machine,服务器,机器",
	"kernel":   "kernel,内核",
	"cpu":      "model name,cpu,cpu model,处理器,型号名称",
	"threads":  "cpu(s)",
	"sockets":  "socket(s),座",
	"devices":  "devices,device,accelerator,accelerators,加速卡,显卡",
})

// versionSlots are the facts of which a version is stated.
var versionSlots = byName(map[string]string{"version": "driver,firmware,cann,cuda,rocm,hdk,nnal,atb,bisheng,python,torch"})

func byName(all map[string]string) map[string]string {
	by := map[string]string{}
	for slot, names := range all {
		for name := range strings.SplitSeq(names, ",") {
			by[name] = slot
		}
	}
	return by
}

// leading is a version at the beginning of a text, behind two words at most.
var leading = lazy.Regexp(`^(?:[A-Za-z]+[ -]){0,2}[vV]?(\d+(?:\.\w+)+(?:[+-]\w[\w.]*)*)(.*)$`)

// versionIn is the version that a value states; empty: none, or more than one.
func versionIn(value string) string {
	m := leading.FindStringSubmatch(clean(value))
	if m == nil || strings.IndexAny(strings.TrimSpace(m[2])+" ", "/~+") == 0 {
		return ""
	}
	return m[1]
}

// set keeps a value in its place, unless one is there.
func (l *Listing) set(slot, value string) bool {
	e, m := &l.env, &l.env.Machine
	if versionSlots[slot] != "" {
		if value = versionIn(value); value == "" {
			return false
		}
	}
	first := func(at *string, value string) { *at = cmp.Or(*at, value) }
	switch slot {
	case "image":
		name, digest, _ := strings.Cut(value, "@")
		name, _, _ = strings.Cut(name, " ")
		if e.Image.Name == "" {
			e.Image.Name, e.Image.Digest = name, digest
		}
	case "driver":
		first(&e.Driver, value)
	case "firmware":
		first(&l.firmware, value)
	case "python":
		first(&e.Python, value)
	case "torch":
		l.pack(slot, value)
	case "system":
		first(&m.System, architecture.ReplaceAllString(value, ""))
	case "platform":
		if k := platform.FindStringSubmatch(value); k != nil {
			first(&m.Kernel, "Linux "+k[1]+" "+k[2])
		}
	case "kernel":
		first(&m.Kernel, value)
	case "hardware":
		if len(value) > longestProduct {
			return false
		}
		first(&m.Product, value)
	case "cpu":
		switch {
		case count(value) > 0: // lscpu in Chinese
			return l.set("threads", value)
		case strings.Contains(value, ": "): // another fact
			return false
		}
		first(&m.CPU, value)
	case "threads":
		m.Threads = cmp.Or(m.Threads, count(value))
	case "sockets":
		m.Sockets = cmp.Or(m.Sockets, count(value))
	case "numa":
		if countList(value) > 0 && len(m.NUMA) < mostNodes {
			m.NUMA = append(m.NUMA, value)
		}
	case "devices":
		return l.devices(value, nil)
	default:
		l.toolkit(slot, value)
	}
	return true
}

// count is a number of processors, 0 for any other text.
func count(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n > 1<<20 {
		return 0
	}
	return n
}

var (
	architecture = lazy.Regexp(`\s*\((?:aarch64|arm64|x86_64)\)$`)
	platform     = lazy.Regexp(`^Linux-(.+)-(x86_64|aarch64)(?:-with-\S+)?$`)
	// The number of devices of a product: 8 x H100, 910B3 x8, 910B3 8卡.
	timesProduct = lazy.Regexp(`^(\d{1,4})\s*(?:[x×*]|张|卡|块)\s*(\S.*)$`)
	productTimes = lazy.Regexp(`^(.*\S)\s*(?:[x×*]\s*(\d{1,4})|\s(\d{1,4})\s*(?:张|卡|块|cards?|devices?))$`)
	lettered     = lazy.Regexp(`\pL`)
	amount       = lazy.Regexp(`^[\d.]+\s*(?:%|[KMGT]i?B\b|W\b|°?C\b|(?:cards?|gpus?|npus?|devices?)\b|张|卡|块)`)
	uuid         = lazy.Regexp(`\s*\(UUID: [^)]*\)$`)
)

// devices reads the product of devices, with their numbers if the line has them. The first form of a note counts: each
// device with its number, or how many there are of a product.
func (l *Listing) devices(value string, numbers []string) bool {
	value, n := uuid.ReplaceAllString(value, ""), len(numbers)
	if m := timesProduct.FindStringSubmatch(value); n == 0 && m != nil {
		n, _ = strconv.Atoi(m[1])
		value = m[2]
	} else if m := productTimes.FindStringSubmatch(value); n == 0 && m != nil {
		n, _ = strconv.Atoi(cmp.Or(m[2], m[3]))
		value = m[1]
	}
	if n > mostCards || len(value) > longestProduct || !lettered.MatchString(value) || amount.MatchString(value) {
		return false
	}
	if len(l.named) > 0 && (numbers == nil || l.named[0].ID == "" || len(l.named) > mostCards) {
		return true
	}
	l.counted = n > 0
	if numbers == nil {
		numbers = make([]string, max(n, 1))
	}
	for _, id := range numbers {
		if id == "" || !slices.ContainsFunc(l.named, func(d Device) bool { return d.ID == id }) {
			l.named = append(l.named, Device{ID: id, Product: value})
		}
	}
	return true
}

// Environment is what the lines and the command line that started the server state. nil: nothing.
func (l *Listing) Environment(command string) *Environment {
	e := l.env
	sortPackages(e.Packages)
	var drawn Environment
	drawn.ReadDevices(probe.Answers{{Name: "npu-smi", Text: l.table.String()}})
	e.Devices, e.Driver = drawn.Devices, cmp.Or(e.Driver, drawn.Driver)
	if len(drawn.Devices) == 0 || l.counted && len(l.named) != len(drawn.Devices) { // those of the machine, or fewer
		e.Devices = l.named
	}
	if len(e.Devices) == 0 && l.firmware != "" {
		l.toolkit("firmware", l.firmware)
		e.Toolkits = l.env.Toolkits
	}
	for i := range e.Devices {
		e.Devices[i].Firmware = cmp.Or(e.Devices[i].Firmware, l.firmware)
	}
	e.command(command, l.vars)
	if e.IsZero() {
		return nil
	}
	e.Bound()
	return &e
}

// command reads a command line: variables ahead of it, then words. vars are those that were set before.
func (e *Environment) command(line string, vars map[string]string) {
	words, err := shell.Split(line)
	if err != nil {
		words = nil
	}
	if len(words) == 0 && len(vars) == 0 {
		return
	}
	p := &Process{Env: map[string]string{}}
	maps.Copy(p.Env, vars)
	for len(words) > 0 {
		name, value, pair := strings.Cut(words[0], "=")
		if !pair || strings.ContainsAny(name, "-/. ") {
			break
		}
		p.Env[name], words = value, words[1:]
	}
	p.Args = words
	Hide(p, nil)
	e.Process = p
}
