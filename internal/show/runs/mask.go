package runs

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strings"

	"github.com/pitot-bench/pitot/internal/plan/secret"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// A mask replaces what a bundle must not have. A host or an address gets an alias, the same wherever it stands.
type mask struct {
	texts            bool // answers, and the words of servers, stay
	aliases          []alias
	hosts, addresses int
}

type alias struct{ name, original string }

var (
	// hostPlaces are where a host is named: in URLs, in plan.Site, in names of telemetry sources, in errors of the resolver.
	hostPlaces = regexp.MustCompile(`(://(?:[^/\s"'@]*@)?|\bssh:(?:[^@\s:"]+@)?|\blookup |\b(?:host|nvidia-smi|npu-smi|amd-smi)@)(\[[0-9a-fA-F:.]+\]|\w(?:[\w.-]*\w)?)`)
	dotted     = regexp.MustCompile(`\d+(?:\.\d+)+`)
	coloned    = regexp.MustCompile(`[\w.%]*:[\w.%]*:[\w.:%]*`)
	macAddress = regexp.MustCompile(`^(?:[0-9a-fA-F]{2}:){5}[0-9a-fA-F]{2}$`)
	homes      = regexp.MustCompile(`(/home/|/Users/)[^/\s"':,]+`)
	// quotes are the ends of reasons that repeat an answer of a server, by the texts of driver.FailedError and of routes
	// that refuse.
	quotes = regexp.MustCompile(`(?s)(\bHTTP(?: status)? [1-5]\d\d(?: \([^)]*\))?|malformed answer|error in the stream|TLS handshake or certificate failed|\bother): .*`)
	word   = regexp.MustCompile(`^\w{0,32}$`)
)

// learn notes the hosts that JSON names, so that they are found ahead of there too.
func (m *mask) learn(raw []byte) {
	secret.MapJSON(raw, func(name, text string) string { return m.places(name, text) })
}

// places replaces hosts where nothing else can stand.
func (m *mask) places(name, text string) string {
	if name == "host" {
		return m.host(text)
	}
	return hostPlaces.ReplaceAllStringFunc(text, func(found string) string {
		parts := hostPlaces.FindStringSubmatch(found)
		return parts[1] + m.host(parts[2])
	})
}

// text masks a string that is a member of this name, or an item of such a list.
func (m *mask) text(name, text string) string {
	switch {
	case m.texts:
	case name == "lines", name == "file" && strings.Contains(text, "\n"), name == "invocation" && strings.ContainsAny(text, "{\n"):
		return secret.Mark // the end of a log, a file of an experiment, a body
	default:
		text = quotes.ReplaceAllString(text, "${1}: "+secret.Mark)
	}
	text = homes.ReplaceAllString(m.places(name, text), "${1}"+secret.Mark)
	for _, a := range m.aliases {
		text = replaceWord(text, a.original, a.name)
	}
	if name != "version" && name != "driver" && name != "firmware" { // which look like addresses
		text = dotted.ReplaceAllStringFunc(text, m.address)
	}
	return coloned.ReplaceAllStringFunc(text, m.address)
}

// host is the alias of a host, which is not this machine's own loopback.
func (m *mask) host(name string) string {
	bare := strings.Trim(name, "[]")
	if _, err := netip.ParseAddr(bare); err == nil {
		if to := m.address(bare); to != bare {
			return to
		}
		return name
	}
	isAlias := slices.ContainsFunc(m.aliases, func(a alias) bool { return a.name == name })
	if name == "" || name == "localhost" || isAlias {
		return name
	}
	short, _, _ := strings.Cut(name, ".")
	to := m.known(short)
	if to == "" {
		m.hosts++
		to = fmt.Sprintf("host-%d", m.hosts)
		m.add(to, short)
	}
	m.add(to, name)
	return to
}

// known is the alias of a host or an address, empty if it has none.
func (m *mask) known(original string) string {
	for _, a := range m.aliases {
		if a.original == original {
			return a.name
		}
	}
	return ""
}

// add notes an alias, once; long originals come first, so that none leaves its rest.
func (m *mask) add(name, original string) {
	if m.known(original) == "" {
		m.aliases = append(m.aliases, alias{name, original})
		slices.SortStableFunc(m.aliases, func(a, b alias) int { return len(b.original) - len(a.original) })
	}
}

// address is the alias of an address of a network or of its card; other texts stay.
func (m *mask) address(text string) string {
	body := strings.TrimRight(text, ".")
	if !strings.HasSuffix(body, "::") {
		body = strings.TrimRight(body, ":")
	}
	ip, err := netip.ParseAddr(body)
	if err != nil && !macAddress.MatchString(body) || ip.IsLoopback() || ip.IsValid() && ip.IsUnspecified() {
		return text
	}
	to := m.known(body)
	if to == "" {
		m.addresses++
		to = fmt.Sprintf("address-%d", m.addresses)
		m.add(to, body)
	}
	return to + text[len(body):]
}

// replaceWord replaces a host wherever it stands alone. A name that may be any word stays.
func replaceWord(text, host, by string) string {
	if !strings.ContainsAny(host, ".-0123456789") || len(host) < 4 {
		return text
	}
	part := func(c byte) bool {
		return c == '-' || c == '_' || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
	}
	for from := 0; ; {
		at := strings.Index(text[from:], host)
		if at < 0 {
			return text
		}
		at += from
		end := at + len(host)
		if from = end; at > 0 && part(text[at-1]) || end < len(text) && part(text[end]) {
			continue
		}
		text, from = text[:at]+by+text[end:], at+len(by)
	}
}

// record is a copy of a record, masked.
func (m *mask) record(r *trace.Record) *trace.Record {
	c := *r
	if tiers := c.Usage.Tiers; tiers != nil {
		copied := *tiers
		c.Usage.Tiers = &copied
	}
	if !m.texts {
		c.Text = ""
		if c.Error != "" && quotesServer(c.Class) {
			c.Error = secret.Mark
		}
		for _, short := range []*string{&c.FinishReason, &c.Quirks.Unread} {
			if !word.MatchString(*short) {
				*short = secret.Mark
			}
		}
	}
	c.Map(func(text string) string { return m.text("", text) })
	return &c
}

// quotesServer reports whether the error of a failed request may have words of its answer.
func quotesServer(c trace.Class) bool {
	return slices.Contains([]trace.Class{trace.HTTP, trace.StreamError, trace.Malformed, trace.TLS, trace.Other}, c)
}

// masked is v, which JSON can hold, with its strings masked.
func masked[T any](m *mask, v T) (out T, err error) {
	raw, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(secret.MapJSON(raw, m.text), &out)
	}
	return out, err
}

// longText hides the texts of a body or of settings; words, such as those of an option, stay.
func longText(raw json.RawMessage) json.RawMessage {
	return secret.MapJSON(raw, func(_, text string) string {
		if word.MatchString(strings.NewReplacer("-", "", ".", "", "/", "").Replace(text)) {
			return text
		}
		return secret.Mark
	})
}
