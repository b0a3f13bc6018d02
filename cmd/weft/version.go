package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/weft-run/weft/abi"
)

// version is set by the release build: -ldflags "-X main.version=v1.2.3".
var version string

// versions is what weft version prints.
type versions struct {
	Weft   string `json:"weft"`
	ABI    int    `json:"abi"`
	Go     string `json:"go"`
	Wazero string `json:"wazero"`
}

func newVersion(s streams) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Print the versions of weft, of the contract with plugins, and of what runs them",
		Example: "  weft version\n  weft version --json",
		Args:    between(0, 0, "nothing"),
		RunE: func(*cobra.Command, []string) error {
			v := readVersions()
			if asJSON {
				return printJSON(s.out, v)
			}
			fmt.Fprintf(s.out, "weft    %s\nabi     %d\ngo      %s\nwazero  %s\n", v.Weft, v.ABI, v.Go, v.Wazero)
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON object")
	return cmd
}

func readVersions() versions {
	v := versions{Weft: version, ABI: abi.Version, Go: runtime.Version(), Wazero: "unknown"}
	info, ok := debug.ReadBuildInfo()
	if ok {
		for _, dep := range info.Deps {
			if dep.Path == "github.com/tetratelabs/wazero" {
				v.Wazero = dep.Version
			}
		}
		if v.Weft == "" {
			v.Weft = info.Main.Version
		}
	}
	if v.Weft == "" {
		v.Weft = "(devel)"
	}
	return v
}
