package egress

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
)

// Origin is a scheme, a host and a port, in the one form that is compared. Origins are equal (==) where they are the same.
type Origin struct {
	// Scheme is http or https.
	Scheme string
	// Host is a name in lower case without a dot at its end, or an IP address without brackets.
	Host string
	// Port is never 0.
	Port uint16
}

// ParseOrigin reads an origin such as https://api.example.com or http://127.0.0.1:8080. Without a port, it is 443 for https
// and 80 for http. An origin has no user, path, query or fragment. Names are compared in lower case and without the dot at
// their end; one that is not ASCII is to be written in punycode.
func ParseOrigin(text string) (Origin, error) {
	origin, f := parseOrigin(text)
	if f != nil {
		return Origin{}, fmt.Errorf("%s: %s", f.What, f.Remedy)
	}
	return origin, nil
}

// parseOrigin is ParseOrigin, with a fault that says what and how to mend it.
func parseOrigin(text string) (Origin, *Fault) {
	fault := func(remedy, format string, args ...any) (Origin, *Fault) {
		return Origin{}, &Fault{What: fmt.Sprintf("origin %s ", quoted(text)) + fmt.Sprintf(format, args...), Remedy: remedy}
	}
	u, err := url.Parse(text)
	if err != nil {
		if whole := (*url.Error)(nil); errors.As(err, &whole) {
			err = whole.Err // Without the text, which is named already.
		}
		return fault("write scheme://host or scheme://host:port", "is no URL: %v", err)
	}
	origin, problem := originOf(u)
	if problem != nil {
		return fault(problem.remedy, "%s", problem.what)
	}
	if u.Path != "" || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" || strings.HasSuffix(text, "#") {
		return fault("write "+origin.String(), "has more than scheme, host and port")
	}
	return origin, nil
}

// String is the origin as a rule has it, without the port where it is the scheme's own.
func (o Origin) String() string {
	if o.Port == defaultPort(o.Scheme) {
		if strings.Contains(o.Host, ":") {
			return o.Scheme + "://[" + o.Host + "]"
		}
		return o.Scheme + "://" + o.Host
	}
	return o.Scheme + "://" + o.address()
}

// address is host:port.
func (o Origin) address() string { return net.JoinHostPort(o.Host, strconv.Itoa(int(o.Port))) }

// authority is what stands between // and the path.
func (o Origin) authority() string { return strings.TrimPrefix(o.String(), o.Scheme+"://") }

// literal is the address that the host is, where it is one.
func (o Origin) literal() (netip.Addr, bool) {
	address, err := netip.ParseAddr(o.Host)
	return address, err == nil
}

func defaultPort(scheme string) uint16 {
	if scheme == "https" {
		return 443
	}
	return 80
}

// problem is what keeps a URL from having an origin.
type problem struct{ what, remedy string }

// originOf is the origin of a URL that was parsed. It is the only place where the guest's text becomes an origin, and it
// knows one spelling of each: what other programs read in other ways is refused.
func originOf(u *url.URL) (Origin, *problem) {
	scheme := strings.ToLower(u.Scheme)
	switch {
	case scheme != "http" && scheme != "https":
		return Origin{}, &problem{"has the scheme " + quoted(u.Scheme) + " where http or https was wanted", "begin it with https://"}
	case u.User != nil:
		return Origin{}, &problem{"has a user or password before the host", "leave out all up to the @, and put credentials into a header"}
	case u.Opaque != "" || u.Host == "":
		return Origin{}, &problem{"has no host", "write " + scheme + "://host"}
	}
	host, problem := hostOf(u)
	if problem != nil {
		return Origin{}, problem
	}
	port, problem := portOf(u, scheme)
	if problem != nil {
		return Origin{}, problem
	}
	return Origin{Scheme: scheme, Host: host, Port: port}, nil
}

func portOf(u *url.URL, scheme string) (uint16, *problem) {
	text := u.Port()
	if text == "" {
		return defaultPort(scheme), nil
	}
	port, err := strconv.ParseUint(text, 10, 16)
	if err != nil || port == 0 {
		return 0, &problem{"has port " + quoted(text), "write a port from 1 to 65535, or none for the scheme's own"}
	}
	return uint16(port), nil
}

func hostOf(u *url.URL) (string, *problem) {
	if strings.HasPrefix(u.Host, "[") {
		return hostOfIPv6(u.Hostname())
	}
	host := strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
	if p := checkHost(host); p != nil {
		return "", p
	}
	if last := host[strings.LastIndexByte(host, '.')+1:]; looksNumeric(last) {
		address, err := netip.ParseAddr(host)
		if err != nil || !address.Is4() {
			return "", &problem{"has the host " + quoted(host) + ", an IPv4 address in an odd form", "write four decimal numbers, such as 192.0.2.1"}
		}
	}
	return host, nil
}

// hostOfIPv6 is the address in brackets. One that holds an IPv4 address becomes that address, as it does for who dials it.
func hostOfIPv6(text string) (string, *problem) {
	address, err := netip.ParseAddr(text)
	switch {
	case err != nil || address.Is4():
		return "", &problem{"has " + quoted(text) + " in brackets, which is no IPv6 address", "write an address such as [2001:db8::1]"}
	case address.Zone() != "":
		return "", &problem{"has an address with a zone", "leave out the % and what follows"}
	}
	return address.Unmap().String(), nil
}

// checkHost says why a name in lower case is none of a host.
func checkHost(host string) *problem {
	for _, r := range host {
		switch {
		case r == '*':
			return &problem{"has a wildcard", "name each host in a rule of its own"}
		case r > '~':
			return &problem{"has the host " + quoted(host) + ", which is not ASCII", "write it in punycode, as xn--…"}
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '-', r == '_', r == '.':
		default:
			return &problem{fmt.Sprintf("has %q in its host", r), "use letters, digits, dots and hyphens"}
		}
	}
	if len(host) > 253 {
		return &problem{fmt.Sprintf("has a host of %d characters", len(host)), "use 253 at most"}
	}
	for label := range strings.SplitSeq(host, ".") {
		if label == "" || len(label) > 63 {
			return &problem{"has a host with an empty part or one of more than 63 characters", "look for dots too many or too few"}
		}
	}
	return nil
}

// looksNumeric tells whether a name that ends in this part is taken for an IPv4 address by some program: 1, 0x7f, 0177.
func looksNumeric(label string) bool {
	if hex, ok := strings.CutPrefix(label, "0x"); ok {
		return strings.Trim(hex, "0123456789abcdef") == ""
	}
	return strings.Trim(label, "0123456789") == ""
}
