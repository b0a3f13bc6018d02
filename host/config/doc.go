// Package config makes an agent of a weft.yaml.
//
//	c, err := config.Load("weft.yaml")
//	if err != nil {
//		return err // every mistake at once: file, line, column, what was wanted, and the nearest word
//	}
//	built, err := c.Build(ctx, config.BuildOptions{Engine: e})
//	if err != nil {
//		return err // every plugin that cannot be loaded, with its place in the file
//	}
//	defer built.Close(ctx)
//	response, err := built.Agent.Run(ctx, host.Text("hi"), host.RunConfig{})
//
// Reading is strict: a key that is not known, a value of another type and a key that stands twice are mistakes, never
// passed over; there are no anchors, aliases, tags or merge keys, and no variables of the environment. Paths are
// relative to the file. [Schema] is the same as a JSON Schema, for editors; a test holds it against the decoder.
package config
