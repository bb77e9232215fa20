package fleet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/pitot-bench/pitot/internal/cli/flags"
	"github.com/pitot-bench/pitot/internal/fleet/bus"
	"github.com/pitot-bench/pitot/internal/plan/shell"
	"github.com/pitot-bench/pitot/internal/session"
	"github.com/pitot-bench/pitot/internal/sys/files"
	"github.com/pitot-bench/pitot/internal/sys/lazy"
	"github.com/pitot-bench/pitot/internal/sys/proc"
)

// UpCmd is `pitot fleet up`.
type UpCmd struct {
	Local  int    `placeholder:"N" help:"Workers to run on this machine. Default: none."`
	Listen string `default:"127.0.0.1:4222" placeholder:"HOST:PORT" help:"Address of the server; port 0 selects a free one (${default})."`
	Dir    string `placeholder:"DIR" help:"Folder for the token, for records that no controller has taken yet, and for the logs of workers. Default: pitot/fleet in the user's data folder."`
	CA     string `name:"ca" placeholder:"FILE" help:"PEM file of certificate authorities: workers and controllers must have a certificate that one of them signed. Default: none need one."`
	flags.TLS
}

// Help explains it.
func (UpCmd) Help() string {
	return "Runs a NATS server with JetStream in this process, until it is interrupted. Whoever has the token can use the workers and read records. It is made at the first start and kept in the folder; " +
		"PITOT_FLEET_TOKEN sets another one."
}

// Run serves until it is interrupted.
func (c UpCmd) Run(sess *session.Session) (err error) {
	if err := c.check(); err != nil {
		return err
	}
	dir, err := sess.Folder(c.Dir, "fleet")
	if err != nil {
		return err
	}
	token, own, err := tokenIn(sess, dir)
	if err != nil {
		return err
	}
	s, err := bus.StartServer(bus.ServerOptions{Listen: c.Listen, Dir: filepath.Join(dir, "server"), Token: token, CA: c.CA, Cert: c.TLSCert, Key: c.TLSKey, Log: func(line string) { fmt.Fprintln(sess.Stderr, "pitot:", line) }})
	if err != nil {
		return err
	}
	defer s.Close()
	up := &serving{UpCmd: c, sess: sess, dir: dir, url: s.URL(), token: token, own: own}
	ctx, release := sess.UntilInterrupt(context.Background())
	defer release()
	workers, err := up.startWorkers()
	if err != nil {
		return err
	}
	defer workers.Release()
	up.printInstructions()
	gone := make(<-chan struct{})
	if c.Local > 0 {
		gone = workers.Gone()
	}
	select {
	case <-ctx.Done():
		return nil
	case <-gone:
		return errors.New("no worker is left; what they said is above, and in the logs in " + dir)
	}
}

// check validates the flags.
func (c UpCmd) check() error {
	const most = session.MostLocal
	if c.Local < 0 || c.Local > most {
		return session.Usagef("--local %d: must be from 0 to %d", c.Local, most)
	}
	if _, _, err := net.SplitHostPort(c.Listen); err != nil {
		return session.Usagef("--listen %q: must be HOST:PORT, such as 127.0.0.1:4222", c.Listen)
	}
	if c.CA != "" && c.TLSCert == "" {
		return session.Usagef("--ca: only applies with --tls-cert and --tls-key")
	}
	if err := session.CheckFile("--ca", c.CA); err != nil {
		return err
	}
	_, err := c.Config() // the files are a pair
	return err
}

// tokenForm is the form of a token in a file.
var tokenForm = lazy.Regexp(`^[!-~]{8,200}$`)

// tokenIn is the token of a fleet: the user's own, or the one in the folder, where a new one is stored.
func tokenIn(sess *session.Session, dir string) (token string, own bool, err error) {
	if token := sess.Getenv(session.FleetTokenVariable); token != "" {
		return token, true, nil
	}
	name := filepath.Join(dir, "token")
	if info, err := os.Lstat(name); err == nil && !info.Mode().IsRegular() { // its mode is changed below
		return "", false, fmt.Errorf("%s is not a file; remove it, and a new token is made", name)
	}
	data, err := files.ReadSmall(name)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", false, err
	}
	switch token = strings.TrimSpace(string(data)); {
	case tokenForm.MatchString(token):
		return token, false, files.MakePrivate(name)
	case token != "":
		return "", false, fmt.Errorf("%s has no token; remove it, and a new one is made", name)
	}
	token = session.NewToken()
	return token, false, files.WritePrivate(name, func(w io.Writer) error {
		_, err := fmt.Fprintln(w, token)
		return err
	})
}

