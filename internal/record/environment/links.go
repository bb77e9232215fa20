package environment

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/pitot-bench/pitot/internal/sys/lazy"
	"github.com/pitot-bench/pitot/internal/sys/probe"
)

// A Topology is how devices are connected, as `npu-smi info -t topo` and `nvidia-smi topo -m` print it.
type Topology struct {
	Links []string `json:"links,omitempty"` // the kinds of connections, sorted: HCCS, NV18, SYS
	Hash  string   `json:"hash"`            // SHA-256 of all rows
	// Rows are those of the matrix, the heading first; nil: they are too large to keep.
	Rows []string `json:"rows,omitempty"`
}

// String is the kinds of connections, with the beginning of the hash: two topologies differ in it.
func (t *Topology) String() string {
	if t == nil {
		return ""
	}
	return strings.TrimSpace(strings.Join(t.Links, " ") + " #" + short(t.Hash))
}

// A Port is the RoCE port of an NPU.
type Port struct {
	Device  string `json:"device"`            // physical number of the NPU
	Link    string `json:"link,omitempty"`    // UP or DOWN
	Speed   string `json:"speed,omitempty"`   // 200000 Mb/s
	Address string `json:"address,omitempty"` // IP
}

// An Unread is the line of a program that is of no known form.
type Unread struct{ Program, Line string }

// DetailAsks ask the programs of vendors for more on the devices that ReadDevices found: the board of the first NPU,
// ports of NPUs, and how devices are connected.
func (e *Environment) DetailAsks() (asks []probe.Ask) {
	topology := probe.Ask{Name: "topology", Kind: probe.Run, Args: []string{"nvidia-smi", "topo", "-m"}, Limit: 128 << 10}
	if e.isNPU() {
		topology.Args = []string{"npu-smi", "info", "-t", "topo"}
		asks = append(e.boardAsks(), e.portAsks()...)
	} else if !slices.ContainsFunc(e.Devices, func(d Device) bool { return strings.HasPrefix(d.UUID, "GPU-") }) {
		return nil
	}
	return append(asks, topology)
}

// ReadDetails reads the answers to DetailAsks. It returns lines that are of no known form.
func (e *Environment) ReadDetails(a probe.Answers) (unread []Unread) {
	e.readBoard(a)
	if text := a.Text("topology"); text != "" {
		line := ""
		if e.Topology, line = readTopology(text); line != "" {
			unread = append(unread, Unread{map[bool]string{true: "npu-smi info -t topo", false: "nvidia-smi topo -m"}[e.isNPU()], line})
		}
	}
	var strange *Unread
	if e.Ports, strange = readPorts(a.Text("npu-ports")); strange != nil {
		unread = append(unread, *strange)
	}
	return unread
}

const (
	mostPorts     = 64
	mostColumns   = 512      // of a matrix
	mostTopology  = 16 << 10 // bytes of its rows
	longestStatus = 512      // bytes that hccn_tool prints of one value
)

// portsScript prints what hccn_tool has of NPUs, each value behind a line @ NUMBER OPTION.
const portsScript = `t=$(command -v hccn_tool) || t=/usr/local/Ascend/driver/tools/hccn_tool
[ -x "$t" ] || exit 0
for i in %s; do for o in link ip speed; do echo "@ $i $o"; "$t" -i $i -$o -g 2>&1 </dev/null | head -c %d; echo; done; done`

// portAsks ask hccn_tool. None: the numbers of the NPUs are not known.
func (e *Environment) portAsks() []probe.Ask {
	var numbers []string
	for _, d := range e.Devices[:min(len(e.Devices), mostPorts)] {
		number := cmp.Or(d.Physical, firstCard(d.ID))
		if slices.Contains(numbers, number) { // of two chips of a card
			return nil
		}
		numbers = append(numbers, number)
	}
	script := fmt.Sprintf(portsScript, strings.Join(numbers, " "), longestStatus)
	return []probe.Ask{{Name: "npu-ports", Kind: probe.Run, Args: []string{"sh", "-c", script}, Limit: 128 << 10}}
}

var (
	portMark   = lazy.Regexp(`^@ (\d{1,4}) ([a-z]+)$`)
	portLink   = lazy.Regexp(`^link status: *([A-Za-z]+)$`)
	portSpeed  = lazy.Regexp(`^Speed: *(\d{1,9} [KMG]b/s|Unknown!)$`)
	portIP     = lazy.Regexp(`^ipaddr: *(\S+)$`)
	portIgnore = lazy.Regexp(`^netmask: *\S+$`)
)

