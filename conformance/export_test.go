package conformance

import (
	"context"
	"fmt"
)

// LoadPlugin loads the scripted provider of a scenario that has the source id as a plugin, and returns what closes it.
func LoadPlugin(ctx context.Context, s *Scenario, sourceID string, o Options) (func(context.Context) error, error) {
	p := &play{scenario: s, options: o, warnings: newWarnings()}
	for _, script := range s.Agent.Providers {
		if script.SourceID == sourceID {
			_, err := p.pluginProvider(ctx, script)
			return p.close, err
		}
	}
	return p.close, fmt.Errorf("%s has no provider %s", s.Name, sourceID)
}

// WithoutExports is what wrapping providers are made of.
var WithoutExports = withoutExports
