package pitot

import (
	"math"
	"net"
	"strconv"
	"strings"

	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/wire/endpoint"
)

// Paths that no Spec has: what stands there is a setting in the words of other tools, and is
// moved to where a Spec has it.
const (
	hostPath        = "target.host"
	portPath        = "target.port"
	temperaturePath = "request.temperature"
)

// What a server's address is where half of it is given, as of `vllm bench serve`.
const (
	DefaultHost = "127.0.0.1"
	DefaultPort = "8000"
)

// takeOut takes a setting out of the tree; its name stays, for problems.
func (c *compiler) takeOut(path string) *plan.Node {
	n, name := c.get(path), c.names[path]
	if n == nil {
		return nil
	}
	c.remove(path)
	c.names[path] = name
	return n
}

// address makes a URL of --host and --port.
func (c *compiler) address() {
	_, variable := c.names["target.key.env"]
	_, file := c.names["target.key.file"]
	c.problems.If(variable && file, "target.key.file", nil, "%s is given too, and both have the key; give one of them", c.names["target.key.env"].name)
	host, port := c.takeOut(hostPath), c.takeOut(portPath)
	if host == nil && port == nil {
		return
	}
	path, h, p := hostPath, DefaultHost, DefaultPort
	if host == nil {
		path = portPath
	} else {
		h = host.Text
	}
	if port != nil {
		p = port.Text
	}
	if url := c.get("target.url"); url != nil {
		c.problems.If(true, "target.url", strconv.Quote(url.Text), "%s is given too, and both name the server; give one of them", c.names[path].name)
		return
	}
	why, known := WrongHost(h), validPort(p)
	c.problems.If(why != "", hostPath, strconv.Quote(h), "%s", why)
	c.problems.If(!known, portPath, p, "must be a port from 1 to 65535")
	if why != "" || !known {
		return
	}
	c.names["target.url"] = c.names[path]
	c.set("target.url", quote("http://"+net.JoinHostPort(strings.Trim(h, "[]"), p)))
}

func validPort(text string) bool {
	n, err := strconv.Atoi(text)
	return err == nil && n > 0 && n <= math.MaxUint16
}

// WrongHost says why a text is not the name or the address of a machine, empty if it is.
func WrongHost(host string) string {
	switch {
	case host == "":
		return "is empty"
	case strings.Contains(host, "/"):
		return "must be a name or an address alone, without http://"
	case strings.Contains(host, ":") && net.ParseIP(strings.Trim(host, "[]")) == nil:
		return "must be a name or an address alone; --port takes the port"
	}
	return ""
}

// temperature puts --temperature among the sampling parameters, where the protocol has them.
func (c *compiler) temperature() {
	n, protocol := c.takeOut(temperaturePath), c.get("request.protocol")
	if n == nil || protocol == nil {
		return
	}
	to := "request.body.temperature"
	if endpoint.Protocol(protocol.Text).Nest() != "" {
		to = "request.sampling.temperature"
	}
	silent := endpoint.Protocol(protocol.Text).Silent()
	twice := c.get(to) != nil && c.names["request.body"].name == "--body"
	c.problems.If(n.Kind != plan.Number, temperaturePath, n.Text, "must be a number, such as 0 or 0.7")
	c.problems.If(silent, temperaturePath, n.Text, "does not apply to %s", protocol.Text)
	c.problems.If(twice, temperaturePath, n.Text, "--body has a temperature too; give one of them")
	if n.Kind == plan.Number && !silent && !twice {
		c.set(to, n)
	}
}

// endless reports whether a rate is inf, as other tools write that all is sent at once.
func endless(rate *plan.Node) bool {
	if rate == nil {
		return false
	}
	x, err := plan.ParseNumber(rate.Text)
	return err == nil && math.IsInf(x, 1)
}
