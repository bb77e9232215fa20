package web

import (
	"cmp"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// A Guard decides which requests are answered.
//
//	Host      a loopback name or address, the address of the connection, or one of Hosts, so that
//	          a foreign name that leads here (DNS rebinding) gets nothing
//	token     where other machines reach the address: as a cookie, which / gives in exchange for
//	          the token in its query, or as a bearer token
//	Origin    and Sec-Fetch-Site: answers and changes are for our own page, and for programs
//	method    GET, HEAD and POST; what POST may change is up to the handler
type Guard struct {
	Token  string   // empty: none is asked for
	Hosts  []string // names or addresses, with a port or for any port
	Port   int      // that the server listens on
	Secure bool     // the server speaks TLS
}

// NewToken draws a token of 256 bits.
func NewToken() string {
	var b [32]byte
	_, _ = rand.Read(b[:]) // never fails: the process would end
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// headers are those of every answer.
var headers = map[string]string{
	"Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
		"base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
	"X-Content-Type-Options":       "nosniff",
	"Referrer-Policy":              "no-referrer",
	"Cross-Origin-Opener-Policy":   "same-origin",
	"Cross-Origin-Resource-Policy": "same-origin",
}

// A refusal is an error with its status code.
type refusal struct {
	code int
	error
}

func refusalf(code int, format string, a ...any) error {
	return refusal{code, fmt.Errorf(format, a...)}
}

// Protect answers with h what the guard lets through.
func (g Guard) Protect(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for name, value := range headers {
			w.Header().Set(name, value)
		}
		if err := g.check(r); err != nil {
			refuse(w, err)
			return
		}
		if g.Token == "" {
			h.ServeHTTP(w, r)
			return
		}
		switch given := r.URL.Query().Get("token"); {
		case r.URL.Path == "/" && r.Method == http.MethodGet && given != "" && g.is(given):
			g.welcome(w, r)
		case g.known(r):
			h.ServeHTTP(w, r)
		default:
			refuse(w, refusalf(http.StatusUnauthorized, "no valid token: open the address that pitot ui printed when it started"))
		}
	})
}

// check looks at everything but the token.
func (g Guard) check(r *http.Request) error {
	if !g.reachedBy(r) {
		return refusalf(http.StatusMisdirectedRequest, "host %q is not an address of this page; if it is reached by that name, start pitot ui with --host %[1]s", r.Host)
	}
	change := r.Method != http.MethodGet && r.Method != http.MethodHead
	if change && r.Method != http.MethodPost {
		return refusalf(http.StatusMethodNotAllowed, "method %s is not allowed", r.Method)
	}
	if (change || strings.HasPrefix(r.URL.Path, "/api/")) && !g.ownOrigin(r) {
		return refusalf(http.StatusForbidden, "a request from another site is not answered")
	}
	return nil
}

// reachedBy reports whether the Host of a request is a name of this server.
func (g Guard) reachedBy(r *http.Request) bool {
	name, port := hostOf(r.Host)
	if name == "" {
		return false
	}
	if slices.ContainsFunc(g.Hosts, func(allowed string) bool {
		other, only := hostOf(allowed)
		return other == name && (only == "" || only == port)
	}) {
		return true
	}
	port = cmp.Or(port, map[bool]string{false: "80", true: "443"}[g.Secure])
	return port == strconv.Itoa(g.Port) && (name == "localhost" || isLocal(net.ParseIP(name), r))
}

// isLocal reports whether an address is a loopback address, or the one that a request came to.
func isLocal(ip net.IP, r *http.Request) bool {
	local, _ := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	return ip != nil && (ip.IsLoopback() || local != nil && local.IP.Equal(ip))
}

// hostOf splits a host, in small letters and without brackets, from its port, empty if there is
// none.
func hostOf(text string) (host, port string) {
	host, port, err := net.SplitHostPort(text)
	if err != nil {
		host, port = text, ""
	}
	host = strings.TrimSuffix(strings.Trim(host, "[]"), ".")
	return strings.ToLower(host), port
}

// ownOrigin reports whether a request comes from the page itself, or from no page.
func (g Guard) ownOrigin(r *http.Request) bool {
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" && site != "none" {
		return false
	}
	all := r.Header.Values("Origin")
	if len(all) == 0 {
		return true
	}
	origin, err := url.Parse(all[0])
	schemes := []string{"http", "https"} // a proxy before this server may speak TLS
	if g.Secure {
		schemes = schemes[1:]
	}
	return err == nil && len(all) == 1 && slices.Contains(schemes, origin.Scheme) && strings.EqualFold(origin.Host, r.Host)
}

// is compares a token in a time that tells nothing of it.
func (g Guard) is(token string) bool {
	return subtle.ConstantTimeCompare([]byte(token), []byte(g.Token)) == 1
}

// known reports whether a request has the token as a cookie or as a bearer token.
func (g Guard) known(r *http.Request) bool {
	if bearer, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok {
		return g.is(bearer)
	}
	return slices.ContainsFunc(r.CookiesNamed(g.cookie()), func(c *http.Cookie) bool { return g.is(c.Value) })
}

// cookie is the name of the cookie: cookies of a host are those of all its ports.
func (g Guard) cookie() string {
	name := fmt.Sprintf("pitot-%d", g.Port)
	if g.Secure {
		return "__Host-" + name
	}
	return name
}

// welcome gives the cookie, and leads to the page without the token. A browser that comes from a
// link on another site sends the cookie only with what our own page asks for: there a redirect
// would lead to a refusal.
func (g Guard) welcome(w http.ResponseWriter, r *http.Request) {
	http.SetCookie(w, &http.Cookie{Name: g.cookie(), Value: g.Token, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: g.Secure})
	w.Header().Set("Cache-Control", "no-store")
	if site := r.Header.Get("Sec-Fetch-Site"); site == "cross-site" || site == "same-site" {
		w.Header().Set("Refresh", "0; url=/")
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		fmt.Fprintln(w, "pitot")
		return
	}
	w.Header().Set("Location", "/")
	w.WriteHeader(http.StatusSeeOther)
}

// Loopback reports whether only this machine reaches an address.
func Loopback(at net.Addr) bool {
	tcp, ok := at.(*net.TCPAddr)
	return !ok || tcp.IP.IsLoopback()
}

func status(err error) int {
	var r refusal
	if errors.As(err, &r) {
		return r.code
	}
	return http.StatusInternalServerError
}
