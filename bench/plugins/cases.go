package main

import (
	"context"
	"fmt"
	"strings"
)

// kase is one thing that is measured.
type kase struct {
	name string
	run  func(ctx context.Context, b *bench) ([]row, error)
}

// cases are all that is measured, in the order of the table.
func cases() []kase {
	return []kase{
		{"run", runCase},
		{"throughput", throughputCase},
		{"middleware", middlewareCase},
		{"last_ten", lastTenCase},
		{"waits", waitsCase},
		{"reload", reloadCase},
		{"idle", idleCase},
	}
}

func caseNames() []string {
	var names []string
	for _, c := range cases() {
		names = append(names, c.name)
	}
	return names
}

// chosen returns the cases of a list of names with commas between them, or all for an empty one.
func chosen(list string) ([]kase, error) {
	all := cases()
	if list == "" {
		return all, nil
	}
	var out []kase
	for name := range strings.SplitSeq(list, ",") {
		found := false
		for _, c := range all {
			if c.name == name {
				out = append(out, c)
				found = true
			}
		}
		if !found {
			return nil, fmt.Errorf("-case: no case %q: there are %s", name, strings.Join(caseNames(), ", "))
		}
	}
	return out, nil
}
