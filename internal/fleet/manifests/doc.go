// Package manifests writes a fleet as YAML for kubectl.
//
//	Namespace       if requested
//	Secret          the token that NATS asks for
//	ConfigMap       nats.conf
//	NetworkPolicy   only pods of the fleet reach NATS
//	Service         NAME-nats:4222
//	StatefulSet     NATS, with a volume for the records that no controller has taken yet
//	Job             the workers, one pod each
//	StatefulSet     a controller with a store, if requested
//
// Workers do not finish: the Job only names them, spreads them over nodes and replaces those that
// die. A replaced worker is a new one to the fleet; a run that had a share on the old one has lost
// a worker.
//
// The objects are a template. Validate admits no name that could break out of its place, and scalars that YAML
// would read as a number or a boolean are quoted. They use fields that every Kubernetes since 1.25 has, and pass
// the restricted Pod Security Standard.
package manifests
