package cli

import (
	"github.com/pitot-bench/pitot/internal/model/apiserver"
	"github.com/pitot-bench/pitot/internal/model/profile"
	"github.com/pitot-bench/pitot/internal/session"
	"github.com/pitot-bench/pitot/internal/show/doc"
	"github.com/pitot-bench/pitot/internal/sys/files"
)

// profilesCmd is `pitot profiles`.
type profilesCmd struct {
	List  listCmd  `cmd:"" default:"1" help:"List the profiles of the program (default)."`
	Show  showCmd  `cmd:"" help:"Print the file of a profile."`
	Check checkCmd `cmd:"" help:"Compare profiles with runs measured on the deployments they describe."`
	Fit   fitCmd   `cmd:"" help:"Fit numbers of a profile to the runs that it marks as fitted."`
}

type listCmd struct{}

// Run lists.
func (listCmd) Run(sess *session.Session) error {
	rows := [][]string{{sess.Word("profiles.name"), sess.Word("profiles.title"), sess.Word("profiles.error")}}
	for _, name := range profile.Names() {
		q, err := profile.Load(name)
		if err != nil {
			return err
		}
		rows = append(rows, []string{name, q.Title, q.Error})
	}
	return doc.Columns(sess.Stdout, rows)
}

type showCmd struct {
	Profile string `arg:"" placeholder:"NAME|FILE" help:"Name of a profile, or a YAML file."`
}

// Run prints.
func (c showCmd) Run(sess *session.Session) error {
	file, data, err := apiserver.ProfileText(c.Profile, files.ReadSmall)
	if err != nil {
		return session.Usage(err)
	}
	if _, err := profile.Parse(file, data); err != nil {
		return session.Usage(err)
	}
	_, err = sess.Stdout.Write(data)
	return err
}
