// Package config makes an agent of a weft.yaml.
//
//	c, err := config.Load("weft.yaml")
//	if err != nil {
//		return err // every mistake at once: file, line, column, what was wanted, and the nearest word
//	}
//	built, err := c.Build(ctx, config.BuildOptions{Engine: e, Getenv: os.Getenv})
//	if err != nil {
//		return err // every plugin and tool server that is not there, with its place in the file
//	}
//	defer built.Close(ctx)
//	response, err := built.Agent.Run(ctx, host.Text("hi"), host.RunConfig{})
//
// Reading is strict: a key that is not known, a value of another type and a key that stands twice are mistakes, never
// passed over; there are no anchors, aliases, tags or merge keys. Paths are relative to the file.
//
// Secrets do not stand in the file. It names the variables of the environment that hold them, and Build asks
// [BuildOptions.Getenv] for those and no others: the package reads no environment by itself. Those of plugins may stand in
// files as well. A variable that has no value is a fault at its place. No fault repeats what stands where the name of a
// variable belongs.
//
// What plugins stand on (storage, indexes, models for embeddings) is opened by Build as far as a plugin is granted it, and
// closed by [Built.Close] after the plugins. [Config.LoadPlugins] does the same for tools that tell about plugins.
//
// [Schema] is the same as a JSON Schema, for editors; a test holds it against the decoder.
package config
