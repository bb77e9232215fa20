package design

import (
	"io/fs"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/pitot-bench/pitot/internal/model/apiserver"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/sys/lazy"
)

// allowed are the fields that say how a runner starts a server.
var allowed = map[Runner][]string{
	Local:   {"command", "env", "cwd"},
	Docker:  {"image", "command", "env", "cwd", "options"},
	Podman:  {"image", "command", "env", "cwd", "options"},
	SSH:     {"host", "command", "env", "cwd", "options"},
	Kubectl: {"manifest", "deployment", "namespace", "options"},
}

// runners are in the order in which they are named.
var runners = []Runner{Local, Docker, Podman, SSH, Kubectl}

// required are the fields of which a runner needs one, and their descriptions.
var required = map[Runner]struct {
	fields []string
	what   string
}{
	Local:   {[]string{"command"}, "a command"},
	Docker:  {[]string{"image"}, "an image"},
	Podman:  {[]string{"image"}, "an image"},
	SSH:     {[]string{"command"}, "a command"},
	Kubectl: {[]string{"deployment", "manifest"}, "a deployment or a manifest"},
}

// reached and started are fields of servers that are up already, and of those that Pitot
// starts.
var (
	reached = []string{"url", "ready", "ready_timeout"}
	started = append([]string{"runner", "stop_timeout", "settle"}, reached...)
	engine  = []string{"profile", "engine"}
)

func (s ServerSetup) fields() []string {
	switch {
	case s.Embedded():
		return engine
	case s.runs():
		return slices.Concat(started, allowed[s.runner()])
	}
	return reached
}

// runs reports whether Pitot starts it, even if the command is missing.
func (s ServerSetup) runs() bool { return s.Starts() || s.Runner != "" || s.Host != "" }

func (s ServerSetup) runner() Runner {
	if s.Runner == "" {
		return Local
	}
	return s.Runner
}

// checkServers checks the servers of all variants, and how they go together.
func (e *Experiment) checkServers(all []placed) (p plan.Problems) {
	used := map[string]bool{}
	for _, v := range all {
		p = append(p, v.check(e.Server)...)
		for _, field := range v.Server.fields() {
			used[field] = true
		}
		for _, field := range setFields(v.Server) {
			used[field] = used[field] || essential(field) // else reported with the variant
		}
	}
	for _, field := range setFields(e.Server) {
		p.If(!used[field] && len(all) > 0, plan.Join("server", field), nil, "applies to no variant: %s", appliesTo(field))
	}
	return once(append(p, e.checkAddresses(all)...))
}

func appliesTo(field string) string {
	var names []string
	for _, r := range runners {
		if slices.Contains(allowed[r], field) {
			names = append(names, "runner: "+string(r))
		}
	}
	switch {
	case slices.Contains(engine, field):
		return "it is of the embedded engine"
	case slices.Contains(reached, field):
		return "it is of a server, not of the embedded engine"
	case slices.Contains(started, field) || len(names) > 2 && slices.Contains(allowed[Local], field):
		return "it is of a server that Pitot starts"
	}
	return "it is for " + strings.Join(names, " or ")
}

func (v placed) check(common ServerSetup) (p plan.Problems) {
	s, at := v.Server, func(field string) string { return v.at(common, field) }
	p.OneOf(at("runner"), string(s.Runner), string(Local), string(Docker), string(Podman), string(SSH), string(Kubectl))
	if p != nil {
		return p
	}
	fields := s.fields()
	for _, field := range setFields(s) {
		if slices.Contains(fields, field) || !isSet(v.own, field) && !essential(field) {
			continue // checkServers judges common fields
		}
		p.If(true, at(field), nil, "%s", v.misplaced(field))
	}
	if s.Embedded() {
		return append(p, v.checkEngine(at)...)
	}
	if s.runs() {
		need := required[s.runner()]
		missing := !slices.ContainsFunc(need.fields, func(f string) bool { return slices.Contains(setFields(s), f) })
		p.If(missing, at(need.fields[0]), nil, "is missing: runner %s starts %s", s.runner(), need.what)
		p.If(s.Runner == SSH && s.Host == "", at("host"), nil, "is missing: runner ssh needs USER@HOST")
	}
	return append(p, s.checkTexts(at)...)
}

// essential reports whether a field decides the kind of a server, so that two of them contradict each other.
func essential(field string) bool {
	return slices.Contains([]string{"command", "image", "host", "manifest", "deployment"}, field)
}

// misplaced says why a server cannot have a field.
func (v placed) misplaced(field string) string {
	switch {
	case v.Server.Embedded():
		return "does not go with profile and engine: a variant is the embedded engine, or a server"
	case v.Server.runs():
		return "does not go with runner: " + string(v.Server.runner()) + "; " + appliesTo(field)
	}
	return "needs a command, or what else starts the server: " + appliesTo(field)
}

