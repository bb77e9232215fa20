package verify

import (
	"fmt"
	"strings"
)

// String is the sample in milliseconds to four digits, with its weights.
func (s sample) String() string {
	var parts []string
	for i, v := range s.values {
		text := fmt.Sprintf("%.4g", 1e3*v)
		if s.weights != nil {
			text += fmt.Sprintf("×%g", s.weights[i])
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, " ")
}
