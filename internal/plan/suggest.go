package plan

import "fmt"

// Suggest returns a hint for a name that is not among names: the nearest one, if it
// is within two edits, as `, did you mean "gamma"?`; otherwise empty.
func Suggest(name string, names []string) string {
	best, edits := "", 3
	for _, n := range names {
		if d := editDistance(name, n); d < edits && d < len(n) { // else no byte of n is in name
			best, edits = n, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf(", did you mean %q?", best)
}

// editDistance is the Levenshtein distance in bytes.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
