package pdk

import "github.com/weft-run/weft/pdk/go/json"

// ABI is the version of the contract that this package speaks.
const ABI = 1

// Description is what a plugin says of itself before it is used. All of it is optional.
type Description struct {
	Name        string
	Version     string
	Description string
	// SourceID is the name that the provider gets where the operator gives none: snake_case.
	SourceID string
	// Requires lists features of the host without which the plugin cannot work.
	Requires []string
	// ConfigSchema is a JSON Schema that the config must meet. It may come from a file by go:embed.
	ConfigSchema json.Raw
	// Grants are the rights that the plugin asks for, beyond those that every plugin has.
	Grants Grants
	// Layers are those at which process can stand; none means any.
	Layers []Layer
	// StateVersion grows where the form of the plugin's state changes; see [MigrateState].
	StateVersion int
}

// WriteJSON writes the description, with the version of the contract that this package speaks.
func (d Description) WriteJSON(w *json.Writer) {
	w.Object(func() {
		writeOptional(w, "name", d.Name)
		writeOptional(w, "version", d.Version)
		writeOptional(w, "description", d.Description)
		w.Name("abi").Int(ABI)
		writeOptional(w, "source_id", d.SourceID)
		writeWords(w, "requires", d.Requires)
		writePart(w, "config_schema", d.ConfigSchema)
		if !d.Grants.empty() {
			w.Name("grants").Value(&d.Grants)
		}
		writeWords(w, "layers", d.Layers)
		if d.StateVersion != 0 {
			w.Name("state_version").Int(d.StateVersion)
		}
	})
}
