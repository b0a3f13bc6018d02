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
}

// Grants are rights. Every plugin may read "input" and "response" and add "messages" of role user and "instructions";
// to ask for those is possible and changes nothing.
type Grants struct {
	// Read lists parts of the run: "input", "response", "options", "metadata", "context:SOURCE", "context:*".
	Read []string
	// Add lists effects: "messages", "instructions", "metadata".
	Add []string
	// Roles lists the roles that added messages may have.
	Roles []Role
	// Files lists folders that the plugin may read.
	Files []FileGrant
}

// FileGrant lets a plugin read one folder.
type FileGrant struct {
	// Guest is the path under which the plugin sees the folder: absolute, with slashes.
	Guest string
	// Mode is "ro", the only one there is; empty means the same.
	Mode string
}

// WriteJSON writes the description, with the version of the contract that this package speaks.
func (d Description) WriteJSON(w *json.Writer) {
	w.Object(func() {
		writeOptional(w, "name", d.Name)
		writeOptional(w, "version", d.Version)
		writeOptional(w, "description", d.Description)
		w.Name("abi").Int(ABI)
		writeOptional(w, "source_id", d.SourceID)
		if len(d.Requires) > 0 {
			w.Name("requires").Strings(d.Requires)
		}
		if d.ConfigSchema != "" {
			w.Name("config_schema").Raw(d.ConfigSchema)
		}
		if !d.Grants.empty() {
			w.Name("grants").Value(d.Grants)
		}
	})
}

func (g Grants) empty() bool {
	return len(g.Read) == 0 && len(g.Add) == 0 && len(g.Roles) == 0 && len(g.Files) == 0
}

// WriteJSON writes the rights.
func (g Grants) WriteJSON(w *json.Writer) {
	w.Object(func() {
		if len(g.Read) > 0 {
			w.Name("read").Strings(g.Read)
		}
		if len(g.Add) > 0 {
			w.Name("add").Strings(g.Add)
		}
		if len(g.Roles) > 0 {
			w.Name("roles").Array(func() {
				for _, role := range g.Roles {
					w.String(string(role))
				}
			})
		}
		if len(g.Files) > 0 {
			w.Name("files").Array(func() {
				for _, f := range g.Files {
					w.Value(f)
				}
			})
		}
	})
}

// WriteJSON writes the right to a folder.
func (f FileGrant) WriteJSON(w *json.Writer) {
	w.Object(func() {
		w.Name("guest").String(f.Guest)
		writeOptional(w, "mode", f.Mode)
	})
}

// ReadJSON reads rights as the host tells them to init.
func (g *Grants) ReadJSON(r *json.Reader) {
	for name := range r.Object() {
		switch name {
		case "read":
			g.Read = r.Strings()
		case "add":
			g.Add = r.Strings()
		case "roles":
			for _, role := range r.Strings() {
				g.Roles = append(g.Roles, Role(role))
			}
		case "files":
			for range r.Array() {
				var f FileGrant
				f.ReadJSON(r)
				g.Files = append(g.Files, f)
			}
		}
	}
}

// ReadJSON reads the right to a folder.
func (f *FileGrant) ReadJSON(r *json.Reader) {
	for name := range r.Object() {
		switch name {
		case "guest":
			f.Guest = r.String()
		case "mode":
			f.Mode = r.String()
		}
	}
}
