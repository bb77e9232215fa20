package manifests

import (
	"fmt"
	"io"
	"maps"

	"github.com/goccy/go-yaml"
)

const (
	port  = 4222
	user  = 65532 // nobody in particular, as in distroless images
	tmp   = "/tmp"
	certs = "/etc/fleet-tls"

	natsPart       = "nats"
	workerPart     = "worker"
	controllerPart = "controller"
)

// Write writes the YAML of a fleet, one document for each object.
func Write(w io.Writer, o Options) error {
	if err := o.Validate(); err != nil {
		return err
	}
	for i, object := range o.objects() {
		b, err := yaml.MarshalWithOptions(object, yaml.IndentSequence(true), yaml.UseLiteralStyleIfMultiline(true))
		if err != nil {
			return fmt.Errorf("write manifests: %w", err)
		}
		if i > 0 {
			b = append([]byte("---\n"), b...)
		}
		if _, err := w.Write(b); err != nil {
			return err
		}
	}
	return nil
}

// objects are in an order in which each finds what it needs.
func (o Options) objects() (all []any) {
	if o.Create {
		all = append(all, o.namespace())
	}
	if o.Token != "" {
		all = append(all, secret{o.head("v1", "Secret", "token", ""), "Opaque", map[string]string{"token": o.Token}})
	}
	all = append(all, o.natsConfig(), o.natsPolicy(), o.natsService(), o.nats(), o.workers())
	if o.Controller {
		all = append(all, o.controller())
	}
	return all
}

// namespace admits only pods that the restricted Pod Security Standard allows.
func (o Options) namespace() namespace {
	h := head{APIVersion: "v1", Kind: "Namespace", Metadata: metadata{Name: o.Namespace, Labels: o.labels("")}}
	h.Metadata.Labels["pod-security.kubernetes.io/enforce"] = "restricted"
	return namespace{h}
}

func (o Options) head(version, kind, suffix, part string) head {
	return head{version, kind, metadata{Name: o.Name + "-" + suffix, Namespace: o.Namespace, Labels: o.labels(part)}}
}

// labels are those of a part of the fleet; without a part, what all have in common.
func (o Options) labels(part string) map[string]string {
	all := map[string]string{"app.kubernetes.io/name": "pitot", "app.kubernetes.io/instance": o.Name}
	if part != "" {
		all["app.kubernetes.io/component"] = part
	}
	return all
}

func (o Options) matching(part string) selector { return selector{o.labels(part)} }

// url is where NATS is reached within the cluster.
func (o Options) url() string {
	scheme := "nats"
	if o.TLS != "" {
		scheme = "tls"
	}
	return fmt.Sprintf("%s://%s-nats:%d", scheme, o.Name, port)
}

// token is the variable that pitot and nats.conf read.
func (o Options) token() variable {
	from := o.Secret
	if o.Token != "" {
		from = o.Name + "-token"
	}
	return variable{Name: "PITOT_FLEET_TOKEN", From: &valueFrom{Secret: &keyRef{from, "token"}}}
}

func fromField(name, path string) variable {
	return variable{Name: name, From: &valueFrom{Field: &fieldRef{path}}}
}

// pod is what all pods of the fleet have in common: no root, no capabilities, no writable image,
// no credentials of the cluster.
func (o Options) pod(part string, c container, volumes ...volume) podTemplate {
	c.Security = containerSecurity{ReadOnly: true, Capabilities: capabilities{[]string{"ALL"}}}
	c.Mounts = append(c.Mounts, mount{Name: "tmp", Path: tmp})
	return podTemplate{
		Metadata: metadata{Labels: o.labels(part)},
		Spec: podSpec{
			Grace:      60,
			Security:   podSecurity{NonRoot: true, User: user, Group: user, FSGroup: user, Seccomp: seccomp{"RuntimeDefault"}},
			Containers: []container{c},
			Volumes:    append(volumes, volume{Name: "tmp", EmptyDir: &emptyDir{}}),
		},
	}
}

// guaranteed requests what it limits to: such a pod is the last to be evicted, and one of whole
// processors can have them for itself (the static policy of the CPU manager).
func guaranteed(cpu, memory string) resources {
	amounts := map[string]string{"cpu": cpu, "memory": memory}
	return resources{Requests: amounts, Limits: maps.Clone(amounts)}
}

// undisturbed has autoscalers leave a pod where it is.
func undisturbed() map[string]string {
	return map[string]string{"cluster-autoscaler.kubernetes.io/safe-to-evict": "false", "karpenter.sh/do-not-disrupt": "true"}
}
