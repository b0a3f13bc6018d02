package conformance

import (
	"maps"
	"slices"

	"github.com/weft-run/weft/host/compaction"
)

// strategy reads one compaction strategy: its keys besides the name, and how they make one.
type strategy struct {
	needs []string
	may   []string
	make  func(o object) compaction.Strategy
}

// strategies is the table of strategies of scenarios/README.md.
var strategies = map[string]strategy{
	"sliding_window": {[]string{"keep_last_groups"}, []string{"preserve_system"}, func(o object) compaction.Strategy {
		return compaction.SlidingWindow{KeepLastGroups: o.count("keep_last_groups"), PreserveSystem: preserveSystem(o)}
	}},
	"truncation": {[]string{"max_n", "compact_to"}, []string{"preserve_system"}, func(o object) compaction.Strategy {
		return compaction.Truncation{MaxMessages: o.count("max_n"), CompactTo: o.count("compact_to"), PreserveSystem: preserveSystem(o)}
	}},
	"selective_tool_call": {[]string{"keep_last_tool_call_groups"}, nil, func(o object) compaction.Strategy {
		return compaction.SelectiveToolCall{KeepLastToolCallGroups: o.count("keep_last_tool_call_groups")}
	}},
	"tool_result": {[]string{"keep_last_tool_call_groups"}, nil, func(o object) compaction.Strategy {
		return compaction.ToolResult{KeepLastToolCallGroups: o.count("keep_last_tool_call_groups")}
	}},
}

// preserveSystem leaves an absent key to the strategy's own default.
func preserveSystem(o object) *bool {
	if !o.has("preserve_system") {
		return nil
	}
	return new(o.boolean("preserve_system", true))
}

// readStrategy reads a member that is a strategy; nil where there is none, or none that is valid.
func readStrategy(o object, key string) compaction.Strategy {
	n := o.value(key, '{', "an object")
	if n == nil {
		return nil
	}
	name := ""
	if s := n.byKey["strategy"]; s != nil {
		name = s.text
	}
	rule, known := strategies[name]
	read := o.faults.object(n, slices.Concat(rule.needs, rule.may, []string{"strategy"})...)
	read.need("strategy")
	read.word("strategy", "", slices.Sorted(maps.Keys(strategies))...)
	if !known {
		return nil
	}
	read.need(rule.needs...)
	return rule.make(read)
}
