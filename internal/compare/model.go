package compare

// Compare decides what the differences between variants are.
func Compare(runs []Run, o Options) (Comparison, error) {
	o = o.withDefaults()
	if err := o.Validate(); err != nil {
		return Comparison{}, err
	}
	return Comparison{Level: o.Level, Margin: o.Margin}, nil
}
