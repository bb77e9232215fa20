package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pitot-bench/pitot/internal/experiment/design"
	"github.com/pitot-bench/pitot/internal/sys/proc"
)

// cluster is a deployment, of a manifest or one that exists. The process that lasts as long as the server is a
// script: it rolls the deployment out, then follows the log of its pod, and ends when the log has ended and the
// deployment is not available any more.
type cluster struct{}

// rollOut is that script. $k is kubectl with its options. A deployment that exists has as many replicas as it had
// when Pitot scaled it down, which an annotation has.
const rollOut = `
k() { "$kubectl" %s "$@"; }
of() { k get "$deployment" -o "jsonpath={$1}"; }
if [ -n "$manifest" ]; then
  k apply -f "$manifest" || exit
else
  replicas=$(of .spec.replicas) || exit
  if [ "$replicas" = 0 ]; then
    replicas=$(of .metadata.annotations.pitot-replicas) || exit
    k scale "$deployment" "--replicas=${replicas:-1}" || exit
  else
    k annotate --overwrite "$deployment" "pitot-replicas=$replicas" && k rollout restart "$deployment" || exit
  fi
fi
k rollout status "$deployment" "--timeout=$timeout" || exit
echo "` + announced + `$mark up"
k logs --follow "$deployment"
while sleep 2; do
  missing=$(of .status.unavailableReplicas) && [ -z "$missing" ] || break
  k logs --follow --since=2s "$deployment" || break
done
echo "$deployment is not available any more" >&2
exit 1
`

func (cluster) command(s design.ServerSetup, h Handle) (proc.SessionCommand, error) {
	client, err := installed("kubectl")
	if err != nil {
		return proc.SessionCommand{}, err
	}
	given := fmt.Sprintf("kubectl=%s deployment=%s manifest=%s mark=%s timeout=%ds", quoted(client), quoted("deployment/"+h.Deployment),
		quoted(h.Manifest), quoted(h.Tree.Mark), int(orDefault(s.ReadyTimeout, readyTimeout).Seconds()))
	return proc.SessionCommand{Args: []string{"/bin/sh", "-c", given + fmt.Sprintf(rollOut, inNamespace(s.Options, h.Namespace))}}, nil
}

// inNamespace are the options of every command.
func inNamespace(options, namespace string) string {
	if namespace != "" {
		options += " --namespace " + quoted(namespace)
	}
	return options
}

func (cluster) output(ctx context.Context, h Handle, o Options, args ...string) (string, error) {
	options, err := h.options()
	if err != nil {
		return "", err
	}
	script := "exec kubectl " + inNamespace(options, h.Namespace) + ` "$@"`
	out, err := o.output(ctx, proc.Question{Args: append([]string{"/bin/sh", "-c", script, "kubectl"}, args...)})
	if err != nil {
		err = fmt.Errorf("kubectl %s: %w", args[0], err)
	}
	return out, err
}

func (c cluster) living(ctx context.Context, h Handle, o Options) ([]string, error) {
	out, err := c.output(ctx, h, o, "get", "deployment/"+h.Deployment, "--ignore-not-found", "-o", "jsonpath={.status.replicas}")
	if n := strings.TrimSpace(out); err == nil && n != "" && n != "0" {
		return []string{fmt.Sprintf("deployment/%s with %s replicas", h.Deployment, n)}, nil
	}
	return nil, err
}

// end deletes the objects of the manifest, or scales the deployment to none, and waits for the pods to be gone:
// those that are being ended still hold devices.
func (c cluster) end(ctx context.Context, e ending) (bool, error) {
	h, deployment := e.handle, "deployment/"+e.handle.Deployment
	gone := []string{"wait", "--for=delete", deployment} // in the foreground a deployment goes after its pods
	if h.Manifest != "" {
		if _, err := c.output(ctx, h, e.Options, "delete", "--ignore-not-found", "--cascade=foreground", "--wait=false", "-f", h.Manifest); err != nil {
			return false, err
		}
	} else {
		labels, err := c.selector(ctx, h, e.Options)
		if err != nil {
			return false, err
		}
		if _, err := c.output(ctx, h, e.Options, "scale", deployment, "--replicas=0"); err != nil {
			return false, err
		}
		gone = []string{"wait", "--for=delete", "pod", "--selector", labels}
	}
	ctx, done := e.orHurry(ctx)
	defer done()
	limit := e.stopTimeout() + e.Waits.Killed
	e.warn("server.waiting-exit", "limit", limit)
	e.Waits.Command += limit
	_, err := c.output(ctx, h, e.Options, append(gone, fmt.Sprintf("--timeout=%ds", int(limit.Seconds())))...)
	if err != nil && (strings.Contains(err.Error(), "no matching resources") || strings.Contains(err.Error(), "NotFound")) {
		return false, nil
	}
	return false, err
}

// selector finds the pods of a deployment.
func (c cluster) selector(ctx context.Context, h Handle, o Options) (string, error) {
	out, err := c.output(ctx, h, o, "get", "deployment/"+h.Deployment, "-o", "jsonpath={.spec.selector.matchLabels}")
	if err != nil {
		return "", err
	}
	var labels map[string]string
	if err := json.Unmarshal([]byte(out), &labels); err != nil || len(labels) == 0 {
		return "", fmt.Errorf("deployment/%s: its selector has no labels", h.Deployment)
	}
	for name := range labels {
		labels[name] = name + "=" + labels[name]
	}
	return strings.Join(slices.Sorted(maps.Values(labels)), ","), nil
}

func (cluster) sweep(context.Context, ending) error { return nil }

var errElsewhere = errors.New("devices of a cluster are not read")

func (cluster) shell(context.Context, Handle, Options, string) (string, error) {
	return "", errElsewhere
}
