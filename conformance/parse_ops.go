package conformance

import (
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/weft-run/weft/host"
	"github.com/weft-run/weft/host/compaction"
)

// The places where operations stand: hooks of a provider, a wrapping provider, and the layers of middleware.
const (
	placeHook     = "provider"
	placeProcess  = "process"
	layerAgent    = "agent"
	layerChat     = "chat"
	layerFunction = "function"
)

var (
	layers = []string{layerAgent, layerChat, layerFunction}
	hooks  = []string{"session_created", "before_run", "after_run", "run_failed", "process"}
	roles  = []string{"system", "user", "assistant", "tool"}
)

// opRule says where an operation may stand and which fields it has.
type opRule struct {
	name   string
	places []string
	needs  []string
	may    []string
}

var (
	onlyProvider    = []string{placeHook, placeProcess}
	everywhere      = []string{placeHook, placeProcess, layerAgent, layerChat, layerFunction}
	agentAndChat    = []string{layerAgent, layerChat}
	anyMiddleware   = layers
	whatWraps       = []string{placeProcess, layerAgent, layerChat, layerFunction}
	withoutFunction = []string{placeHook, placeProcess, layerAgent, layerChat}
)

// opRules is the table of operations of scenarios/README.md.
var opRules = []opRule{
	{name: "log", places: everywhere, needs: []string{"text"}},
	{name: "extend_messages", places: onlyProvider, needs: []string{"messages"}},
	{name: "extend_instructions", places: onlyProvider, needs: []string{"instructions"}},
	{name: "extend_tools", places: onlyProvider, needs: []string{"tools"}},
	{name: "extend_middleware", places: onlyProvider, needs: []string{"middleware"}},
	{name: "state_set", places: onlyProvider, needs: []string{"key", "value"}},
	{name: "state_incr", places: onlyProvider, needs: []string{"key"}},
	{name: "metadata_set", places: onlyProvider, needs: []string{"key", "value"}},
	{name: "log_metadata", places: onlyProvider, needs: []string{"key"}},
	{name: "log_state", places: onlyProvider, needs: []string{"key"}},
	{name: "log_sources", places: onlyProvider},
	{name: "log_seen", places: onlyProvider},
	{name: "log_response", places: everywhere},
	{name: "fail", places: everywhere, needs: []string{"error"}},
	{name: "call_next", places: whatWraps, may: []string{"catch"}},
	{name: "set_messages", places: agentAndChat, needs: []string{"messages"}},
	{name: "append_message", places: agentAndChat, needs: []string{"message"}},
	{name: "set_arguments", places: []string{layerFunction}, needs: []string{"arguments"}},
	{name: "set_option", places: withoutFunction, needs: []string{"key", "value"}},
	{name: "set_result", places: whatWraps, needs: []string{"text"}},
	{name: "append_result", places: anyMiddleware, needs: []string{"text"}},
	{name: "terminate", places: anyMiddleware, may: []string{"text"}},
}

func opNames(place string) []string {
	var names []string
	for _, r := range opRules {
		if place == "" || slices.Contains(r.places, place) {
			names = append(names, r.name)
		}
	}
	return names
}

// readOp reads one operation that stands in the given place.
func readOp(f *faults, n *node, place string) Op {
	name := ""
	if op := n.byKey["op"]; op != nil {
		name = op.text
	}
	at := slices.IndexFunc(opRules, func(r opRule) bool { return r.name == name })
	if n.byKey == nil || n.byKey["op"] == nil || n.byKey["op"].raw.Kind() != '"' {
		o := f.object(n, n.names...)
		o.need("op")
		o.str("op")
		return Op{}
	}
	switch {
	case at < 0:
		f.add(n.at, "unknown op %q; %s", name, meant(name, opNames("")))
		return Op{}
	case !slices.Contains(opRules[at].places, place):
		f.add(n.at, "op %q cannot stand in %s; there may be %s", name, inWords(place), strings.Join(opNames(place), ", "))
		return Op{}
	}
	rule := opRules[at]
	keys := append([]string{"op"}, append(slices.Clone(rule.needs), rule.may...)...)
	isProvider := place == placeHook || place == placeProcess
	if isProvider {
		keys = append(keys, "when")
	}
	o := f.object(n, keys...)
	o.need(rule.needs...)
	op := Op{Name: name}
	for _, key := range append(slices.Clone(rule.needs), rule.may...) {
		switch key {
		case "text":
			op.Text = o.optional(key)
		case "key":
			op.Key = o.name(key)
		case "value":
			op.Value = o.rawValue(key, 0, "")
		case "error":
			op.Error = o.name(key)
		case "instructions":
			op.Instructions = o.strings(key)
		case "messages":
			op.Messages = listOf(o, key, readMessage)
		case "message":
			if m := o.byKey[key]; m != nil {
				read := readMessage(f, m)
				op.Message = &read
			}
		case "tools":
			op.Tools = listOf(o, key, readTool)
		case "middleware":
			op.Middleware = listOf(o, key, readMiddleware)
		case "arguments":
			op.Arguments = o.rawValue(key, '{', "an object")
		case "catch":
			op.Catch = o.boolean(key, false)
		}
	}
	if name == "set_option" && op.Key != "" && op.Value != nil {
		checkOption(f, n.at, op.Key, op.Value)
	}
	if w := o.byKey["when"]; w != nil && isProvider {
		when := f.object(w, "state")
		when.need("state")
		op.When.State = when.members("state")
	}
	return op
}

