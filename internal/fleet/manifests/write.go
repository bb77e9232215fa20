package manifests

import (
	"bytes"
	_ "embed"
	"fmt"
	"io"
	"strings"
	"text/template"

	"github.com/goccy/go-yaml"
)

// withoutVolume limits the disk of its node that NATS uses.
const withoutVolume = "10Gi"

//go:embed fleet.yaml.tmpl
var fleet string

// Write writes the YAML of a fleet, one document for each object.
func Write(w io.Writer, o Options) error {
	if err := o.Validate(); err != nil {
		return err
	}
	t, err := template.New("fleet").Funcs(template.FuncMap{"scalar": scalar, "labels": o.labels}).Parse(fleet)
	if err != nil {
		return err
	}
	var text bytes.Buffer
	if err := t.Execute(&text, o); err != nil {
		return fmt.Errorf("write manifests: %w", err)
	}
	_, err = w.Write(text.Bytes())
	return err
}

// scalar is a value as YAML, quoted where it would be read as another type.
func scalar(v string) (string, error) {
	b, err := yaml.Marshal(v)
	return strings.TrimSpace(string(b)), err
}

// labels are the lines of the labels of a part of the fleet; without a part, those that all have.
func (o Options) labels(indent int, part string) (string, error) {
	name, err := scalar(o.Name)
	line := "\n" + strings.Repeat(" ", indent) + "app.kubernetes.io/"
	text := line + "instance: " + name + line + "name: pitot"
	if part != "" {
		text = line + "component: " + part + text
	}
	return text, err
}

// URL is the address of NATS within the cluster.
func (o Options) URL() string {
	scheme := "nats"
	if o.TLS != "" {
		scheme = "tls"
	}
	return fmt.Sprintf("%s://%s-nats:4222", scheme, o.Name)
}

// Stored is how much NATS may store.
func (o Options) Stored() string {
	if o.Storage == "" {
		return withoutVolume
	}
	return o.Storage
}

// MaxStore is the part of Stored for streams, in bytes.
func (o Options) MaxStore() int64 {
	size, _ := quantity(o.Stored())
	return int64(size * 0.9)
}
