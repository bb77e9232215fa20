package cli

import (
	"github.com/pitot-bench/pitot/internal/model/apiserver"
	"github.com/pitot-bench/pitot/internal/model/profile"
	"github.com/pitot-bench/pitot/internal/show/text"
	"github.com/pitot-bench/pitot/internal/sys/files"
)

// profilesCmd is `pitot profiles`.
type profilesCmd struct {
	List  profilesListCmd  `cmd:"" default:"1" help:"List the profiles of the program (default)."`
	Show  profilesShowCmd  `cmd:"" help:"Print the file of a profile."`
	Check profilesCheckCmd `cmd:"" help:"Compare profiles with runs measured on the deployments they describe."`
	Fit   profilesFitCmd   `cmd:"" help:"Fit numbers of a profile to the runs that it marks as fitted."`
}

type profilesListCmd struct{}

// Run lists.
func (profilesListCmd) Run(p *Process) error {
	rows := [][]string{{"PROFILE", "WHAT IT IS", "ERROR"}}
	for _, name := range profile.Names() {
		q, err := profile.Load(name)
		if err != nil {
			return err
		}
		rows = append(rows, []string{name, q.Title, q.Error})
	}
	return text.Columns(p.Stdout, rows)
}

type profilesShowCmd struct {
	Profile string `arg:"" placeholder:"NAME|FILE" help:"Name of a profile, or a YAML file."`
}

// Run prints.
func (c profilesShowCmd) Run(p *Process) error {
	file, data, err := apiserver.ProfileText(c.Profile, files.ReadSmall)
	if err != nil {
		return usage(err)
	}
	if _, err := profile.Parse(file, data); err != nil {
		return usage(err)
	}
	_, err = p.Stdout.Write(data)
	return err
}
