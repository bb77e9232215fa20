package manifests

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/pitot-bench/pitot/internal/test/golden"
)

// least are the Options that have no default, and those of the command.
var least = Options{
	Name: "pitot", Workers: 4, Image: "registry.example.com/pitot:v1", NATSImage: "nats:2.15.0-alpine", Secret: "fleet-token",
	CPU: "2", Memory: "2Gi", Storage: "10Gi", Zone: ByNode,
}

// full has everything.
func full() Options {
	o := least
	o.Namespace, o.Create, o.Controller, o.OnePerNode, o.Zone = "bench", true, true, true, ByZone
	o.Secret, o.Token, o.TLS, o.Env = "", "tABCDEFGHIJKLMNOP234567", "fleet-tls", "keys"
	o.Storage, o.StorageClass, o.CPU, o.Memory = "1.5Ti", "fast.ssd", "500m", "512Mi"
	return o
}

func variants() map[string]Options {
	ephemeral := full()
	ephemeral.Storage, ephemeral.StorageClass = "", ""
	return map[string]Options{"least": least, "full": full(), "ephemeral": ephemeral}
}

func written(t *testing.T, o Options) string {
	t.Helper()
	var text strings.Builder
	if err := Write(&text, o); err != nil {
		t.Fatal(err)
	}
	return text.String()
}

func TestManifests(t *testing.T) {
	for name, o := range variants() {
		golden.Check(t, filepath.Join("testdata", name+".yaml"), written(t, o))
	}
}

// object is any object, decoded without the structs that wrote it.
type object = map[string]any

func decoded(t *testing.T, text string) (all []object) {
	t.Helper()
	for document := range strings.SplitSeq(text, "---\n") {
		var o object
		if err := yaml.UnmarshalWithOptions([]byte(document), &o, yaml.Strict()); err != nil {
			t.Fatal(err)
		}
		all = append(all, o)
	}
	return all
}

// at is what a path of keys leads to; a list counts as its first element.
func at(t *testing.T, o any, path ...string) any {
	t.Helper()
	for _, key := range path {
		if list, ok := o.([]any); ok {
			o = list[0]
		}
		m, ok := o.(object)
		if !ok || m[key] == nil {
			t.Fatalf("no %s in %v", key, o)
		}
		o = m[key]
	}
	return o
}

func kindOf(t *testing.T, all []object, kind, name string) object {
	t.Helper()
	for _, o := range all {
		if o["kind"] == kind && at(t, o, "metadata", "name") == name {
			return o
		}
	}
	t.Fatalf("there is no %s %s", kind, name)
	return nil
}

// What one object says of another is so.
func TestObjectsFindEachOther(t *testing.T) {
	for name, o := range variants() {
		t.Run(name, func(t *testing.T) {
			all := decoded(t, written(t, o))
			pods := []object{kindOf(t, all, "StatefulSet", "pitot-nats"), kindOf(t, all, "Job", "pitot-workers")}
			if o.Controller {
				pods = append(pods, kindOf(t, all, "StatefulSet", "pitot-controller"))
			}
			secret := o.Secret
			if o.Token != "" {
				secret = "pitot-token"
				if got := at(t, kindOf(t, all, "Secret", secret), "stringData", "token"); got != o.Token {
					t.Errorf("token %v", got)
				}
			}
			for _, p := range pods {
				checkPod(t, p, secret)
			}
			checkService(t, kindOf(t, all, "Service", "pitot-nats"), pods[0])
			admitted := at(t, kindOf(t, all, "NetworkPolicy", "pitot-nats"), "spec", "ingress", "from", "podSelector", "matchLabels").(object)
			for _, p := range pods {
				for key, value := range admitted {
					if got := at(t, p, "spec", "template", "metadata", "labels", key); got != value {
						t.Errorf("a pod with %s %v is not let through to the server", key, got)
					}
				}
			}
			for _, one := range all {
				if got, _ := at(t, one, "metadata").(object)["namespace"].(string); one["kind"] != "Namespace" && got != o.Namespace {
					t.Errorf("%v is in the namespace %q", one["kind"], got)
				}
			}
		})
	}
}

