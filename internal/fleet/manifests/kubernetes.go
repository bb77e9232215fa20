package manifests

// The part of Kubernetes' API that a fleet uses, in the order in which people write it.

type head struct {
	APIVersion string   `yaml:"apiVersion"`
	Kind       string   `yaml:"kind"`
	Metadata   metadata `yaml:"metadata"`
}

type metadata struct {
	Name        string            `yaml:"name,omitempty"`
	Namespace   string            `yaml:"namespace,omitempty"`
	Labels      map[string]string `yaml:"labels,omitempty"`
	Annotations map[string]string `yaml:"annotations,omitempty"`
}

type namespace struct {
	head `yaml:",inline"`
}

type secret struct {
	head       `yaml:",inline"`
	Type       string            `yaml:"type"`
	StringData map[string]string `yaml:"stringData"`
}

type configMap struct {
	head `yaml:",inline"`
	Data map[string]string `yaml:"data"`
}

type service struct {
	head `yaml:",inline"`
	Spec serviceSpec `yaml:"spec"`
}

type serviceSpec struct {
	Type     string            `yaml:"type"`
	Selector map[string]string `yaml:"selector"`
	Ports    []servicePort     `yaml:"ports"`
}

type servicePort struct {
	Name       string `yaml:"name"`
	Port       int    `yaml:"port"`
	TargetPort string `yaml:"targetPort"`
}

type networkPolicy struct {
	head `yaml:",inline"`
	Spec networkPolicySpec `yaml:"spec"`
}

type networkPolicySpec struct {
	PodSelector selector  `yaml:"podSelector"`
	PolicyTypes []string  `yaml:"policyTypes"`
	Ingress     []ingress `yaml:"ingress"`
}

type ingress struct {
	From  []peer       `yaml:"from"`
	Ports []policyPort `yaml:"ports"`
}

type peer struct {
	PodSelector selector `yaml:"podSelector"`
}

type policyPort struct {
	Port int `yaml:"port"`
}

type selector struct {
	MatchLabels map[string]string `yaml:"matchLabels"`
}

type statefulSet struct {
	head `yaml:",inline"`
	Spec statefulSetSpec `yaml:"spec"`
}

type statefulSetSpec struct {
	ServiceName string      `yaml:"serviceName"`
	Replicas    int         `yaml:"replicas"`
	Selector    selector    `yaml:"selector"`
	Retention   *retention  `yaml:"persistentVolumeClaimRetentionPolicy,omitempty"`
	Template    podTemplate `yaml:"template"`
	Claims      []claim     `yaml:"volumeClaimTemplates,omitempty"`
}

type retention struct {
	WhenDeleted string `yaml:"whenDeleted"`
	WhenScaled  string `yaml:"whenScaled"`
}

type claim struct {
	Metadata metadata  `yaml:"metadata"`
	Spec     claimSpec `yaml:"spec"`
}

type claimSpec struct {
	AccessModes []string  `yaml:"accessModes"`
	Class       string    `yaml:"storageClassName,omitempty"`
	Resources   resources `yaml:"resources"`
}

type job struct {
	head `yaml:",inline"`
	Spec jobSpec `yaml:"spec"`
}

type jobSpec struct {
	CompletionMode string      `yaml:"completionMode"`
	Completions    int         `yaml:"completions"`
	Parallelism    int         `yaml:"parallelism"`
	BackoffLimit   int         `yaml:"backoffLimit"`
	Template       podTemplate `yaml:"template"`
}

type podTemplate struct {
	Metadata metadata `yaml:"metadata"`
	Spec     podSpec  `yaml:"spec"`
}

type podSpec struct {
	RestartPolicy  string      `yaml:"restartPolicy,omitempty"`
	ServiceAccount bool        `yaml:"automountServiceAccountToken"`
	ServiceLinks   bool        `yaml:"enableServiceLinks"`
	Grace          int         `yaml:"terminationGracePeriodSeconds"`
	Security       podSecurity `yaml:"securityContext"`
	Spread         []spread    `yaml:"topologySpreadConstraints,omitempty"`
	Affinity       *affinity   `yaml:"affinity,omitempty"`
	Containers     []container `yaml:"containers"`
	Volumes        []volume    `yaml:"volumes"`
}

type podSecurity struct {
	NonRoot bool     `yaml:"runAsNonRoot"`
	User    int      `yaml:"runAsUser"`
	Group   int      `yaml:"runAsGroup"`
	FSGroup int      `yaml:"fsGroup"`
	Seccomp seccomp  `yaml:"seccompProfile"`
	Sysctls []sysctl `yaml:"sysctls,omitempty"`
}

