package environment

import (
	"cmp"
	"slices"
	"strings"

	"github.com/pitot-bench/pitot/internal/sys/lazy"
)

// An NPU is a chip in the table of `npu-smi info`.
type NPU struct {
	ID string // CARD.CHIP, as 3.1; CARD where the table has no chip numbers (Ascend 950)
	// Physical is the number by which hccn_tool knows it, as the table has it (Phy-ID); empty: it has none.
	Physical string
	Product  string
	Health   string // OK, Warning, Alarm, Critical, UNKNOWN
	// Used and Total are bytes of its HBM, or of its DDR where it has no HBM. Total is 0 where they are not known.
	Used, Total int64
	// Processes are those that the table lists; -1: it does not say.
	Processes int
}

// NPUs is the table of `npu-smi info`.
type NPUs struct {
	Version string // of npu-smi, which is that of the driver
	Chips   []NPU
	// Unread is the first line that is not of a known form, empty if there is none. Where it stands among the
	// devices, Chips is empty: a table is not read by halves.
	Unread string
}

// ReadNPUs reads the table of `npu-smi info`. Two rows of headings name the cells of the two rows of each chip:
//
//	| NPU   Name       | Health        | Power(W)  Temp(C)           Hugepages-Usage(page)|
//	| Chip  Phy-ID     | Bus-Id        | AICore(%) Memory-Usage(MB)  HBM-Usage(MB)        |
//	+==================+===============+==================================================+
//	| 0     Ascend910  | OK            | 178.8     36                0    / 0             |
//	| 0     0          | 0000:9D:00.0  | 0         0    / 0          3397 / 65536         |
//
// The chip numbers are absent on Ascend 950, where Name has a cell of its own; the address is NA on some boards;
// the last cell may have no HBM, or no DDR (0 / 0). A second table lists processes.
func ReadNPUs(text string) NPUs {
	t := npuTable{}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		t.rule(line)
		words := strings.Trim(line, "|=-+ ")
		if _, number, found := strings.Cut(words, "Version:"); found && t.Version == "" {
			t.Version = clean(version.FindString(number))
			continue
		}
		if !strings.HasPrefix(line, "|") || words == "" {
			t.greeting = cmp.Or(words, t.greeting) // the reason follows what libraries print
			continue
		}
		if t.refused || t.read(cellsOf(line)) {
			continue
		}
		t.Unread = cmp.Or(t.Unread, brief(words))
		t.refused = true
	}
	t.end()
	return t.NPUs
}

func cellsOf(line string) []string {
	cells := strings.Split(strings.Trim(line, "|"), "|")
	for i := range cells {
		cells[i] = strings.TrimSpace(cells[i])
	}
	return cells
}

type npuTable struct {
	NPUs
	greeting  string   // the last line that is no row
	name      int      // the cell of the product
	health    int      // that of the health, and of the address below it
	cells     int      // of a row; 0: there was no heading
	numbered  bool     // chips have numbers
	physical  bool     // and behind them a second one
	usages    []string // titles of the last cell of a chip that have values USED / TOTAL; nil: there was no heading
	card      []string // the first row of a device; nil: that row comes next
	last      []string // the first row of the device before
	processes bool     // the list of processes has begun
	widest    int      // bytes of the longest rule
	cut       bool     // the last line is a shorter rule
	refused   bool
}

// rule notes how long rules are: a shorter one at the end is all that is there of a table that goes on.
func (t *npuTable) rule(line string) {
	if line != "" {
		t.cut = strings.Trim(line, "+-=") == "" && len(line) < t.widest-8
	}
	if strings.HasPrefix(line, "+") {
		t.widest = max(t.widest, len(line))
	}
}

// end refuses tables that are not complete.
func (t *npuTable) end() {
	switch {
	case t.card != nil:
		t.refused, t.Unread = true, cmp.Or(t.Unread, brief("NPU "+t.card[0]+" has no second row"))
	case t.cut:
		t.refused, t.Unread = true, cmp.Or(t.Unread, "the table ends within a line")
	case len(t.Chips) == 0 && t.usages != nil:
		t.Unread = cmp.Or(t.Unread, "the table has no device")
	case len(t.Chips) == 0:
		t.Unread = cmp.Or(t.Unread, brief(t.greeting), "no output")
	}
	if t.refused && !t.processes {
		t.Chips = nil
	}
	for i := range t.Chips {
		if t.refused { // processes that are not all read are not counted
			t.Chips[i].Processes = -1
		}
	}
}

// read takes a row, and reports whether it is of a known form.
func (t *npuTable) read(cells []string) bool {
	switch {
	case slices.Contains(cells, "Process id"):
		t.processes = t.card == nil
		return t.processes
	case t.processes:
		return t.process(cells)
	case t.cells == 0:
		return t.heading(cells)
	case len(cells) != t.cells || len(t.Chips) == mostItems:
		return false
	case t.usages == nil:
		return t.subheading(cells)
	case t.card == nil && t.last != nil && strings.Contains(cells[t.health], ":"): // a further chip of a card
		t.card = t.last
		return t.chip(cells)
	case t.card == nil:
		t.card = cells
		return npuNumber.MatchString(firstWord(cells[0])) && npuHealth.MatchString(cells[t.health])
	}
	return t.chip(cells)
}

