package environment_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pitot-bench/pitot/internal/record/environment"
)

// Variables of a login and of a shell explain nothing; those that engines read come first.
func TestVariables(t *testing.T) {
	p := &environment.Process{Env: map[string]string{
		"HCCL_BUFFSIZE": "1024", "MY_OWN": "1", "LD_PRELOAD": "/x.so", "SHLVL": "2", "SSH_TTY": "x", "PATH": "/bin",
		"WEB_SERVICE_HOST": "1", "WEB_PORT_80_TCP": "tcp", "DEEP_NORMAL_MODE_USE_INT8_QUANT": "1", "RANK_TABLE_FILE": "/r.json",
	}}
	names, others := p.Variables()
	want := []string{"DEEP_NORMAL_MODE_USE_INT8_QUANT", "HCCL_BUFFSIZE", "LD_PRELOAD", "RANK_TABLE_FILE", "MY_OWN"}
	if diff := cmp.Diff(want, names); diff != "" || others != 5 {
		t.Error(diff, others)
	}
}