type seccomp struct {
	Type string `yaml:"type"`
}

type sysctl struct {
	Name  string `yaml:"name"`
	Value string `yaml:"value"`
}

type spread struct {
	MaxSkew       int      `yaml:"maxSkew"`
	TopologyKey   string   `yaml:"topologyKey"`
	Unsatisfiable string   `yaml:"whenUnsatisfiable"`
	LabelSelector selector `yaml:"labelSelector"`
}

type affinity struct {
	PodAntiAffinity antiAffinity `yaml:"podAntiAffinity"`
}

type antiAffinity struct {
	Required  []term         `yaml:"requiredDuringSchedulingIgnoredDuringExecution,omitempty"`
	Preferred []weightedTerm `yaml:"preferredDuringSchedulingIgnoredDuringExecution,omitempty"`
}

type weightedTerm struct {
	Weight int  `yaml:"weight"`
	Term   term `yaml:"podAffinityTerm"`
}

type term struct {
	TopologyKey   string   `yaml:"topologyKey"`
	LabelSelector selector `yaml:"labelSelector"`
}

type container struct {
	Name      string            `yaml:"name"`
	Image     string            `yaml:"image"`
	Command   []string          `yaml:"command,omitempty"`
	Args      []string          `yaml:"args,omitempty"`
	Env       []variable        `yaml:"env,omitempty"`
	EnvFrom   []envFrom         `yaml:"envFrom,omitempty"`
	Ports     []containerPort   `yaml:"ports,omitempty"`
	Resources resources         `yaml:"resources"`
	Startup   *probe            `yaml:"startupProbe,omitempty"`
	Readiness *probe            `yaml:"readinessProbe,omitempty"`
	Liveness  *probe            `yaml:"livenessProbe,omitempty"`
	Security  containerSecurity `yaml:"securityContext"`
	Mounts    []mount           `yaml:"volumeMounts"`
}

type variable struct {
	Name  string     `yaml:"name"`
	Value string     `yaml:"value,omitempty"`
	From  *valueFrom `yaml:"valueFrom,omitempty"`
}

type valueFrom struct {
	Field  *fieldRef `yaml:"fieldRef,omitempty"`
	Secret *keyRef   `yaml:"secretKeyRef,omitempty"`
}

type fieldRef struct {
	Path string `yaml:"fieldPath"`
}

type keyRef struct {
	Name string `yaml:"name"`
	Key  string `yaml:"key"`
}

type envFrom struct {
	Secret nameRef `yaml:"secretRef"`
}

type nameRef struct {
	Name string `yaml:"name"`
}

type containerPort struct {
	Name string `yaml:"name"`
	Port int    `yaml:"containerPort"`
}

type resources struct {
	Requests map[string]string `yaml:"requests"`
	Limits   map[string]string `yaml:"limits,omitempty"`
}

type probe struct {
	HTTP     httpGet `yaml:"httpGet"`
	Period   int     `yaml:"periodSeconds"`
	Timeout  int     `yaml:"timeoutSeconds"`
	Failures int     `yaml:"failureThreshold"`
}

type httpGet struct {
	Path string `yaml:"path"`
	Port string `yaml:"port"`
}

type containerSecurity struct {
	Escalation   bool         `yaml:"allowPrivilegeEscalation"`
	ReadOnly     bool         `yaml:"readOnlyRootFilesystem"`
	Capabilities capabilities `yaml:"capabilities"`
}

type capabilities struct {
	Drop []string `yaml:"drop"`
}

type mount struct {
	Name     string `yaml:"name"`
	Path     string `yaml:"mountPath"`
	ReadOnly bool   `yaml:"readOnly,omitempty"`
}

type volume struct {
	Name      string          `yaml:"name"`
	EmptyDir  *emptyDir       `yaml:"emptyDir,omitempty"`
	ConfigMap *nameRef        `yaml:"configMap,omitempty"`
	Secret    *secretInVolume `yaml:"secret,omitempty"`
}

type emptyDir struct {
	SizeLimit string `yaml:"sizeLimit,omitempty"`
}

type secretInVolume struct {
	Name  string `yaml:"secretName"`
	Items []item `yaml:"items,omitempty"`
}

type item struct {
	Key  string `yaml:"key"`
	Path string `yaml:"path"`
}
