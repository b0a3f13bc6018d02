package wasm

import (
	"bytes"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/weft-run/weft/abi"
	"github.com/weft-run/weft/host/wasm/egress"
	"github.com/weft-run/weft/host/wasm/engine"
	"github.com/weft-run/weft/internal/strictjson"
)

// http makes the client of the requests that the plugin sends (clause HF-16); nil where it was granted no origin. The version
// that the plugin becomes closes its idle connections.
func (l *loader) http(grants abi.Grants) engine.HTTPClient {
	if len(grants.HTTP) == 0 {
		return nil
	}
	policy := egress.Policy{
		Secrets: l.config.Secrets, Body: l.config.Limits.HTTPBody, Time: l.config.Limits.HTTPTime,
		Log: l.config.Logger.With("plugin", l.name),
	}
	for i, h := range grants.HTTP {
		if h.OriginFrom != "" {
			l.fault("write the origin, such as origin: https://api.example.com",
				"grant: http[%d]: origin_from is for what a plugin asks for, and rights are given for an origin", i)
			return nil
		}
		policy.Rules = append(policy.Rules, egress.Rule{Origin: h.Origin, Methods: h.Methods, Secrets: h.Secrets, Private: h.Private})
	}
	client, err := egress.New(policy)
	if err == nil {
		return client
	}
	refused, ok := errors.AsType[*egress.PolicyError](err)
	if !ok {
		l.fault("", "grant: http: %v", err)
		return nil
	}
	for _, f := range refused.Faults {
		where := f.Where
		if !strings.HasPrefix(where, "secrets") {
			where = "grant: " + where
		}
		l.fault(f.Remedy, "%s: %s", where, f.What)
	}
	return nil
}

// closeIdle closes the connections that no request uses.
func closeIdle(client engine.HTTPClient) {
	if c, ok := client.(*egress.Client); ok {
		c.CloseIdle()
	}
}

// resolveOrigins puts into what a plugin asks for the origins of the URLs that its config holds (clause GRA-8), and writes all
// origins in their one form. Where the config names no URL, no origin is asked for. The error lists all that is wrong.
func resolveOrigins(asked abi.Grants, config []byte) (abi.Grants, error) {
	list := make([]abi.HTTPGrant, 0, len(asked.HTTP))
	var faults []error
	for i, h := range asked.HTTP {
		text, where := h.Origin, fmt.Sprintf("grants: http/%d/origin", i)
		if h.OriginFrom != "" {
			where = fmt.Sprintf("config: %s, of which its grants: http/%d/origin_from takes an origin", h.OriginFrom, i)
			value, err := memberText(config, h.OriginFrom)
			if err == nil && value == "" {
				continue
			}
			if err == nil {
				text, err = originIn(value)
			}
			if err != nil {
				faults = append(faults, fmt.Errorf("%s: %w", where, err))
				continue
			}
		}
		origin, err := egress.ParseOrigin(text)
		if err != nil {
			faults = append(faults, fmt.Errorf("%s: %w", where, err))
			continue
		}
		h.Origin, h.OriginFrom = origin.String(), ""
		list = append(list, h)
	}
	asked.HTTP = slices.Clip(list)
	return asked, errors.Join(faults...)
}

// originIn is scheme, host and port of a URL.
func originIn(text string) (string, error) {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" {
		return "", errors.New("it is no URL; one such as https://api.example.com/v1 was wanted") // its text may hold a key
	}
	return u.Scheme + "://" + u.Host, nil
}

// memberText is the text of a member of the config, which a path with dots names; empty where it is not set.
func memberText(config []byte, path string) (string, error) {
	value := jsontext.Value(bytes.TrimSpace(config))
	for name := range strings.SplitSeq(path, ".") {
		if value.Kind() != '{' {
			return "", nil
		}
		var member jsontext.Value
		for key, v := range strictjson.Split(value) {
			if key == name {
				member = v
			}
		}
		value = member
	}
	switch value.Kind() {
	case 0, 'n':
		return "", nil
	case '"':
		text, err := jsontext.AppendUnquote(nil, value)
		return string(text), err
	}
	return "", errors.New("a URL was wanted, and it is no text")
}
