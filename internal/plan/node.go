package plan

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A NodeKind is the kind of a Node.
type NodeKind int

// The kinds. An absent value is Null.
const (
	Null NodeKind = iota
	String
	Number
	Bool
	List
	Map
)

// A Node is a value in a tree of settings, as written.
type Node struct {
	Kind    NodeKind
	Text    string   // of a scalar
	Quoted  bool     // a String even if it looks like a number
	Items   []*Node  // of a List
	Members []Member // of a Map, in order
	At      Place    // zero if it is from no file
}

// A Member is a setting in a Map.
type Member struct {
	Key   string
	At    Place // of the key
	Value *Node
}

func (n *Node) scalar() bool { return n.Kind == String || n.Kind == Number || n.Kind == Bool }

// plain reports whether a node may be a number: YAML takes 25e9 for a string.
func (n *Node) plain() bool { return n.Kind == Number || n.Kind == String && !n.Quoted }

// begin is the best place to point at for a node: a map at its first key.
func (n *Node) begin() Place {
	if len(n.Members) > 0 {
		return n.Members[0].At
	}
	return n.At
}

// Clone is a copy of a tree.
func (n *Node) Clone() *Node {
	if n == nil {
		return nil
	}
	out := *n
	out.Items, out.Members = slices.Clone(n.Items), slices.Clone(n.Members)
	for i, item := range out.Items {
		out.Items[i] = item.Clone()
	}
	for i, m := range out.Members {
		out.Members[i].Value = m.Value.Clone()
	}
	return &out
}

// All are the items of a list, none if it is absent.
func (n *Node) All() []*Node {
	if n == nil {
		return nil
	}
	return n.Items
}

// String is the text of a scalar, empty if it is absent.
func (n *Node) String() string {
	if n == nil {
		return ""
	}
	return n.Text
}

// Member returns a setting of a map, nil if absent.
func (n *Node) Member(key string) *Node {
	for _, m := range n.Members {
		if m.Key == key {
			return m.Value
		}
	}
	return nil
}

// ParseJSON parses JSON into a tree.
func ParseJSON(data []byte) (*Node, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	n, err := nextJSON(dec)
	if err == nil && dec.More() {
		err = fmt.Errorf("something follows the value")
	}
	return n, err
}

func nextJSON(dec *json.Decoder) (*Node, error) {
	t, err := dec.Token()
	if err != nil {
		return nil, err
	}
	switch v := t.(type) {
	case nil:
		return &Node{}, nil
	case bool:
		return &Node{Kind: Bool, Text: strconv.FormatBool(v)}, nil
	case json.Number:
		return &Node{Kind: Number, Text: v.String()}, nil
	case string:
		return &Node{Kind: String, Text: v, Quoted: true}, nil
	}
	n := &Node{Kind: List}
	if t == json.Delim('{') {
		n.Kind = Map
	}
	for dec.More() {
		key := ""
		if n.Kind == Map {
			t, err := dec.Token()
			if err != nil {
				return nil, err
			}
			key, _ = t.(string)
		}
		value, err := nextJSON(dec)
		if err != nil {
			return nil, err
		}
		if n.Kind == Map {
			n.Members = append(n.Members, Member{Key: key, Value: value})
		} else {
			n.Items = append(n.Items, value)
		}
	}
	_, err = dec.Token() // the closing delimiter
	return n, err
}

// JSON writes a tree as JSON, numbers as written where JSON has that form. The error is a value
// that JSON cannot represent.
func (n *Node) JSON() (json.RawMessage, error) {
	var b bytes.Buffer
	err := n.writeJSON(&b)
	return b.Bytes(), err
}

func (n *Node) writeJSON(b *bytes.Buffer) error {
	switch n.Kind {
	case Null:
		b.WriteString("null")
	case List:
		b.WriteByte('[')
		for i, item := range n.Items {
			if i > 0 {
				b.WriteByte(',')
			}
			if err := item.writeJSON(b); err != nil {
				return err
			}
		}
		b.WriteByte(']')
	case Map:
		b.WriteByte('{')
		for i, m := range n.Members {
			if i > 0 {
				b.WriteByte(',')
			}
			key, _ := json.Marshal(m.Key) // a string
			b.Write(append(key, ':'))
			if err := m.Value.writeJSON(b); err != nil {
				return err
			}
		}
		b.WriteByte('}')
	case String:
		text, _ := json.Marshal(n.Text)
		b.Write(text)
	default:
		text := []byte(n.Text)
		if n.Kind == Bool {
			text = []byte(strings.ToLower(n.Text))
		}
		why := "JSON has no such value"
		if n.Kind == Number && !json.Valid(text) {
			text = numberJSON(n.Text)
			if octal(n.Text) {
				why = errZero.Error()
			}
		}
		if !json.Valid(text) {
			return Problem{Value: n.Text, Why: why, at: n.At}
		}
		b.Write(text)
	}
	return nil
}