// checkPod wants a pod that gets the token, mounts volumes that there are, may do nothing, and
// is Guaranteed.
func checkPod(t *testing.T, owner object, secret string) {
	t.Helper()
	spec := at(t, owner, "spec", "template", "spec")
	c := at(t, spec, "containers").([]any)[0].(object)
	token := slices.IndexFunc(c["env"].([]any), func(v any) bool { return v.(object)["name"] == "PITOT_FLEET_TOKEN" })
	if got := at(t, c["env"].([]any)[token], "valueFrom", "secretKeyRef", "name"); got != secret {
		t.Errorf("the token is of the secret %v, want %s", got, secret)
	}
	there := map[any]bool{}
	for _, v := range spec.(object)["volumes"].([]any) {
		there[v.(object)["name"]] = true
	}
	if claims, ok := owner["spec"].(object)["volumeClaimTemplates"]; ok {
		there[at(t, claims, "metadata", "name")] = true
	}
	for _, m := range c["volumeMounts"].([]any) {
		if name := m.(object)["name"]; !there[name] {
			t.Errorf("%v mounts %v, which is not there", c["name"], name)
		}
	}
	if len(there) != len(c["volumeMounts"].([]any)) {
		t.Errorf("%v has volumes %v and mounts %v", c["name"], there, c["volumeMounts"])
	}
	if got := fmt.Sprint(at(t, c, "resources", "requests")); got != fmt.Sprint(at(t, c, "resources", "limits")) || !strings.Contains(got, "cpu:") {
		t.Errorf("%v is not Guaranteed: %v", c["name"], c["resources"])
	}
	if at(t, c, "securityContext", "allowPrivilegeEscalation") != false || at(t, c, "securityContext", "readOnlyRootFilesystem") != true ||
		at(t, spec, "securityContext", "runAsNonRoot") != true || at(t, spec, "automountServiceAccountToken") != false {
		t.Errorf("%v may do more than it needs to", c["name"])
	}
}

// checkService wants that it selects the pods of the server, by a port that they have.
func checkService(t *testing.T, service, server object) {
	t.Helper()
	labels := at(t, server, "spec", "template", "metadata", "labels")
	if got := at(t, service, "spec", "selector"); fmt.Sprint(got) != fmt.Sprint(labels) {
		t.Errorf("the service selects %v, pods are %v", got, labels)
	}
	if got := at(t, service, "spec", "ports", "targetPort"); got != at(t, server, "spec", "template", "spec", "containers", "ports", "name") {
		t.Errorf("the service leads to port %v", got)
	}
}

// The longest names give names that Kubernetes takes: 52 characters of a StatefulSet, 63 of the host
// name of a pod.
func TestLongestNames(t *testing.T) {
	o := least
	o.Name, o.Workers, o.Controller = strings.Repeat("n", longestName), mostWorkers, true
	all := decoded(t, written(t, o))
	for _, one := range all {
		name := at(t, one, "metadata", "name").(string)
		if one["kind"] == "StatefulSet" && len(name) > 52 {
			t.Errorf("%s has %d characters", name, len(name))
		}
		if pod := fmt.Sprintf("%s-%d", name, mostWorkers-1); len(pod) > 63 {
			t.Errorf("%s has %d characters", pod, len(pod))
		}
	}
}