var (
	npuNumber  = lazy.Regexp(`^\d{1,9}$`)
	npuHealth  = lazy.Regexp(`^([A-Za-z]+( [A-Za-z]+)*|-)$`)
	npuUnknown = lazy.Regexp(`^(NA|N/A|-)$`)
	npuTitle   = lazy.Regexp(`[A-Za-z][A-Za-z -]*\([^)]*\)`)
	npuUsage   = lazy.Regexp(`(\d+|NA|-)\s*/\s*(\d+|NA|-)`)
	npuNone    = lazy.Regexp(`^No running processes found in NPU (\d+)`)
)

// brief is the part of a line that a message repeats.
func brief(line string) string {
	line = strings.Join(strings.Fields(line), " ")
	return clean(line[:min(len(line), 120)])
}

func firstWord(cell string) string {
	word, _, _ := strings.Cut(cell, " ")
	return word
}

func (t *npuTable) heading(cells []string) bool {
	t.cells, t.health = len(cells), slices.Index(cells, "Health")
	t.name = max(0, slices.Index(cells, "Name"))
	return t.health > 0 && firstWord(cells[0]) == "NPU" && (t.name > 0 || strings.HasSuffix(cells[0], "Name"))
}

// subheading is that of the second rows.
func (t *npuTable) subheading(cells []string) bool {
	t.numbered, t.usages = firstWord(cells[0]) == "Chip", []string{}
	t.physical = strings.HasSuffix(cells[0], " Phy-ID")
	for _, title := range npuTitle.FindAllString(cells[len(cells)-1], -1) {
		if strings.Contains(title, "Usage") {
			t.usages = append(t.usages, strings.TrimSpace(title))
		}
	}
	return cells[t.health] == "Bus-Id" && len(t.usages) > 0 && (t.numbered || cells[0] == "")
}

// chip takes the second row of a device.
func (t *npuTable) chip(cells []string) bool {
	n := NPU{ID: firstWord(t.card[0]), Product: clean(t.card[t.name]), Health: clean(t.card[t.health]), Processes: -1}
	if t.name == 0 {
		n.Product = clean(strings.TrimPrefix(t.card[0], n.ID))
	}
	number := firstWord(cells[0])
	if t.numbered {
		n.ID += "." + number
	}
	if words := strings.Fields(cells[0]); t.physical && len(words) == 2 && npuNumber.MatchString(words[1]) {
		n.Physical = words[1]
	}
	same := func(o NPU) bool { return o.ID == n.ID }
	address := strings.Contains(cells[t.health], ":") || npuUnknown.MatchString(cells[t.health])
	if t.numbered != npuNumber.MatchString(number) || !address ||
		slices.ContainsFunc(t.Chips, same) || !t.memory(&n, cells[len(cells)-1]) {
		return false
	}
	t.Chips = append(t.Chips, n)
	t.card, t.last = nil, t.card
	return true
}

// memory reads the pairs of a cell, each USED / TOTAL of the unit that the title has. HBM counts before DDR, and a
// total of 0 says that there is none.
func (t *npuTable) memory(n *NPU, cell string) bool {
	pairs := npuUsage.FindAllStringSubmatch(cell, -1)
	if len(pairs) != len(t.usages) {
		return false
	}
	for i, title := range t.usages {
		hbm := strings.HasPrefix(title, "HBM")
		if !npuNumber.MatchString(pairs[i][1]) || !npuNumber.MatchString(pairs[i][2]) {
			if hbm { // not known, and the DDR does not stand in for it
				n.Used, n.Total = 0, 0
			}
			continue
		}
		_, unit, _ := strings.Cut(strings.TrimSuffix(title, ")"), "(")
		used, total := bytesOf(pairs[i][1], unit), bytesOf(pairs[i][2], unit)
		if used > total || total == 0 && strings.Trim(pairs[i][2], "0") != "" {
			return false
		}
		if total > 0 && (hbm || n.Total == 0) {
			n.Used, n.Total = used, total
		}
	}
	return true
}

// process takes a row of the list of processes, which names those of a chip or says that a card has none.
func (t *npuTable) process(cells []string) bool {
	none, found := npuNone.FindStringSubmatch(cells[0]), false
	id := strings.Join(strings.Fields(cells[0]), ".")
	for i := range t.Chips {
		c := &t.Chips[i]
		card, _, _ := strings.Cut(c.ID, ".")
		switch {
		case none != nil && card == none[1]:
			c.Processes, found = max(0, c.Processes), true
		case none == nil && id == c.ID:
			c.Processes, found = max(0, c.Processes)+1, true
		}
	}
	return found && (none != nil || len(cells) > 2 && npuNumber.MatchString(cells[1]))
}
