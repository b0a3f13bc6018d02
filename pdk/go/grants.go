package pdk

import "github.com/weft-run/weft/pdk/go/json"

// Grants are rights. Every plugin may read "input" and "response" and add "messages" of role user and "instructions";
// to ask for those is possible and changes nothing.
type Grants struct {
	// Read lists parts of the run: "input", "response", "options", "metadata", "request", "calls", "context:SOURCE",
	// "context:*".
	Read []string
	// Add lists effects that add: "messages", "instructions", "metadata", "tools".
	Add []string
	// Roles lists the roles that added messages may have.
	Roles []Role
	// Change lists effects that change what others made: "messages", "options", "arguments", "result".
	Change []string
	// Middleware lists the layers at which process may stand.
	Middleware []Layer
	// KV lists the scopes of storage; see [KV].
	KV []Scope
	// Complete and Embed are what the plugin may ask of the host's model in one run; nil for nothing. See [Complete] and
	// [Embed].
	Complete, Embed *Budget
	// Search lists indexes; see [Search].
	Search []SearchGrant
	// Events lists "emit" and "request"; see [Emit] and [Request].
	Events []string
	// HTTP lists origins; see [HTTP].
	HTTP []HTTPGrant
	// Files lists folders that the plugin may read, or change as well.
	Files []FileGrant
}

// Budget bounds what a plugin asks of the host's model in one run. Both numbers are at least 1.
type Budget struct {
	Calls  int
	Tokens int
}

// SearchGrant lets a plugin search an index.
type SearchGrant struct {
	Index string
	// Mode is "ro", or "rw" to change the index as well; empty means "ro".
	Mode string
}

// HTTPGrant lets a plugin send requests to one origin.
type HTTPGrant struct {
	// Origin is scheme, host and port, such as https://api.example.com.
	Origin string
	// OriginFrom, in place of Origin, names the member of the config that holds a URL of the origin.
	OriginFrom string
	// Methods lists methods; none means all.
	Methods []string
	// Secrets lists the secrets that may go into headers to this origin.
	Secrets []string
	// Private lets the origin be on a private or loopback address.
	Private bool
}

// FileGrant lets a plugin read one folder, or change it as well.
type FileGrant struct {
	// Guest is the path under which the plugin sees the folder: absolute, with slashes.
	Guest string
	// Mode is "ro", or "rw" to make, write, rename and remove files and folders in it; empty means "ro".
	Mode string
}

func (g *Grants) empty() bool {
	return len(g.Read) == 0 && len(g.Add) == 0 && len(g.Roles) == 0 && len(g.Change) == 0 && len(g.Middleware) == 0 &&
		len(g.KV) == 0 && g.Complete == nil && g.Embed == nil && len(g.Search) == 0 && len(g.Events) == 0 &&
		len(g.HTTP) == 0 && len(g.Files) == 0
}

// WriteJSON writes the rights.
func (g *Grants) WriteJSON(w *json.Writer) {
	w.Object(func() {
		writeWords(w, "read", g.Read)
		writeWords(w, "add", g.Add)
		writeWords(w, "roles", g.Roles)
		writeWords(w, "change", g.Change)
		writeWords(w, "middleware", g.Middleware)
		writeWords(w, "kv", g.KV)
		if g.Complete != nil {
			w.Name("complete").Value(g.Complete)
		}
		if g.Embed != nil {
			w.Name("embed").Value(g.Embed)
		}
		if len(g.Search) > 0 {
			w.Name("search")
			writeAll(w, g.Search)
		}
		writeWords(w, "events", g.Events)
		if len(g.HTTP) > 0 {
			w.Name("http")
			writeAll(w, g.HTTP)
		}
		if len(g.Files) > 0 {
			w.Name("files")
			writeAll(w, g.Files)
		}
	})
}

// WriteJSON writes the budget.
func (b *Budget) WriteJSON(w *json.Writer) {
	w.Object(func() {
		w.Name("calls").Int(b.Calls)
		w.Name("tokens").Int(b.Tokens)
	})
}

// WriteJSON writes the right to an index.
func (s *SearchGrant) WriteJSON(w *json.Writer) {
	w.Object(func() {
		w.Name("index").String(s.Index)
		writeOptional(w, "mode", s.Mode)
	})
}

// WriteJSON writes the right to an origin.
func (h *HTTPGrant) WriteJSON(w *json.Writer) {
	w.Object(func() {
		writeOptional(w, "origin", h.Origin)
		writeOptional(w, "origin_from", h.OriginFrom)
		writeWords(w, "methods", h.Methods)
		writeWords(w, "secrets", h.Secrets)
		writeTrue(w, "private", h.Private)
	})
}

// WriteJSON writes the right to a folder.
func (f *FileGrant) WriteJSON(w *json.Writer) {
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
			g.Roles = readWords[Role](r)
		case "change":
			g.Change = r.Strings()
		case "middleware":
			g.Middleware = readWords[Layer](r)
		case "kv":
			g.KV = readWords[Scope](r)
		case "complete":
			g.Complete = &Budget{}
			g.Complete.ReadJSON(r)
		case "embed":
			g.Embed = &Budget{}
			g.Embed.ReadJSON(r)
		case "search":
			g.Search = appendList(g.Search, r)
		case "events":
			g.Events = r.Strings()
		case "http":
			g.HTTP = appendList(g.HTTP, r)
		case "files":
			g.Files = appendList(g.Files, r)
		}
	}
}

// ReadJSON reads a budget.
func (b *Budget) ReadJSON(r *json.Reader) {
	for name := range r.Object() {
		switch name {
		case "calls":
			b.Calls = r.Int()
		case "tokens":
			b.Tokens = r.Int()
		}
	}
}

// ReadJSON reads the right to an index.
func (s *SearchGrant) ReadJSON(r *json.Reader) {
	for name := range r.Object() {
		switch name {
		case "index":
			s.Index = r.String()
		case "mode":
			s.Mode = r.String()
		}
	}
}

// ReadJSON reads the right to an origin.
func (h *HTTPGrant) ReadJSON(r *json.Reader) {
	for name := range r.Object() {
		switch name {
		case "origin":
			h.Origin = r.String()
		case "origin_from":
			h.OriginFrom = r.String()
		case "methods":
			h.Methods = r.Strings()
		case "secrets":
			h.Secrets = r.Strings()
		case "private":
			h.Private = r.Bool()
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
