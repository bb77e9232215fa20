package manifests

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/pitot-bench/pitot/internal/sys/lazy"
)

// Options describe the fleet. Each is a flag of `pitot fleet manifests`.
type Options struct {
	Name      string // prefix of the name of every object
	Namespace string // of every object; empty: the one that kubectl applies to
	Create    bool   // the Namespace too
	Workers   int
	Image     string // of Pitot: the program is found as pitot, through PATH
	NATSImage string
	// Token is the token of NATS, printed as a Secret. Empty: the Secret named Secret has it, under the key token.
	Token, Secret string
	// TLS is the name of a Secret of type kubernetes.io/tls with a ca.crt; empty: NATS speaks
	// without TLS.
	TLS string
	// Env is the name of a Secret of variables, such as API keys, for workers and controller.
	Env         string
	CPU, Memory string // of each worker, requested and limited to
	// Storage is the size of the volume of NATS, and StorageClass its class. Without a size
	// NATS keeps records as long as its pod lives.
	Storage, StorageClass string
	OnePerNode            bool // at most one worker on a node, rather than few
	Zone                  Zone
	Controller            bool // a pod to run pitot bench in
}

// A Zone is how workers get their zone.
type Zone string

const (
	// ByNode is the name of the worker's node.
	ByNode Zone = "node"
	// ByZone is the zone of the node, which pods know since Kubernetes 1.35. Before, it is empty.
	ByZone Zone = "zone"
)

const (
	// mostWorkers stays below the 65 536 connections of one NATS server.
	mostWorkers = 65_000
	// longestName leaves room for suffixes within the 52 characters of a StatefulSet's name and the 63 of a pod's
	// host name.
	longestName  = 40
	leastMemory  = 64 << 20
	leastCPU     = 0.1
	leastStorage = 256 << 20
)

var (
	label     = lazy.Regexp(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`) // RFC 1123
	named     = lazy.Regexp(`^[a-z]([-a-z0-9]*[a-z0-9])?$`)    // RFC 1035: a Service has it
	subdomain = lazy.Regexp(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`)
	// tokens are read by nats.conf as a bare word, so they do not begin like a number.
	tokens = lazy.Regexp(`^[A-Za-z][A-Za-z0-9]{15,127}$`)
	// images have a tag or a digest, by the grammar of the distribution project.
	images = lazy.Regexp(`^([A-Za-z0-9]([-.A-Za-z0-9]*[A-Za-z0-9])?(:[0-9]+)?/)?[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*(/[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*)*` +
		`(:[A-Za-z0-9_][-.A-Za-z0-9_]{0,127}(@sha256:[0-9a-f]{64})?|@sha256:[0-9a-f]{64})$`)
	quantities = lazy.Regexp(`^([0-9]+(?:\.[0-9]+)?|\.[0-9]+)(m|k|M|G|T|P|E|Ki|Mi|Gi|Ti|Pi|Ei)?$`)
)

var units = map[string]float64{
	"": 1, "m": 1e-3, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15, "E": 1e18,
	"Ki": 1 << 10, "Mi": 1 << 20, "Gi": 1 << 30, "Ti": 1 << 40, "Pi": 1 << 50, "Ei": 1 << 60,
}

// Validate reports everything that is wrong, one line for each flag.
func (o Options) Validate() error {
	return errors.Join(
		o.validateNames(),
		check(o.Workers >= 1 && o.Workers <= mostWorkers, "--workers %d: must be from 1 to %d", o.Workers, mostWorkers),
		checkImage("--image", o.Image),
		checkImage("--nats-image", o.NATSImage),
		o.validateSecrets(),
		checkQuantity("--cpu", o.CPU, "2 or 500m", leastCPU, "0.1", 1024),
		checkQuantity("--memory", o.Memory, "2Gi or 512Mi", leastMemory, "64Mi", 1<<50),
		o.validateStorage(),
		check(o.Zone == ByNode || o.Zone == ByZone, "--zone-from %q: must be %s or %s", o.Zone, ByNode, ByZone),
	)
}

func (o Options) validateNames() error {
	return errors.Join(
		check(named.MatchString(o.Name) && len(o.Name) <= longestName,
			"--name %q: must be at most %d lower-case letters, digits and hyphens, with a letter first and no hyphen last", o.Name, longestName),
		check(o.Namespace == "" || label.MatchString(o.Namespace) && len(o.Namespace) <= 63,
			"--namespace %q: must be at most 63 lower-case letters, digits and hyphens, with no hyphen first or last", o.Namespace),
		check(!o.Create || o.Namespace != "", "--create-namespace: needs --namespace NAME"),
	)
}

func (o Options) validateSecrets() error {
	token := check(tokens.MatchString(o.Token), "the token must be 16 to 128 letters and digits, with a letter first")
	if o.Token == "" {
		token = checkObject("--secret", o.Secret, true)
	}
	return errors.Join(token, checkObject("--tls-secret", o.TLS, false), checkObject("--env-secret", o.Env, false))
}

func (o Options) validateStorage() error {
	if o.Storage == "" {
		return check(o.StorageClass == "", "--storage-class %q: needs a volume; set --storage to its size, such as 10Gi", o.StorageClass)
	}
	return errors.Join(
		checkQuantity("--storage", o.Storage, "10Gi", leastStorage, "256Mi", 1<<60),
		checkObject("--storage-class", o.StorageClass, false),
	)
}

func check(ok bool, format string, a ...any) error {
	if ok {
		return nil
	}
	return fmt.Errorf(format, a...)
}

// checkObject wants the name of an object of Kubernetes.
func checkObject(flag, name string, required bool) error {
	return check(name == "" && !required || subdomain.MatchString(name) && len(name) <= 253,
		"%s %q: must be the name of an object: lower-case letters, digits, hyphens and dots", flag, name)
}

func checkImage(flag, image string) error {
	switch {
	case image == "":
		return fmt.Errorf("%s: no image given, and this build is no release with one of its own; name one that your cluster can pull, such as registry.example.com/pitot:v1", flag)
	case images.MatchString(image):
		return nil
	case images.MatchString(image + ":tag"):
		return fmt.Errorf("%s %q: has no tag and no digest; add one, such as %s:v1, so that all pods run the same version", flag, image, image)
	}
	return fmt.Errorf("%s %q: must be the reference of an image, such as registry.example.com/pitot:v1", flag, image)
}

// checkQuantity wants an amount of Kubernetes between least, which is also given in words, and most.
func checkQuantity(flag, text, example string, least float64, inWords string, most float64) error {
	v, ok := quantity(text)
	switch {
	case !ok:
		return fmt.Errorf("%s %q: must be a quantity such as %s", flag, text, example)
	case v < least && strings.HasSuffix(text, "m") && least > 1:
		return fmt.Errorf("%s %s: m means thousandths of a byte; use Mi or M, such as %s", flag, text, example)
	case v < least:
		return fmt.Errorf("%s %s: must be at least %s", flag, text, inWords)
	case v > most:
		return fmt.Errorf("%s %s: is more than a node has; did you mean another unit?", flag, text)
	}
	return nil
}

// quantity reads an amount as Kubernetes writes it: a number with a decimal or binary unit.
func quantity(text string) (float64, bool) {
	match := quantities.FindStringSubmatch(text)
	if match == nil {
		return 0, false
	}
	v, err := strconv.ParseFloat(match[1], 64)
	return v * units[match[2]], err == nil
}
