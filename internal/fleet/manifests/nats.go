package manifests

import "fmt"

const (
	natsMemory = "1Gi"
	// withoutVolume limits what NATS stores on the disk of its node.
	withoutVolume = "10Gi"
)

// natsConfig is the configuration of the server. Files are synced far more often than by default
// (2 min): records that were confirmed survive a node that loses power after 10 s.
func (o Options) natsConfig() configMap {
	size, _ := quantity(o.stored())
	conf := fmt.Sprintf(`port: %d
http: 8222
server_name: $POD_NAME
max_payload: 8MB
authorization {
  token: $PITOT_FLEET_TOKEN
}
jetstream {
  store_dir: /data
  max_file_store: %d
  max_memory_store: 128MB
  sync_interval: 10s
}
`, port, int64(size*0.9))
	if o.TLS != "" {
		conf += fmt.Sprintf("tls {\n  cert_file: %s/tls.crt\n  key_file: %s/tls.key\n}\n", certs, certs)
	}
	return configMap{o.head("v1", "ConfigMap", "nats", natsPart), map[string]string{"nats.conf": conf}}
}

// stored is how much NATS may store.
func (o Options) stored() string {
	if o.Storage == "" {
		return withoutVolume
	}
	return o.Storage
}

// natsPolicy lets only pods of the fleet reach NATS. Probes and kubectl port-forward come from the
// pod's node, which no policy holds off.
func (o Options) natsPolicy() networkPolicy {
	return networkPolicy{o.head("networking.k8s.io/v1", "NetworkPolicy", "nats", natsPart), networkPolicySpec{
		PodSelector: o.matching(natsPart), PolicyTypes: []string{"Ingress"},
		Ingress: []ingress{{From: []peer{{o.matching("")}}, Ports: []policyPort{{port}}}},
	}}
}

func (o Options) natsService() service {
	return service{o.head("v1", "Service", "nats", natsPart), serviceSpec{
		Type: "ClusterIP", Selector: o.labels(natsPart), Ports: []servicePort{{"nats", port, "nats"}},
	}}
}

// nats is one server: the records of a run are in a stream of one replica, which outlives the
// pod on its volume.
func (o Options) nats() statefulSet {
	c := container{
		Name: "nats", Image: o.NATSImage, Args: []string{"--config", "/etc/nats/nats.conf"},
		Env:       []variable{fromField("POD_NAME", "metadata.name"), o.token(), {Name: "GOMEMLIMIT", Value: "900MiB"}},
		Ports:     []containerPort{{"nats", port}, {"monitor", 8222}},
		Resources: guaranteed("1", natsMemory),
		Startup:   healthy("/healthz?js-server-only=true", 60), // it reads what is stored
		Readiness: healthy("/healthz?js-server-only=true", 3),
		Liveness:  healthy("/healthz?js-enabled-only=true", 6),
		Mounts:    []mount{{Name: "config", Path: "/etc/nats", ReadOnly: true}, {Name: "data", Path: "/data"}},
	}
	volumes := []volume{{Name: "config", ConfigMap: &nameRef{o.Name + "-nats"}}}
	if o.TLS != "" {
		c.Mounts = append(c.Mounts, mount{Name: "tls", Path: certs, ReadOnly: true})
		volumes = append(volumes, volume{Name: "tls", Secret: &secretInVolume{Name: o.TLS}})
	}
	if o.Storage == "" {
		volumes = append(volumes, volume{Name: "data", EmptyDir: &emptyDir{withoutVolume}})
	}
	set := o.single(natsPart, o.pod(natsPart, c, volumes...))
	if o.Storage != "" {
		set.Spec.Retention = &retention{WhenDeleted: "Delete", WhenScaled: "Retain"}
		set.Spec.Claims = []claim{o.claim()}
	}
	return set
}

// single is a StatefulSet of one pod, which stays on its node.
func (o Options) single(part string, pod podTemplate) statefulSet {
	pod.Metadata.Annotations = undisturbed()
	return statefulSet{o.head("apps/v1", "StatefulSet", part, part), statefulSetSpec{
		ServiceName: o.Name + "-nats", Replicas: 1, Selector: o.matching(part), Template: pod,
	}}
}

func (o Options) claim() claim {
	return claim{metadata{Name: "data"}, claimSpec{
		AccessModes: []string{"ReadWriteOnce"}, Class: o.StorageClass,
		Resources: resources{Requests: map[string]string{"storage": o.Storage}},
	}}
}

func healthy(path string, failures int) *probe {
	return &probe{HTTP: httpGet{path, "monitor"}, Period: 5, Timeout: 5, Failures: failures}
}
