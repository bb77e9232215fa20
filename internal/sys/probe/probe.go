// Package probe reads facts about a machine and a process: files, links, sizes and the output of a few programs.
//
// A list of Asks says as data what to read. Local reads it with system calls; a Shell turns the same list into a
// script for any sh, at the end of a command such as `ssh HOST sh` or `docker exec -i NAME sh`, and splits the
// output. The answers are the same either way.
//
// Nothing is judged, and nothing fails: answers that cannot be read are missing. Every answer is bounded in bytes,
// and the context bounds all of them in time. Files are read only if they are regular, so that a pipe or a device
// blocks nothing.
package probe

import (
	"context"
)

// A Kind says which part of the files of an Ask is read.
type Kind int

// The kinds.
const (
	Text  Kind = iota // the content, up to Limit
	Lines             // lines that match Match, at most Most of a file, as PATH:LINE
	Link              // where a symbolic link leads to
	Size              // bytes of each file, as BYTES PATH
	Hash              // SHA-256 of a file of at most largestHashed bytes, in hex
	Run               // the output of a program, if it is installed
)

// An Ask is one thing to read.
type Ask struct {
	Name  string // its answers have it
	Kind  Kind
	Dir   string   // a path, taken literally
	Glob  string   // below Dir; *, ? and [] as in path.Match; empty: Dir itself
	Match string   // of Lines: a regular expression that grep -E and Go read alike
	Most  int      // of Lines: of a file; 0: 1
	Limit int      // bytes; 0: 64 KiB
	Args  []string // of Run
}

// An Answer is the result of an Ask. One with a Glob has several.
type Answer struct {
	Name string
	Path string // of the file, without Root; empty for Lines, Size and Run
	Text string
}

// Answers are in the order of the asks.
type Answers []Answer

// Text is the first answer of a name.
func (a Answers) Text(name string) string {
	for _, one := range a {
		if one.Name == name {
			return one.Text
		}
	}
	return ""
}

// All are the answers of a name.
func (a Answers) All(name string) (all []Answer) {
	for _, one := range a {
		if one.Name == name {
			all = append(all, one)
		}
	}
	return all
}

// A Machine answers. Root is put ahead of the paths of files: /proc/PID/root for those that a
// process sees; empty for the machine's own.
type Machine interface {
	Ask(ctx context.Context, root string, asks []Ask) (Answers, error)
}

const (
	defaultLimit  = 64 << 10
	largestHashed = 64 << 20
	mostFiles     = 4096 // of one Glob
)

func (a Ask) limit() int {
	if a.Limit > 0 {
		return a.Limit
	}
	return defaultLimit
}

func (a Ask) most() int { return max(1, a.Most) }
