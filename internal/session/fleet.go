package session

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/plan/secret"
	"github.com/pitot-bench/pitot/internal/sys/files"
)

// Fleet says which machines send the requests. They are no settings of a plan: the requests are the
// same, and due at the same time, wherever they are sent from.
type Fleet struct {
	At         string         `rare:"" name:"fleet" placeholder:"URL|local" help:"Send the requests from the workers of a fleet: the URL of its NATS server, such as nats://TOKEN@10.0.0.1:4222, or local for workers on this machine that are started for this command. Default: PITOT_FLEET, else this process sends them."`
	Workers    *int           `rare:"" placeholder:"N" help:"Number of workers. Default: all that are idle; 2 for local."`
	FleetWait  *time.Duration `rare:"" placeholder:"TIME" help:"Maximum time to wait for the workers, and for another one if one is lost before the start. Default: 30s."`
	FleetFewer bool           `rare:"" help:"Start with the workers that are there by then. Default: that is an error."`
	Tolerate   bool           `rare:"" help:"Judge a run that lost a worker as doubtful instead of invalid."`
	FleetCreds string         `rare:"" placeholder:"FILE" help:"Credentials file of NATS, with a JWT and a seed."`
	FleetNKey  string         `rare:"" name:"fleet-nkey" placeholder:"FILE" help:"File with the seed of an nkey of NATS."`
	FleetCA    string         `rare:"" name:"fleet-ca" placeholder:"FILE" help:"PEM file of the certificate authorities to trust for the NATS server, in place of the system's."`
	FleetCert  string         `rare:"" placeholder:"FILE" help:"PEM certificate of this client, for a NATS server that asks for one."`
	FleetKey   string         `rare:"" placeholder:"FILE" help:"PEM key of this client."`
}

// LocalFleet is the value of --fleet for workers on this machine.
const LocalFleet = "local"

// Variables of a fleet.
const (
	FleetVariable      = "PITOT_FLEET"       // the value of --fleet
	FleetTokenVariable = "PITOT_FLEET_TOKEN" // the name of the variable with the token
)

// HasFlag reports whether the flags, without the environment, name a fleet.
func (f Fleet) HasFlag() bool { return f.At != "" }

// Named is At, or else the variable of the environment, and the name of the flag or variable.
func (f Fleet) Named(getenv func(string) string) (at, by string) {
	if f.At != "" {
		return f.At, "--fleet"
	}
	return getenv(FleetVariable), FleetVariable
}

// MostLocal is the number of worker processes that one command starts at most.
const MostLocal = 1000

// Check validates the flags before anything connects.
func (f Fleet) Check(getenv func(string) string) error {
	at, by := f.Named(getenv)
	if f.Workers != nil && (*f.Workers < 1 || *f.Workers > plan.MaxRequests) {
		return Usagef("--workers %d: must be from 1 to %d", *f.Workers, plan.MaxRequests)
	}
	if w := f.Wait(); w < 0 || w > plan.MaxSpan {
		return Usagef("--fleet-wait %v: must be from 0 to %v, such as 30s", w, plan.MaxSpan)
	}
	given := f.flagsGiven()
	switch {
	case at == "" && len(given) > 0:
		return Usagef("%s: only applies with --fleet; give --fleet URL, or --fleet local for workers on this machine", given[0])
	case at == "":
		return nil
	case at == LocalFleet:
		if f.Workers != nil && *f.Workers > MostLocal {
			return Usagef("--workers %d: a local fleet has at most %d, each a process on this machine", *f.Workers, MostLocal)
		}
		for _, one := range f.files() {
			if one.name != "" {
				return Usagef("%s: does not apply to a local fleet, whose server is in this process", one.flag)
			}
		}
		return nil
	}
	if err := CheckFleetURL(by, at); err != nil {
		return err
	}
	return f.checkFiles()
}

// flagsGiven are the flags that say something of a fleet.
func (f Fleet) flagsGiven() (names []string) {
	for _, one := range []struct {
		name string
		is   bool
	}{{"--workers", f.Workers != nil}, {"--fleet-wait", f.FleetWait != nil}, {"--fleet-fewer", f.FleetFewer}, {"--tolerate", f.Tolerate}} {
		if one.is {
			names = append(names, one.name)
		}
	}
	for _, one := range f.files() {
		if one.name != "" {
			names = append(names, one.flag)
		}
	}
	return names
}

type fleetFile struct{ flag, name string }

func (f Fleet) files() []fleetFile {
	return []fleetFile{
		{"--fleet-creds", f.FleetCreds}, {"--fleet-nkey", f.FleetNKey}, {"--fleet-ca", f.FleetCA}, {"--fleet-cert", f.FleetCert}, {"--fleet-key", f.FleetKey},
	}
}

func (f Fleet) checkFiles() error {
	if (f.FleetCert == "") != (f.FleetKey == "") {
		return Usagef("--fleet-cert and --fleet-key belong together")
	}
	for _, one := range f.files() {
		if err := CheckFile(one.flag, one.name); err != nil {
			return err
		}
	}
	return nil
}

// CheckFile makes sure that the file that a flag names can be read; an empty name is none.
func CheckFile(flag, name string) error {
	if name == "" {
		return nil
	}
	file, err := files.Open(name)
	if err != nil {
		return Usagef("%s: %w", flag, err)
	}
	return file.Close()
}

// CheckFleetURL validates the URL of a NATS server, or several with commas between; by is the flag or variable that
// has it. Its errors hide secrets of the URL.
func CheckFleetURL(by, text string) error {
	for one := range strings.SplitSeq(text, ",") {
		u, err := url.Parse(strings.TrimSpace(one))
		known := err == nil && slices.Contains([]string{"nats", "tls", "ws", "wss"}, u.Scheme)
		if known && u.Hostname() != "" && strings.Trim(u.Path, "/") == "" && u.RawQuery == "" {
			continue
		}
		shown := secret.WithoutUser(one)
		if i := strings.LastIndex(shown, "@"); i >= 0 { // a token without a scheme ahead of it
			shown = shown[i+1:]
		}
		return Usagef("%s %q: must be the URL of a NATS server, nats://HOST:PORT or tls://HOST:PORT, with a token as nats://TOKEN@HOST:PORT%s", by, shown,
			map[bool]string{true: ", or local"}[by != "--join"])
	}
	return nil
}

// Count is the number of workers, 0 for all.
func (f Fleet) Count(at string) int {
	switch {
	case f.Workers != nil:
		return *f.Workers
	case at == LocalFleet:
		return 2
	}
	return 0
}

// Wait is how long to wait for workers.
func (f Fleet) Wait() time.Duration {
	if f.FleetWait != nil {
		return *f.FleetWait
	}
	return 30 * time.Second
}

// Words are the flags as a command line has them, without a secret of the URL.
func (f Fleet) Words() (words []string) {
	if f.At == "" {
		return nil
	}
	words = []string{"--fleet", secret.WithoutUser(f.At)}
	if f.Workers != nil {
		words = append(words, "--workers", strconv.Itoa(*f.Workers))
	}
	if f.FleetWait != nil {
		words = append(words, "--fleet-wait", f.FleetWait.String())
	}
	if f.FleetFewer {
		words = append(words, "--fleet-fewer")
	}
	if f.Tolerate {
		words = append(words, "--tolerate")
	}
	for _, one := range f.files() {
		if one.name != "" {
			words = append(words, one.flag, one.name)
		}
	}
	return words
}
