package fleet

import (
	"crypto/rand"
	"fmt"
	"regexp"

	"github.com/pitot-bench/pitot/internal/fleet/manifests"
	"github.com/pitot-bench/pitot/internal/session"
)

// Manifests is `pitot fleet manifests`.
type Manifests struct {
	Workers      int    `default:"4" placeholder:"N" help:"Number of workers, one pod each (${default})."`
	Image        string `placeholder:"IMAGE" help:"Image with this version of Pitot, as pitot in its PATH. Default: that of the release; other builds have none."`
	Name         string `default:"pitot" placeholder:"NAME" help:"Prefix of the names of all objects (${default})."`
	Namespace    string `placeholder:"NAME" help:"Namespace of all objects. Default: the one that kubectl uses."`
	Create       bool   `name:"create-namespace" help:"Print the namespace too, restricted to pods without privileges."`
	CPU          string `name:"cpu" default:"2" placeholder:"CPUS" help:"Processors of each worker, requested and limited to (${default})."`
	Memory       string `default:"2Gi" placeholder:"SIZE" help:"Memory of each worker, requested and limited to (${default})."`
	OnePerNode   bool   `help:"Run at most one worker on a node. Default: spread them evenly."`
	ZoneFrom     string `default:"node" placeholder:"node|zone" help:"What workers name as their zone: their node, or the zone of it, which pods know since Kubernetes 1.35 (${default})."`
	Secret       string `placeholder:"NAME" help:"Secret that exists and has the token under the key token. Default: print one with a new token."`
	TLSSecret    string `name:"tls-secret" placeholder:"NAME" help:"Secret with tls.crt and tls.key for NATS and the ca.crt that signed them. Default: no TLS."`
	EnvSecret    string `placeholder:"NAME" help:"Secret of variables for workers and controller, such as OPENAI_API_KEY."`
	Storage      string `default:"10Gi" placeholder:"SIZE|none" help:"Size of the volume of NATS and of the controller; none: what they store ends with their pods (${default})."`
	StorageClass string `placeholder:"NAME" help:"Storage class of the volumes. Default: that of the cluster."`
	NATSImage    string `name:"nats-image" default:"nats:2.15.0-alpine" placeholder:"IMAGE" help:"Image of NATS (${default})."`
	Controller   bool   `help:"Print a pod too in which kubectl exec runs pitot bench, with a store of its own."`
}

// Help explains it.
func (Manifests) Help() string {
	return "Prints YAML for kubectl: NATS with a volume, and a Job of workers that join it. A new token is made each time, " +
		"so write it to a file, or use --secret."
}

// Run prints them.
func (m Manifests) Run(sess *session.Session) error {
	o := m.options(sess.Version)
	if err := o.Validate(); err != nil {
		return session.Usage(err)
	}
	if err := manifests.Write(sess.Stdout, o); err != nil {
		return fmt.Errorf("print manifests: %w", err)
	}
	return nil
}

// images has the image of each release.
const images = "ghcr.io/pitot-bench/pitot"

var release = regexp.MustCompile(`^\d+\.\d+\.\d+$`)

func (m Manifests) options(version string) manifests.Options {
	if m.Image == "" && release.MatchString(version) {
		m.Image = images + ":" + version
	}
	o := manifests.Options{
		Name: m.Name, Namespace: m.Namespace, Create: m.Create, Workers: m.Workers, Image: m.Image, NATSImage: m.NATSImage,
		Secret: m.Secret, TLS: m.TLSSecret, Env: m.EnvSecret, CPU: m.CPU, Memory: m.Memory, Storage: m.Storage,
		StorageClass: m.StorageClass, OnePerNode: m.OnePerNode, Zone: manifests.Zone(m.ZoneFrom), Controller: m.Controller,
	}
	if o.Storage == "none" {
		o.Storage = ""
	}
	if o.Secret == "" {
		o.Token = "t" + rand.Text() // 128 bits; nats.conf would read a digit in front as a number
	}
	return o
}