func TestMistakes(t *testing.T) {
	for _, c := range []struct {
		change func(*Options)
		want   string
	}{
		{func(o *Options) { o.Workers = 0 }, "--workers 0: must be from 1 to 65000"},
		{func(o *Options) { o.Workers = 65_001 }, "--workers 65001: must be from 1 to 65000"},
		{func(o *Options) { o.Name = "" }, `--name "": must be`},
		{func(o *Options) { o.Name = "9lives" }, `--name "9lives": must be`},
		{func(o *Options) { o.Name = "a\n---\nkind: Pod" }, `--name "a\n---\nkind: Pod": must be`},
		{func(o *Options) { o.Name = strings.Repeat("a", 41) }, "must be at most 40 lower-case letters"},
		{func(o *Options) { o.Namespace = "Team" }, `--namespace "Team": must be`},
		{func(o *Options) { o.Namespace = "a." }, `--namespace "a.": must be`},
		{func(o *Options) { o.Create = true }, "--create-namespace: needs --namespace NAME"},
		{func(o *Options) { o.Image = "" }, "--image: no image given, and this build is no release with one of its own; name one that your cluster can pull, such as"},
		{func(o *Options) { o.Image = "pitot" }, `--image "pitot": has no tag and no digest; add one, such as pitot:v1`},
		{func(o *Options) { o.Image = "Pitot:v1" }, `--image "Pitot:v1": must be the reference of an image`},
		{func(o *Options) { o.Image = "a:b\nc" }, `--image "a:b\nc": must be the reference`},
		{func(o *Options) { o.NATSImage = "nats:" }, `--nats-image "nats:": must be the reference`},
		{func(o *Options) { o.Secret = "" }, `--secret "": must be the name of an object`},
		{func(o *Options) { o.Token = "123456789012345678" }, "the token must be 16 to 128 letters and digits, with a letter first"},
		{func(o *Options) { o.Token = "short" }, "the token must be"},
		{func(o *Options) { o.TLS = "a b" }, `--tls-secret "a b": must be the name`},
		{func(o *Options) { o.Env = "-" }, `--env-secret "-": must be the name`},
		{func(o *Options) { o.CPU = "two" }, `--cpu "two": must be a quantity such as 2 or 500m`},
		{func(o *Options) { o.CPU = "50m" }, "--cpu 50m: must be at least 0.1"},
		{func(o *Options) { o.CPU = "2Gi" }, "--cpu 2Gi: is more than a node has; did you mean another unit?"},
		{func(o *Options) { o.Memory = "" }, `--memory "": must be a quantity such as 2Gi or 512Mi`},
		{func(o *Options) { o.Memory = "512m" }, "--memory 512m: m means thousandths of a byte; use Mi or M"},
		{func(o *Options) { o.Memory = "2" }, "--memory 2: must be at least 64Mi"},
		{func(o *Options) { o.Storage = "1Mi" }, "--storage 1Mi: must be at least 256Mi"},
		{func(o *Options) { o.Storage, o.StorageClass = "", "fast" }, `--storage-class "fast": needs a volume; set --storage`},
		{func(o *Options) { o.Zone = "rack" }, `--zone-from "rack": must be node or zone`},
	} {
		o := least
		c.change(&o)
		var text strings.Builder
		err := Write(&text, o)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %s", err, c.want)
		} else if strings.Contains(err.Error(), "\n") {
			t.Errorf("%q is more than a line", err)
		}
		if text.Len() > 0 {
			t.Errorf("%s: something was written", c.want)
		}
	}
	bad := least
	bad.Workers, bad.CPU = -1, ""
	if err := bad.Validate(); err == nil || strings.Count(err.Error(), "\n") != 1 {
		t.Errorf("two mistakes: %v", err)
	}
}

func TestImages(t *testing.T) {
	digest := "@sha256:" + strings.Repeat("0a", 32)
	for _, image := range []string{
		"nats:2", "localhost:5000/pitot:dev", "registry.example.com/team/pitot" + digest, "a/b__c/d-e.f:V_1.0-x" + digest, "10.0.0.1:80/x:1",
	} {
		if err := checkImage("--image", image); err != nil {
			t.Error(err)
		}
	}
}

// With Kubernetes' schemas, where bench/manifests/validate.sh has installed them.
func TestSchemas(t *testing.T) {
	if _, err := exec.LookPath("kubernetes-validate"); err != nil {
		t.Skip("kubernetes-validate is not on the PATH; bench/manifests/validate.sh installs it, and runs this")
	}
	for name := range variants() {
		for _, version := range []string{"1.25", "1.31", "1.37"} {
			out, err := exec.Command("kubernetes-validate", "--strict", "-k", version, filepath.Join("testdata", name+".yaml")).CombinedOutput()
			if err != nil || !strings.Contains(string(out), "passed for resource job/pitot-workers against version "+version) {
				t.Errorf("%s for %s: %v\n%s", name, version, err, out)
			}
		}
	}
}