// variable matches the name of a variable of the environment.
var variable = lazy.Regexp(`^[A-Za-z_][A-Za-z0-9_]*$`)

func (s ServerSetup) checkTexts(at func(string) string) (p plan.Problems) {
	p.If(s.Ready != "" && s.Ready[0] != '/', at("ready"), strconv.Quote(s.Ready), "must begin with /, as a route does")
	p.Span(at("ready_timeout"), s.ReadyTimeout)
	p.Span(at("stop_timeout"), s.StopTimeout)
	p.Span(at("settle"), s.Settle)
	for _, name := range slices.Sorted(maps.Keys(s.Env)) {
		p.If(!variable.MatchString(name), at("env."+name), nil, "is not the name of a variable")
	}
	v := reflect.ValueOf(s)
	for i := range v.NumField() {
		name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
		p.If(v.Field(i).Kind() == reflect.String && strings.Contains(v.Field(i).String(), "\x00"), at(name), nil, "has a zero byte")
	}
	for field, value := range map[string]string{"host": s.Host, "image": s.Image, "deployment": s.Deployment, "namespace": s.Namespace, "manifest": s.Manifest} {
		p.If(strings.HasPrefix(value, "-"), at(field), strconv.Quote(value), "must not begin with -, as flags do")
	}
	return append(p, s.checkURL(at)...)
}

// checkURL checks the address, unless a reference in it is wrong already.
func (s ServerSetup) checkURL(at func(string) string) (p plan.Problems) {
	ports := strings.Contains(s.URL, Port)
	p.If(ports && !s.runs(), at("url"), strconv.Quote(s.URL), "a port is chosen only for a server that Pitot starts; write the port of this one")
	url := strings.ReplaceAll(s.URL, Port, "8000")
	if url == "" || p != nil || reference.MatchString(url) {
		return p
	}
	return append(p, plan.CheckURL(at("url"), url)...)
}

// Settings are those of the embedded engine, with its profile.
func (s ServerSetup) Settings() (apiserver.Settings, plan.Problems) {
	var settings apiserver.Settings
	var p plan.Problems
	if s.Engine != nil {
		p = plan.DecodeJSON(s.Engine, &settings).Below("engine")
	}
	p.If(s.Profile != "" && settings.Profile != "", "engine.profile", settings.Profile, "is given twice, here and as profile")
	if s.Profile != "" {
		settings.Profile = s.Profile
	}
	return settings, p
}

// checkEngine checks the settings of the embedded engine, except those in a file.
func (v placed) checkEngine(at func(string) string) (p plan.Problems) {
	settings, p := v.Server.Settings()
	if len(p) == 0 && !reference.MatchString(settings.Profile) {
		p = checkConfig(settings, v.Server.Profile != "")
	}
	out := make(plan.Problems, len(p))
	for i, problem := range p {
		field, rest, _ := strings.Cut(problem.Path, ".")
		problem.Path = plan.Join(at(field), rest)
		out[i] = problem
	}
	return out
}

// checkConfig reports problems with the server that settings describe. beside means that the profile is given
// separately.
func checkConfig(settings apiserver.Settings, hasProfile bool) plan.Problems {
	inFile := false
	_, _, err := settings.Config("", func(string) ([]byte, error) {
		inFile = true
		return nil, fs.ErrNotExist
	})
	if inFile {
		return nil
	}
	p := below("engine", err)
	for i := range p {
		if hasProfile && p[i].Path == "engine.profile" {
			p[i].Path = "profile"
		}
	}
	return p
}

// Address is where a server answers: the URL, or the port of this machine that its command
// is given. Empty: as the workload says.
func (s ServerSetup) Address() string {
	local := s.runner() == Local || s.runner() == Docker || s.runner() == Podman
	if s.URL == "" && local && strings.Contains(s.Command+s.Options, Port) {
		return "http://127.0.0.1:" + Port
	}
	return s.URL
}

// checkAddresses requires that servers that are up at once answer at different addresses.
func (e *Experiment) checkAddresses(all []placed) (p plan.Problems) {
	if e.Design.Restart != PerBlock && e.Design.Restart != Never {
		return nil
	}
	by := map[string]string{}
	for _, v := range all {
		if !v.Server.Starts() {
			continue
		}
		url := v.Server.Address()
		other, taken := by[url]
		switch {
		case url == "":
			p.If(true, plan.Join(v.path, "server.url"), nil, "is missing: with restart: %s the servers of all variants are up at once", e.Design.Restart)
		case taken && !strings.Contains(url, Port):
			p.If(true, v.at(e.Server, "url"), strconv.Quote(url), "is that of %s too: with restart: %s the servers of all variants are up at once", other, e.Design.Restart)
		}
		p.Hint(url == "" || taken && !strings.Contains(url, Port), "give each one a url of its own, use ${port} in its command, or restart: leg")
		by[url] = v.Name
	}
	return p
}
