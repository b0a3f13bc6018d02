package config

import (
	"bytes"
	"errors"
	"os"
	"regexp"

	"github.com/weft-run/weft/host/wasm/egress"
	"github.com/weft-run/weft/internal/regularfile"
)

// Secret says where the value of a plugin's secret is: in a variable of the environment, or in a file. The value is asked
// for by [Config.Build].
type Secret struct {
	// Env is the variable; one without a name is none.
	Env Variable
	// File is the path of a file with the value alone. The end of its last line does not count.
	File string
	// Line and Column are where the secret is named.
	Line, Column int

	path string
}

// secretForm is the form of a secret's name: it stands in {{secret.NAME}}.
var secretForm = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// secretKeys are the keys of a secret.
var secretKeys = []key[Secret]{
	{"env", func(d *decoder, n *node, s *Secret) { s.Env, _ = d.variable(n) }},
	{"file", func(d *decoder, n *node, s *Secret) {
		name, ok := d.line(n, "the path of a file")
		if !ok {
			return
		}
		s.File = d.resolve(name)
		if info, err := os.Stat(s.File); err != nil {
			d.fault(n, "put the value into the file, or name another", "file %s cannot be used: %v", quotedPath(name), reason(err))
		} else if !info.Mode().IsRegular() {
			d.fault(n, "name the file with the value", "%s is no regular file", quotedPath(name))
		}
	}},
}

// readSecrets reads the secrets of a plugin. A value in the place of a secret is not repeated: it may be the secret itself.
func readSecrets(d *decoder, n *node, p *Plugin) {
	const example = "say where the value is, as in {env: API_KEY} or {file: api-key.txt}"
	p.Secrets = map[string]Secret{}
	if n.kind != kindMapping {
		d.fault(n, "write it as in {api_key: {env: API_KEY}}", "a mapping of secrets was wanted, and something else is there")
		return
	}
	d.byName(n, "a mapping of secrets", func(name string, n *node) {
		s := Secret{Line: n.line, Column: n.column, path: n.path}
		if !secretForm.MatchString(name) {
			d.fault(n, "use letters, digits, _ and -, 64 at most", "%q is no name of a secret", shortened(name))
		}
		if n.kind != kindMapping {
			d.fault(n, example, "a mapping of env or file was wanted, and something else is there")
			return
		}
		readMapping(d, n, secretKeys, &s)
		_, env := n.find("env")
		_, file := n.find("file")
		switch {
		case env && file:
			d.fault(n, "remove one of them", "the secret has both env and file")
		case !env && !file:
			d.fault(n, example, "the secret has neither env nor file")
		}
		p.Secrets[name] = s
	})
}

// largestSecret is how much of a file is read for a secret.
const largestSecret = 16 << 10

// secrets asks for the values of a plugin's secrets. What is missing goes to c; no value does.
func (c *collector) secrets(p *Plugin, getenv func(string) string) map[string]egress.Secret {
	values := map[string]egress.Secret{}
	for name, s := range p.Secrets {
		var text string
		if s.Env.Name != "" {
			if text = c.value(s.Env, getenv, "the secret "+name); text == "" {
				continue
			}
		} else {
			data, err := regularfile.Read(s.File, largestSecret)
			if err != nil {
				c.causes = append(c.causes, err)
				c.add(s.Line, s.Column, s.path, "", "file %s, which holds the secret %s, cannot be read: %v", quotedPath(s.File), name, reason(err))
				continue
			}
			text = string(bytes.TrimRight(data, "\r\n"))
		}
		values[name] = egress.NewSecret(text)
		var refused *egress.PolicyError
		if errors.As((egress.Policy{Secrets: map[string]egress.Secret{name: values[name]}}).Check(), &refused) {
			for _, f := range refused.Faults {
				c.add(s.Line, s.Column, s.path, f.Remedy, "secret %s: %s", name, f.What)
			}
		}
	}
	return values
}
