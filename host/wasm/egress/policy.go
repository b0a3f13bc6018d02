package egress

import (
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"slices"
	"strings"
	"time"
)

// Defaults of a Policy.
const (
	DefaultRedirects = 5
	DefaultBody      = 1 << 20
	DefaultTime      = 10 * time.Second
)

// defaultMethods are what a rule allows that names none.
var defaultMethods = []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"}

// Rule allows requests to one origin.
type Rule struct {
	// Origin is a scheme, a host and, where it is not the scheme's own, a port: https://api.example.com. See ParseOrigin.
	Origin string
	// Methods are the methods that are allowed. Default: GET, HEAD, POST, PUT, PATCH and DELETE. CONNECT and TRACE cannot be
	// allowed.
	Methods []string
	// Secrets name those secrets of the policy that may be put into headers of requests to this origin. Default: none.
	Secrets []string
	// Private says that the host may have a loopback, private, link-local or other special address. Default: no. Addresses
	// where clouds hand out credentials, multicast and unspecified ones are refused even so.
	Private bool
}

// Policy says what HTTP requests a plugin may make. The zero Policy allows none.
type Policy struct {
	// Rules are the origins that are allowed, each in one rule.
	Rules []Rule
	// Secrets are the values that requests may carry, by name. A name has letters, digits, _ and -.
	Secrets map[string]Secret
	// Redirects is how many redirects of one request are followed. 0 means DefaultRedirects. Where it is negative none is
	// followed, and a redirect is given to the guest as the answer.
	Redirects int
	// Body is how large the body of an answer may be, decompressed, in bytes. 0 means DefaultBody, and a negative one no limit.
	Body int64
	// Time is how long one request may take, redirects and the body of the answer included. 0 means DefaultTime, and a
	// negative one no limit but that of the request's context.
	Time time.Duration
	// Log gets a line at level warn for each request that is denied, without values of secrets. Default: nobody.
	Log *slog.Logger

	// TLS is for servers with certificates of their own. Default: the system's roots, TLS 1.2 and later.
	TLS *tls.Config
	// Resolver finds the addresses of hosts. Default: net.DefaultResolver.
	Resolver Resolver
	// Dial connects to host:port, where host is always an address that was checked. Default: a net.Dialer, which checks the
	// address once more at the socket. One that is set must connect to that address and no other.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
}

// Check returns a *PolicyError with everything that is wrong with the policy, or nil.
func (p Policy) Check() error {
	_, faults := p.read()
	if len(faults) > 0 {
		return &PolicyError{Faults: faults}
	}
	return nil
}

// grant is a rule that was read.
type grant struct {
	origin  Origin
	methods []string
	secrets []string
	private bool
}

// read reads the rules, and finds all faults of the policy.
func (p Policy) read() ([]grant, []Fault) {
	var faults []Fault
	for _, name := range slices.Sorted(maps.Keys(p.Secrets)) {
		faults = append(faults, checkSecret(name, p.Secrets[name])...)
	}
	var grants []grant
	first := map[Origin]int{}
	for i, rule := range p.Rules {
		where := fmt.Sprintf("http[%d]", i)
		g, found := p.readRule(where, rule)
		faults = append(faults, found...)
		if g.origin == (Origin{}) {
			continue
		}
		if earlier, ok := first[g.origin]; ok {
			faults = append(faults, Fault{
				Where: where + ".origin", What: fmt.Sprintf("%s has a rule already, http[%d]", g.origin, earlier), Remedy: "make one rule of the two",
			})
			continue
		}
		first[g.origin] = i
		grants = append(grants, g)
	}
	return grants, faults
}

func (p Policy) readRule(where string, rule Rule) (grant, []Fault) {
	var faults []Fault
	fault := func(key, remedy, format string, args ...any) {
		faults = append(faults, Fault{Where: where + key, What: fmt.Sprintf(format, args...), Remedy: remedy})
	}
	origin, bad := parseOrigin(rule.Origin)
	if bad != nil {
		fault(".origin", bad.Remedy, "%s", bad.What)
	} else if address, ok := origin.literal(); ok {
		switch v, name := judge(address); {
		case v == never:
			fault(".origin", "remove the rule: no rule can allow it", "%s is %s", address, name)
		case v == special && !rule.Private:
			fault(".origin", "add private: true, if that is meant", "%s is %s", address, name)
		}
	}
	methods := slices.Clone(defaultMethods)
	if len(rule.Methods) > 0 {
		methods = nil
	}
	for i, text := range rule.Methods {
		method := strings.ToUpper(text)
		switch {
		case !isToken(method):
			fault(fmt.Sprintf(".methods[%d]", i), "write one such as GET", "%s is no method", quoted(text))
		case method == "CONNECT" || method == "TRACE":
			fault(fmt.Sprintf(".methods[%d]", i), "remove it", "%s cannot be allowed", method)
		}
		methods = append(methods, method)
	}
	for i, name := range rule.Secrets {
		if _, ok := p.Secrets[name]; !ok {
			fault(fmt.Sprintf(".secrets[%d]", i), "give it a value, or remove the name", "there is no secret %s", quoted(name))
		}
	}
	if origin.Scheme == "http" && len(rule.Secrets) > 0 && !rule.Private {
		fault(".secrets", "use https, or add private: true for a server of your own network", "%s would be sent secrets that everybody on the way can read", origin)
	}
	return grant{origin: origin, methods: methods, secrets: slices.Clone(rule.Secrets), private: rule.Private}, faults
}

// grantLine is the line of a plugin's entry that has a rule for an origin, with a further key or without.
func grantLine(origin Origin, key string) string {
	text := origin.String()
	if strings.ContainsAny(text, "[]") { // which begin and end a list in YAML
		text = `"` + text + `"`
	}
	if key != "" {
		text += ", " + key
	}
	return "grant: {http: [{origin: " + text + "}]}"
}
