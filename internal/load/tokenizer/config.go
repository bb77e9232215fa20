package tokenizer

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pitot-bench/pitot/internal/load/rows"
	"github.com/pitot-bench/pitot/internal/plan"
)

// A config holds the added tokens of tokenizer_config.json, as transformers 5 reads
// it.
type config struct {
	added   []addedToken // added_tokens_decoder by id
	byID    map[int32]addedToken
	special []configToken // bos_token and similar ones, then the extra ones
	bos     string
	cleanUp cleanUpJSON
}

// A cleanUpJSON says whether texts are cleaned up after decoding. For a model with
// BPE it is ignored, unless forced.
type cleanUpJSON struct {
	Wanted bool `json:"clean_up_tokenization_spaces"`
	Insist bool `json:"clean_up_tokenization_spaces_for_bpe_even_though_it_will_corrupt_output"`
}

// A configToken is given as an object with all flags, or only as its text, which
// makes it special.
type configToken struct {
	addedToken
	isNamed bool // by its own field
}

func (t *configToken) UnmarshalJSON(data []byte) error {
	if json.Unmarshal(data, &t.Content) == nil {
		t.Special = true
		return nil
	}
	return json.Unmarshal(data, &t.addedToken)
}

// namedTokens come first, in this order; other fields ending in _token follow.
var namedTokens = []string{
	"bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token",
}

// extraTokens hold a list of tokens, or an object of named ones.
var extraTokens = []string{"extra_special_tokens", "additional_special_tokens"}

// An object is a JSON object with ordered fields, since new tokens get their ids in
// file order.
type object []field

type field struct {
	name  string
	value json.RawMessage
}

func (o *object) UnmarshalJSON(data []byte) error {
	d := json.NewDecoder(bytes.NewReader(data))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return fmt.Errorf("%.20s is not an object", data)
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return err
		}
		f := field{name: name.(string)}
		if err := d.Decode(&f.value); err != nil {
			return err
		}
		*o = append(*o, f)
	}
	return nil
}

// get returns the value of a field, or nil.
func (o object) get(name string) json.RawMessage {
	for _, f := range o {
		if f.name == name {
			return f.value
		}
	}
	return nil
}

// parseConfig returns nil if there is no file.
func parseConfig(data []byte) (*config, error) {
	if len(data) == 0 {
		return nil, nil
	}
	var file object
	if err := plan.Unmarshal(data, &file); err != nil {
		return nil, err
	}
	c := new(config)
	if err := json.Unmarshal(data, &c.cleanUp); err != nil {
		return nil, rows.WrongType(err)
	}
	if err := c.parseAdded(file.get("added_tokens_decoder")); err != nil {
		return nil, err
	}
	for _, f := range tokenFields(file) {
		if err := c.parseToken(f); err != nil {
			return nil, err
		}
	}
	for _, name := range extraTokens {
		if err := c.parseExtra(file.get(name), name); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// tokenFields lists the fields that contain a token, without others such as
// add_bos_token.
func tokenFields(file object) []field {
	var fields []field
	for _, name := range namedTokens {
		if value := file.get(name); !isNull(value) {
			fields = append(fields, field{name, value})
		}
	}
	for _, f := range file {
		isText := f.value[0] == '"' || f.value[0] == '{'
		if strings.HasSuffix(f.name, "_token") && isText && !slices.Contains(namedTokens, f.name) {
			fields = append(fields, f)
		}
	}
	return fields
}

func (c *config) parseAdded(raw json.RawMessage) error {
	if isNull(raw) {
		return nil
	}
	if err := json.Unmarshal(raw, &c.byID); err != nil {
		return fmt.Errorf("added_tokens_decoder: %w", rows.WrongType(err))
	}
	for _, id := range slices.Sorted(maps.Keys(c.byID)) {
		c.added = append(c.added, c.byID[id])
	}
	return nil
}

func (c *config) parseToken(f field) error {
	tok := configToken{isNamed: true}
	if err := json.Unmarshal(f.value, &tok); err != nil {
		return fmt.Errorf("%s: %w", f.name, rows.WrongType(err))
	}
	c.special = append(c.special, tok)
	if f.name == "bos_token" {
		c.bos = tok.Content
	}
	return nil
}

func (c *config) parseExtra(raw json.RawMessage, name string) error {
	if isNull(raw) {
		return nil
	}
	var list []configToken
	if json.Unmarshal(raw, &list) == nil {
		c.special = append(c.special, list...)
		return nil
	}
	var named object
	if err := json.Unmarshal(raw, &named); err != nil {
		return fmt.Errorf("%s: %w", name, rows.WrongType(err))
	}
	for _, f := range named {
		if err := c.parseToken(f); err != nil {
			return err
		}
	}
	return nil
}

// extend adds the tokens of the config that list lacks. The flags in
// added_tokens_decoder replace those in list, and tokens that are then named by a
// field become special.
func (c *config) extend(list *addedList) {
	if c == nil {
		return
	}
	tokens := slices.Clone(c.added)
	if c.added == nil {
		tokens = list.tokens()
	}
	known := maps.Clone(list.ids)
	for _, tok := range tokens {
		known[tok.Content] = 0
	}
	named := make(map[string]bool)
	for _, tok := range c.special {
		named[tok.Content] = named[tok.Content] || tok.isNamed
		if _, ok := known[tok.Content]; !ok {
			known[tok.Content] = 0
			tokens = append(tokens, tok.addedToken)
		}
	}
	for i := range tokens {
		tokens[i].Special = tokens[i].Special || named[tokens[i].Content]
	}
	list.add(tokens)
}

// specialIDs returns the ids of the special tokens, ascending.
func (c *config) specialIDs(list *addedList) []int32 {
	var ids []int32
	for _, tok := range c.special {
		if id, ok := list.ids[tok.Content]; ok {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}
