package predict

import (
	"fmt"

	"github.com/pitot-bench/pitot/internal/model/profile"
	"github.com/pitot-bench/pitot/internal/plan"
)

// mostValues is the largest number of rows.
const mostValues = 64

// sets are the values of --set: fields with one value, and at most one with several.
func sets(given []string) (fixed []profile.Set, several []profile.Set, err error) {
	seen := map[string]bool{}
	for _, text := range given {
		s, err := profile.ParseSet(text)
		if err == nil && seen[s.Field] {
			err = fmt.Errorf("%s is set twice", s.Field)
		}
		if err != nil {
			return nil, nil, err
		}
		seen[s.Field] = true
		all, err := plan.ParseValues(s.Value, mostValues)
		switch {
		case err != nil:
			return nil, nil, fmt.Errorf("%s: %w", s.Field, err)
		case len(all) == 1:
			fixed = append(fixed, profile.Set{Field: s.Field, Value: all[0]})
		case several != nil:
			return nil, nil, fmt.Errorf("%s: %s has several values already, and one field can", s, several[0].Field)
		default:
			for _, v := range all {
				several = append(several, profile.Set{Field: s.Field, Value: v})
			}
		}
	}
	return fixed, several, nil
}
