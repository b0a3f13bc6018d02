package bytecode

// Producer is one thing that had a part in making a module, by the account of the module.
type Producer struct {
	// Field is its role: language, processed-by or sdk.
	Field string
	// Name and Version say what it is, such as "Go" and "go1.26".
	Name, Version string
}

// Producers returns what the custom section "producers" says, as far as it can be read. A module can say there what it
// likes.
func (m *Module) Producers() (all []Producer) {
	content, _ := m.Custom("producers")
	r := &reader{data: content, end: len(content)}
	_ = r.vector(10, func() error {
		field, err := r.name()
		if err != nil {
			return err
		}
		return r.vector(100, func() error {
			p := Producer{Field: field}
			if p.Name, err = r.name(); err != nil {
				return err
			}
			if p.Version, err = r.name(); err != nil {
				return err
			}
			all = append(all, p)
			return nil
		})
	})
	return all
}