// readPorts reads what portsScript prints, and the first line that is of no known form.
func readPorts(text string) (ports []Port, unread *Unread) {
	option := ""
	for line := range strings.Lines(text) {
		line = clean(line)
		if m := portMark.FindStringSubmatch(line); m != nil {
			if option = m[2]; len(ports) == 0 || ports[len(ports)-1].Device != m[1] {
				ports = append(ports, Port{Device: m[1]})
			}
			continue
		}
		if line != "" && len(ports) > 0 && !ports[len(ports)-1].read(option, line) && unread == nil {
			unread = &Unread{fmt.Sprintf("hccn_tool -i %s -%s -g", ports[len(ports)-1].Device, option), brief(line)}
		}
	}
	return slices.DeleteFunc(ports, func(p Port) bool { return p == Port{Device: p.Device} }), unread
}

// read takes a line that hccn_tool printed for an option.
func (p *Port) read(option, line string) bool {
	of := func(form *lazy.Pattern) string {
		return slices.Concat(form.FindStringSubmatch(line), []string{"", ""})[1]
	}
	switch option {
	case "link":
		p.Link = cmp.Or(p.Link, of(portLink))
		return of(portLink) != ""
	case "speed":
		if of(portSpeed) != "Unknown!" {
			p.Speed = cmp.Or(p.Speed, of(portSpeed))
		}
		return of(portSpeed) != ""
	}
	_, err := netip.ParseAddr(of(portIP))
	if err == nil {
		p.Address = of(portIP)
	}
	return err == nil || portIgnore.MatchString(line)
}

var (
	styling    = lazy.Regexp(`\x1b\[[0-9;]*m`)
	deviceName = lazy.Regexp(`^[A-Za-z][A-Za-z_-]*\d\w*$`) // GPU0, NPU0, Phy-ID0, NIC0, mlx5_0
	connection = lazy.Regexp(`^[A-Z][A-Z0-9_]*$`)          // HCCS, HCCS_SW, SIO, UB, NV18, PIX, SYS, NA; X: itself
)

// readTopology reads a matrix with a row and a column for each device, and behind them columns on the processors that
// are near, as in
//
//	       NPU0   NPU1   CPU Affinity
//	NPU0   X      HCCS   144-167
//	NPU1   HCCS   X      144-167
//
// It returns nothing for a text without a matrix, and for a matrix of another form its line.
func readTopology(text string) (t *Topology, unread string) {
	var columns, rows []string
	links := map[string]bool{}
	for line := range strings.Lines(styling.ReplaceAllString(text, "")) {
		words := strings.Fields(clean(line))
		switch {
		case columns == nil:
			if columns = devicesIn(words); columns == nil {
				continue
			}
		case len(words) == 0 || len(rows) > len(columns): // a legend follows
			return topologyOf(columns, rows, links)
		case !connected(words, columns, len(rows)-1, links):
			return nil, brief(line)
		}
		rows = append(rows, strings.Join(words, " "))
	}
	return topologyOf(columns, rows, links)
}

// devicesIn are the names of devices that a heading begins with; nil: it is none.
func devicesIn(words []string) []string {
	n := slices.IndexFunc(words, func(w string) bool { return !deviceName.MatchString(w) })
	if n < 0 {
		n = len(words)
	}
	if n == 0 || n > mostColumns {
		return nil
	}
	return words[:n]
}

// connected reads the row of the device of a number, and reports whether it is one.
func connected(words, columns []string, at int, links map[string]bool) bool {
	if len(words) <= len(columns) || words[0] != columns[at] {
		return false
	}
	for i, link := range words[1 : len(columns)+1] {
		if !connection.MatchString(link) || (link == "X") != (i == at) {
			return false
		}
		links[link] = links[link] || link != "X"
	}
	return true
}

func topologyOf(columns, rows []string, links map[string]bool) (*Topology, string) {
	switch {
	case columns == nil:
		return nil, ""
	case len(rows) != len(columns)+1:
		return nil, fmt.Sprintf("%d of %d rows", len(rows)-1, len(columns))
	}
	sum := sha256.Sum256([]byte(strings.Join(rows, "\n")))
	t := &Topology{Hash: hex.EncodeToString(sum[:]), Rows: rows}
	for link, between := range links {
		if between {
			t.Links = append(t.Links, link)
		}
	}
	slices.Sort(t.Links)
	if len(strings.Join(rows, "\n")) > mostTopology {
		t.Rows = nil
	}
	return t, ""
}