type serving struct {
	UpCmd
	sess  *session.Session
	dir   string
	url   string // of the server, without the token
	token string
	own   bool // the token is the user's own
}

func (u *serving) startWorkers() (*session.LocalWorkers, error) {
	c := &session.LocalWorkers{Pause: time.Second, URL: u.url, Token: u.token, Folder: u.dir, Log: func(line string) { fmt.Fprintln(u.sess.Stderr, "pitot:", line) }}
	c.Heard = func(worker, line string) {
		fmt.Fprintf(u.sess.Stderr, "%s: %s\n", worker, strings.TrimPrefix(line, "pitot: "))
	}
	if u.TLSCert != "" {
		c.More = []string{"--ca", cmp.Or(u.CA, u.TLSCert)}
	}
	if u.CA != "" {
		c.More = append(c.More, "--tls-cert", u.TLSCert, "--tls-key", u.TLSKey)
	}
	return c, c.Hire(u.Local)
}

// at is the URL of the server for others, which know this machine by a name.
func (u *serving) at(name string, token bool) string {
	parsed, err := url.Parse(u.url)
	if err != nil {
		return u.url
	}
	host, _, _ := net.SplitHostPort(u.Listen)
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() { // all addresses
		parsed.Host = net.JoinHostPort(name, parsed.Port())
	}
	if token && !u.own {
		parsed.User = url.User(u.token)
	}
	return parsed.String()
}

// printInstructions prints the commands to type next.
func (u *serving) printInstructions() {
	join := u.at(proc.Host(), true)
	w := u.sess.Stdout
	fmt.Fprintf(w, "the fleet is up at %s, with %s on this machine; its folder is %s\n", u.at(proc.Host(), false), session.Plural(u.Local, "worker"), u.dir)
	if u.own {
		fmt.Fprintf(w, "The token is that of %s; set the variable for these too.\n", session.FleetTokenVariable)
	}
	fmt.Fprintf(w, "\nOne more worker:\n  pitot fleet worker --join %s%s\n", join, u.trust(toJoin))
	fmt.Fprintf(w, "A run over the fleet:\n  pitot bench --fleet %s%s --url http://SERVER:8000\n", join, u.trust(toMeasure))
	fmt.Fprintf(w, "Its workers:\n  pitot fleet status --join %s%s\n\n", join, u.trust(toJoin))
	host, _, _ := net.SplitHostPort(u.Listen)
	ip := net.ParseIP(host)
	loopback := ip != nil && ip.IsLoopback() || host == "localhost"
	switch {
	case loopback:
		fmt.Fprintln(w, "Other machines cannot reach it; --listen 0.0.0.0:4222 lets them.")
	case u.TLSCert == "":
		fmt.Fprintln(u.sess.Stderr, "pitot: warning: without --tls-cert and --tls-key, the token, API keys and prompts cross the network in the clear")
	}
}

// trustFlags are the names of the flags with which a client trusts a server and is trusted.
type trustFlags struct{ ca, cert, key string }

var (
	toJoin    = trustFlags{"--ca", "--tls-cert", "--tls-key"} // of pitot fleet
	toMeasure = trustFlags{"--fleet-ca", "--fleet-cert", "--fleet-key"}
)

// trust are the flags that a client needs for this server if that has TLS.
func (u *serving) trust(f trustFlags) string {
	switch {
	case u.TLSCert == "":
		return ""
	case u.CA == "":
		return " " + f.ca + " FILE"
	}
	return fmt.Sprintf(" %s %s %s FILE %s FILE", f.ca, shell.Quote(u.CA), f.cert, f.key)
}