func checkOption(f *faults, at jsontext.Pointer, key string, value jsontext.Value) {
	if _, err := host.ParseOptions(objectOf(key, value)); err != nil {
		f.add(at, "%v", err)
	}
}

// objectOf is a JSON object of one member.
func objectOf(key string, value jsontext.Value) jsontext.Value {
	b, err := jsontext.AppendQuote([]byte("{"), key)
	if err != nil {
		return jsontext.Value("{}")
	}
	return append(append(append(b, ':'), value...), '}')
}

func inWords(place string) string {
	switch place {
	case placeHook:
		return "a provider's hook"
	case placeProcess:
		return "a provider's process"
	}
	return "middleware of the " + place + " layer"
}

func readProvider(f *faults, n *node) Provider {
	kind := KindScript
	if k := n.byKey["kind"]; k != nil {
		kind = Kind(k.text)
	}
	p := Provider{Kind: kind, Config: n.raw}
	switch kind {
	case KindHistory:
		readHistory(f, n, &p)
	case KindCompaction:
		o := f.object(n, "kind", "source_id", "history_source_id", "before", "after")
		p.SourceID = compaction.DefaultSourceID
		if o.has("source_id") {
			p.SourceID = o.name("source_id")
		}
		p.Compaction = compaction.Config{
			SourceID: p.SourceID, HistorySourceID: o.name("history_source_id"),
			Before: readStrategy(o, "before"), After: readStrategy(o, "after"),
		}
	default:
		o := f.object(n, append([]string{"kind", "source_id"}, hooks...)...)
		o.need("kind", "source_id")
		o.word("kind", "", string(KindScript), string(KindHistory), string(KindCompaction))
		o.either("process", "before_run")
		o.either("process", "after_run")
		p.SourceID, p.Script = o.name("source_id"), map[string][]Op{}
		for _, hook := range hooks {
			place := placeHook
			if hook == "process" {
				place = placeProcess
			}
			if ops := listOf(o, hook, func(f *faults, n *node) Op { return readOp(f, n, place) }); ops != nil {
				p.Script[hook] = ops
			}
		}
	}
	return p
}

func readHistory(f *faults, n *node, p *Provider) {
	o := f.object(n, "kind", "source_id", "load_messages", "store_inputs", "store_outputs", "store_context_messages",
		"store_context_from", "skip_excluded")
	p.SourceID = host.DefaultHistoryID
	if o.has("source_id") {
		p.SourceID = o.name("source_id")
	}
	p.History = host.HistoryConfig{
		SourceID: p.SourceID, SkipInputs: !o.boolean("store_inputs", true), SkipOutputs: !o.boolean("store_outputs", true),
		StoreContextMessages: o.boolean("store_context_messages", false), StoreContextFrom: o.strings("store_context_from"),
		LoadMessages: host.LoadAlways, SkipExcluded: o.boolean("skip_excluded", false),
	}
	switch load := o.byKey["load_messages"]; {
	case load == nil:
	case load.raw.Kind() == '"':
		p.History.LoadMessages = host.LoadMessages(o.word("load_messages", "", string(host.LoadAuto)))
	case !o.boolean("load_messages", true):
		p.History.LoadMessages = host.LoadNever
	}
}
