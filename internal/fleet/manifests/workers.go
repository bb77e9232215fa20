package manifests

import "math"

const hostname = "kubernetes.io/hostname"

// workers is a Job whose pods do not finish. All restarts together count against its
// backoffLimit, and one that is reached ends every pod: it has none.
func (o Options) workers() job {
	pod := o.pod(workerPart, o.worker(), o.authority()...)
	pod.Metadata.Annotations = undisturbed()
	pod.Spec.RestartPolicy = "OnFailure"
	// Each stream to one address takes a port; this setting is one that pods may make.
	pod.Spec.Security.Sysctls = []sysctl{{"net.ipv4.ip_local_port_range", "1024 65535"}}
	pod.Spec.Spread = []spread{{MaxSkew: 1, TopologyKey: hostname, Unsatisfiable: "ScheduleAnyway", LabelSelector: o.matching(workerPart)}}
	apart := antiAffinity{Preferred: []weightedTerm{{100, term{hostname, o.matching(natsPart)}}}}
	if o.OnePerNode {
		apart.Required = []term{{hostname, o.matching(workerPart)}}
	}
	pod.Spec.Affinity = &affinity{apart}
	return job{o.head("batch/v1", "Job", "workers", workerPart), jobSpec{
		CompletionMode: "Indexed", Completions: o.Workers, Parallelism: o.Workers, BackoffLimit: math.MaxInt32, Template: pod,
	}}
}

func (o Options) worker() container {
	zone := fromField("ZONE", "spec.nodeName")
	if o.Zone == ByZone {
		zone = fromField("ZONE", "metadata.labels['topology.kubernetes.io/zone']")
	}
	c := o.pitot(workerPart, "fleet", "worker", "--join="+o.url(), "--name=$(POD_NAME)", "--zone=$(ZONE)")
	c.Env = append(c.Env, fromField("POD_NAME", "metadata.name"), zone)
	if o.TLS != "" {
		c.Command = append(c.Command, "--ca="+certs+"/ca.crt")
	}
	return c
}

// pitot is a container that runs the program, with what it may write in /tmp.
func (o Options) pitot(name string, args ...string) container {
	c := container{
		Name: name, Image: o.Image, Command: append([]string{"pitot"}, args...),
		Env:       []variable{o.token(), {Name: "HOME", Value: tmp}},
		Resources: guaranteed(o.CPU, o.Memory),
	}
	if o.Env != "" {
		c.EnvFrom = []envFrom{{nameRef{o.Env}}}
	}
	if o.TLS != "" {
		c.Mounts = []mount{{Name: "tls", Path: certs, ReadOnly: true}}
	}
	return c
}

// authority is the certificate of who signed that of NATS, without its key.
func (o Options) authority() []volume {
	if o.TLS == "" {
		return nil
	}
	return []volume{{Name: "tls", Secret: &secretInVolume{Name: o.TLS, Items: []item{{"ca.crt", "ca.crt"}}}}}
}

// controller is a pod in which kubectl exec runs pitot bench. It serves the page of its store on
// its loopback address meanwhile, and its volume outlives the fleet.
func (o Options) controller() statefulSet {
	c := o.pitot(controllerPart, "ui")
	c.Env = append(c.Env, variable{Name: "PITOT_FLEET", Value: o.url()}, variable{Name: "PITOT_STORE", Value: "/data/pitot.db"})
	c.Mounts = append(c.Mounts, mount{Name: "data", Path: "/data"})
	volumes := o.authority()
	if o.Storage == "" {
		volumes = append(volumes, volume{Name: "data", EmptyDir: &emptyDir{withoutVolume}})
	}
	set := o.single(controllerPart, o.pod(controllerPart, c, volumes...))
	if o.Storage != "" {
		set.Spec.Claims = []claim{o.claim()}
	}
	return set
}
