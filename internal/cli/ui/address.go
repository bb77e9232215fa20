package ui

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/pitot-bench/pitot/internal/session"
	"github.com/pitot-bench/pitot/internal/show/web"
	"github.com/pitot-bench/pitot/internal/sys/lazy"
)

// atPort is an address with the port of --port, if that is given.
func atPort(address string, port *int) (string, error) {
	host, _, err := net.SplitHostPort(address)
	if port == nil || err != nil {
		return address, nil // which checkListen refuses
	}
	if *port < 0 || *port > math.MaxUint16 {
		return "", session.Usagef("--port %d: must be from 0, which selects a free one, to %d", *port, math.MaxUint16)
	}
	return net.JoinHostPort(host, strconv.Itoa(*port)), nil
}

// checkListen refuses text that is no address to listen on.
func checkListen(address string) error {
	_, port, err := net.SplitHostPort(address)
	if err == nil {
		_, err = strconv.ParseUint(port, 10, 16)
	}
	if err != nil {
		return session.Usagef("--listen %q: must be HOST:PORT, such as 127.0.0.1:7070, with port 0 for a free one", address)
	}
	return nil
}

// hostName matches the Host of a request.
var hostName = lazy.Regexp(`^[A-Za-z0-9._:\[\]-]+$`)

// checkHosts refuses text that is no name of a host.
func checkHosts(all []string) error {
	for _, host := range all {
		if !hostName.MatchString(host) {
			return session.Usagef("--host %q: must be a name or an address, with a port or for any port, such as gpu7.example.com", host)
		}
	}
	return nil
}

// taken adds a hint to the error about an address in use; it leaves other errors.
func (c Cmd) taken(sess *session.Session, err error) error {
	if !errors.Is(err, syscall.EADDRINUSE) {
		return err
	}
	if url, same := c.shown(sess); same {
		return fmt.Errorf("--listen %s: pitot ui already shows this store at %s", c.Listen, url)
	}
	return fmt.Errorf("--listen %s: the port is in use; another one is chosen by --listen %s", c.Listen, anyPort(c.Listen))
}

// anyPort replaces the port of an address by 0, so that the system chooses one.
func anyPort(listen string) string {
	host, _, _ := net.SplitHostPort(listen)
	return net.JoinHostPort(host, "0")
}

// guard decides who is answered at a listener.
func (c Cmd) guard(l net.Listener) web.Guard {
	g := web.Guard{Hosts: c.Host, Secure: c.TLSCert != ""}
	host, port, _ := net.SplitHostPort(l.Addr().String())
	g.Port, _ = strconv.Atoi(port)
	if loopback := web.Loopback(l.Addr()); !loopback || c.Token {
		g.Token = web.NewToken()
		named, _, _ := net.SplitHostPort(c.Listen)
		for _, name := range []string{host, named, machineName()} {
			if ip := net.ParseIP(name); !loopback && name != "" && (ip == nil || !ip.IsUnspecified()) {
				g.Hosts = append(g.Hosts, net.JoinHostPort(name, port))
			}
		}
	}
	return g
}

func machineName() string {
	name, err := os.Hostname()
	if err != nil || name == "" {
		return "localhost"
	}
	return name
}

// url is where the page is, with the token if there is one.
func (s *serving) url() string {
	host, port, _ := net.SplitHostPort(s.l.Addr().String())
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		host = machineName()
	}
	scheme, query := "http", ""
	if s.guard.Secure {
		scheme = "https"
	}
	if s.guard.Token != "" {
		query = "?token=" + s.guard.Token
	}
	return fmt.Sprintf("%s://%s/%s", scheme, net.JoinHostPort(host, port), query)
}

// storeHeader is a header of /api/hello that identifies the store.
const storeHeader = "Pitot-Store"

// markOf is the same for the same file only, and does not say where it is.
func markOf(file string) string {
	if whole, err := filepath.Abs(file); err == nil {
		file = whole
	}
	if real, err := filepath.EvalSymlinks(file); err == nil {
		file = real
	}
	sum := sha256.Sum256([]byte(file))
	return hex.EncodeToString(sum[:16])
}

// shown is where another pitot ui shows the same store on the same address; false if none does.
func (c Cmd) shown(sess *session.Session) (url string, same bool) {
	file, err := sess.StorePath(c.Store)
	if err != nil {
		return "", false
	}
	host, port, _ := net.SplitHostPort(c.Listen)
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	url = "http://" + net.JoinHostPort(host, port) + "/"
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"api/hello", nil)
	if err != nil {
		return "", false
	}
	client := http.Client{Transport: &http.Transport{Proxy: nil, DisableKeepAlives: true}}
	answer, err := client.Do(r)
	if err != nil {
		return "", false
	}
	_ = answer.Body.Close()
	return url, answer.StatusCode == http.StatusOK && answer.Header.Get(storeHeader) == markOf(file)
}

// marked has a handler tell which store it shows.
func marked(h http.Handler, file string) http.Handler {
	mark := markOf(file)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/api/hello" {
			w.Header().Set(storeHeader, mark)
		}
		h.ServeHTTP(w, r)
	})
}
