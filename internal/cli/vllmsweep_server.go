package cli

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/pitot-bench/pitot/internal/experiment/design"
	"github.com/pitot-bench/pitot/internal/experiment/server"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/plan/shell"
	"github.com/pitot-bench/pitot/internal/session"
	"github.com/pitot-bench/pitot/internal/sys/proc"
	"github.com/pitot-bench/pitot/internal/tool/vllm"
)

// routes reset the caches of a server of vLLM, where VLLM_SERVER_DEV_MODE is set.
var routes = []string{"/reset_prefix_cache", "/reset_mm_cache", "/reset_encoder_cache"}

// resets reports whether the server of a command line has these routes, or no cache.
func resets(command []string) bool {
	return len(command) > 0 && (isVLLM(command) || strings.HasSuffix(command[0], "infinity_emb"))
}

func isVLLM(command []string) bool { return strings.HasSuffix(command[0], "vllm") }

// A running server; without one the results are there, or nothing is to be made.
type running struct {
	server  *server.Running
	command []string
	sess    *session.Session
}

// start starts a server, and waits until it is ready.
func (s *sweeper) start(n int, serve vllm.Params) (*running, error) {
	up := &running{command: serve.Apply(s.Serve), sess: s.sess}
	if err := os.MkdirAll(s.folder, 0o755); err != nil {
		return nil, err
	}
	log, err := filepath.Abs(filepath.Join(s.folder, fmt.Sprintf("server-%d.log", n)))
	if err != nil {
		return nil, err
	}
	ctx, release := s.sess.UntilInterrupt(context.Background())
	defer release()
	up.server, err = server.Start(ctx, design.ServerSetup{
		Command: "exec " + shell.Join(up.command), Env: map[string]string{"VLLM_SERVER_DEV_MODE": "1"}, ReadyTimeout: plan.Duration(time.Duration(s.ReadyTimeout) * time.Second),
	}, server.Options{
		URL: vllm.Address(up.command), Log: log, Secrets: s.sess.Secrets, TrimCommand: session.TrimLogCommand(),
	})
	if err != nil {
		return nil, err
	}
	if _, err := up.server.Ready(ctx); err != nil {
		up.stop(context.Background())
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, err
	}
	return up, nil
}

func (r *running) stop(ctx context.Context) {
	if _, err := r.server.Stop(ctx); err != nil {
		fmt.Fprintln(r.sess.Stderr, "pitot:", err)
	}
}

// died is the error of a server that has ended by itself.
func (r *running) died() error {
	select {
	case <-r.server.Done():
		return fmt.Errorf("the server ended: %s", r.sess.Say(r.server.Ended().Message()))
	default:
		return nil
	}
}

// reset runs the command that follows a run, or resets the caches.
func (s *sweeper) reset(up *running) error {
	if up.server == nil {
		return nil
	}
	ctx, release := s.sess.UntilInterrupt(context.Background())
	defer release()
	if s.After != nil {
		out, err := proc.Ask(ctx, proc.Question{Args: s.After})
		if s.ShowStdout {
			fmt.Fprint(s.sess.Stdout, out)
		}
		if err != nil {
			return fmt.Errorf("--after-bench-cmd: %w", err)
		}
		return nil
	}
	if !isVLLM(up.command) {
		return nil
	}
	address := vllm.Address(up.command)
	s.printf("Resetting caches at %s", address)
	for _, route := range routes {
		if err := post(ctx, address+route); err != nil {
			return err
		}
	}
	return nil
}

// post calls a route that must succeed.
func post(ctx context.Context, url string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, http.NoBody)
	if err != nil {
		return err
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: time.Minute}
	answer, err := client.Do(req)
	if err != nil {
		return fmt.Errorf("reset the caches: %w", err)
	}
	defer answer.Body.Close()
	if answer.StatusCode >= http.StatusBadRequest {
		return fmt.Errorf("reset the caches: %s answers %s", url, answer.Status)
	}
	return nil
}
