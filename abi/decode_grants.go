package abi

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/weft-run/weft/internal/strictjson"
	"github.com/weft-run/weft/message"
)

func readGrants(dec *jsontext.Decoder, unknown *int) (*Grants, error) {
	g := &Grants{}
	err := strictjson.Object(dec, unknown, func(name string) (bool, error) {
		var err error
		switch name {
		case "read":
			g.Read, err = strictjson.Strings(dec)
		case "add":
			g.Add, err = strictjson.Strings(dec)
		case "roles":
			var roles []string
			roles, err = strictjson.Strings(dec)
			for _, r := range roles {
				g.Roles = append(g.Roles, message.Role(r))
			}
		case "change":
			g.Change, err = strictjson.Strings(dec)
		case "middleware":
			g.Middleware, err = readLayers(dec)
		case "kv":
			g.KV, err = strictjson.Strings(dec)
		case "complete":
			g.Complete, err = readBudget(dec, unknown)
		case "embed":
			g.Embed, err = readBudget(dec, unknown)
		case "search":
			err = readList(dec, unknown, &g.Search, func(s *SearchGrant, name string) (bool, error) {
				return readText(dec, name, map[string]*string{"index": &s.Index, "mode": &s.Mode})
			})
		case "events":
			g.Events, err = strictjson.Strings(dec)
		case "http":
			err = readList(dec, unknown, &g.HTTP, func(h *HTTPGrant, name string) (bool, error) {
				var err error
				switch name {
				case "methods":
					h.Methods, err = strictjson.Strings(dec)
				case "secrets":
					h.Secrets, err = strictjson.Strings(dec)
				case "private":
					h.Private, err = strictjson.Bool(dec)
				default:
					return readText(dec, name, map[string]*string{"origin": &h.Origin, "origin_from": &h.OriginFrom})
				}
				return true, err
			})
		case "files":
			err = readList(dec, unknown, &g.Files, func(f *FileGrant, name string) (bool, error) {
				return readText(dec, name, map[string]*string{"guest": &f.Guest, "mode": &f.Mode})
			})
		default:
			// A right that this host does not know must not be passed over: the plugin counts on it.
			err = strictjson.Faultf(dec, "right %q is not known to this host; it knows %s", name, strings.Join(grantNames, ", "))
		}
		return true, err
	})
	if err == nil {
		err = g.Check()
	}
	return g, err
}

var grantNames = []string{
	"read", "add", "roles", "change", "middleware", "kv", "complete", "embed", "search", "events", "http", "files",
}

func readList[T any](dec *jsontext.Decoder, unknown *int, into *[]T, member func(*T, string) (bool, error)) error {
	return strictjson.Array(dec, func() error {
		var element T
		err := strictjson.Object(dec, unknown, func(name string) (bool, error) { return member(&element, name) })
		*into = append(*into, element)
		return err
	})
}

func readText(dec *jsontext.Decoder, name string, places map[string]*string) (bool, error) {
	place := places[name]
	if place == nil {
		return false, nil
	}
	var err error
	*place, err = strictjson.String(dec)
	return true, err
}

func readBudget(dec *jsontext.Decoder, unknown *int) (*Budget, error) {
	b := &Budget{}
	err := strictjson.Object(dec, unknown, func(name string) (bool, error) {
		var err error
		switch name {
		case "calls":
			b.Calls, err = strictjson.Int(dec)
		case "tokens":
			b.Tokens, err = strictjson.Int(dec)
		default:
			return false, nil
		}
		return true, err
	})
	return b, err
}

var indexForm = regexp.MustCompile(`^[a-z][a-z0-9_]{0,63}$`)

// Check reports rights that do not exist (clause GRA-6), all of them at once.
func (g *Grants) Check() error {
	c := grantCheck{}
	for _, r := range g.Read {
		if source, isContext := strings.CutPrefix(r, "context:"); !slices.Contains(ReadParts, r) && (!isContext || source == "") {
			c.fault(`read %q is not one of %s, "context:SOURCE", "context:*"`, r, strings.Join(ReadParts, ", "))
		}
	}
	words(&c, "add", g.Add, Additions)
	words(&c, "role", g.Roles, message.Roles)
	words(&c, "change", g.Change, Changes)
	words(&c, "middleware", g.Middleware, Layers)
	words(&c, "kv", g.KV, Scopes)
	words(&c, "events", g.Events, EventKind)
	c.budget("complete", g.Complete)
	c.budget("embed", g.Embed)
	for _, s := range g.Search {
		if !indexForm.MatchString(s.Index) {
			c.fault("search: index %q is not snake_case of at most 64 letters", s.Index)
		}
		if s.Mode != "" && !slices.Contains(Modes, s.Mode) {
			c.fault("search: mode %q of %s is not one of %s", s.Mode, s.Index, strings.Join(Modes, ", "))
		}
	}
	for _, h := range g.HTTP {
		switch {
		case h.Origin != "" && h.OriginFrom != "" || h.Origin == "" && h.OriginFrom == "":
			c.fault("http: an entry has one of origin and origin_from")
		case h.Origin != "":
			if why := badOrigin(h.Origin); why != "" {
				c.fault("http: origin %q %s; an origin is scheme, host and port, such as https://api.example.com", h.Origin, why)
			}
		}
	}
	for _, f := range g.Files {
		if !strings.HasPrefix(f.Guest, "/") {
			c.fault("files: guest %q is no absolute path, such as /docs", f.Guest)
		}
		if f.Mode != "" && !slices.Contains(Modes, f.Mode) {
			c.fault("files: mode %q of %s is not one of %s", f.Mode, f.Guest, strings.Join(Modes, ", "))
		}
	}
	if c.faults == nil {
		return nil
	}
	return &OutputError{Pointer: "", Reason: strings.Join(c.faults, "; ")}
}

type grantCheck struct{ faults []string }

func (c *grantCheck) fault(format string, args ...any) {
	c.faults = append(c.faults, fmt.Sprintf(format, args...))
}

func (c *grantCheck) budget(name string, b *Budget) {
	if b != nil && (b.Calls < 1 || b.Tokens < 1) {
		c.fault("%s: calls %d and tokens %d: both must be at least 1; leave %s out to give nothing", name, b.Calls, b.Tokens, name)
	}
}

func words[T ~string](c *grantCheck, list string, have, known []T) {
	for _, word := range have {
		if !slices.Contains(known, word) {
			c.fault("%s %q is not one of %s", list, string(word), joined(known))
		}
	}
}

// badOrigin says why a text is no origin; empty for one that is.
func badOrigin(text string) string {
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return "is no URL"
	case u.Scheme != "https" && u.Scheme != "http":
		return "begins with neither https:// nor http://"
	case strings.Contains(u.Host, "*"):
		return "has a wildcard, which names hosts that nobody looked at"
	case u.Hostname() == "":
		return "names no host"
	case u.User != nil:
		return "has a user"
	case u.Path != "" || u.RawQuery != "" || u.Fragment != "" || u.ForceQuery:
		return "has more than that"
	}
	return ""
}
