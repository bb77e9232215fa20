package bus

import (
	"errors"
	"net"
	"net/url"
	"slices"
	"strings"
)

// ports are the schemes of NATS servers, with the port of a URL that has none.
var ports = map[string]string{"nats": "4222", "tls": "4222", "ws": "80", "wss": "443"}

// An address is a list of servers, of which any serves.
type address []*url.URL

var errURL = errors.New("not a URL of a NATS server: use nats://HOST:PORT, tls://HOST:PORT, ws:// or wss://, " +
	"with a token as nats://TOKEN@HOST:PORT, and %40 for @, %2F for / in a token or password")

// parseAddress reads URLs separated by commas. The error repeats nothing of them: a URL that is
// written wrongly can have a password anywhere.
func parseAddress(text string) (address, error) {
	var all address
	for part := range strings.SplitSeq(text, ",") {
		part = strings.TrimSpace(part)
		if !strings.Contains(part, "://") {
			part = "nats://" + part
		}
		u, err := url.Parse(part)
		if err != nil || u.Hostname() == "" || ports[u.Scheme] == "" || u.RawQuery != "" || u.Fragment != "" || strings.Trim(u.Path, "/") != "" {
			return nil, errURL
		}
		if u.Port() == "" {
			u.Host = net.JoinHostPort(u.Hostname(), ports[u.Scheme])
		}
		u.Path = ""
		all = append(all, u)
	}
	if slices.ContainsFunc(all, func(u *url.URL) bool { return isWebSocket(u) != isWebSocket(all[0]) }) {
		return nil, errors.New("URLs of NATS servers must either all be ws:// and wss://, or none")
	}
	return all, nil
}

func isWebSocket(u *url.URL) bool { return u.Scheme == "ws" || u.Scheme == "wss" }

// String is the address without credentials.
func (a address) String() string {
	var all []string
	for _, u := range a {
		all = append(all, u.Scheme+"://"+u.Host)
	}
	return strings.Join(all, ",")
}

// full has the credentials, for nats.go. Whether it is encrypted is the dialer's.
func (a address) full() []string {
	var all []string
	for _, u := range a {
		plain := *u
		if plain.Scheme = "nats"; isWebSocket(u) {
			plain.Scheme = "ws"
		}
		all = append(all, plain.String())
	}
	return all
}

func (a address) secrets() (found []string) {
	for _, u := range a {
		if password, ok := u.User.Password(); ok {
			found = append(found, password, u.User.String())
		} else if u.User != nil {
			found = append(found, u.User.Username(), u.User.String())
		}
	}
	return found
}

// encrypted reports whether a server is asked for TLS: then all are.
func (a address) encrypted() bool {
	return slices.ContainsFunc(a, func(u *url.URL) bool { return u.Scheme == "tls" || u.Scheme == "wss" })
}

// local reports whether every server is on this machine.
func (a address) local() bool {
	return !slices.ContainsFunc(a, func(u *url.URL) bool { return !IsLoopback(u.Hostname()) })
}

// IsLoopback reports whether a host is this machine, by its name or address alone.
func IsLoopback(host string) bool {
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}
