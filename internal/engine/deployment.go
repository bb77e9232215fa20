package engine

// A Deployment is the Model of a Config.
type Deployment struct{ LatencyModel }

// New makes an idle deployment.
func New(c Config) (*Deployment, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	return &Deployment{*NewLatencyModel(Latency{}, c.Seed)}, nil
}

// Context is the longest context that c takes, prompt and output together.
func (c Config) Context() int { return c.withDefaults().MaxModelLen }
