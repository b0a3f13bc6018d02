// Package egress is the policy for the HTTP requests that plugins make: who may be asked, with which secrets, and what of
// the answer a plugin gets to see.
//
//	client, err := egress.New(egress.Policy{
//		Rules:   []egress.Rule{{Origin: "https://api.example.com", Methods: []string{"GET"}, Secrets: []string{"api"}}},
//		Secrets: map[string]egress.Secret{"api": egress.NewSecret(key)},
//	})
//	if err != nil {
//		return err // every fault of the policy at once
//	}
//	defer client.CloseIdle()
//	m, err := e.Load(ctx, wasm, engine.Spec{Name: "weather", HTTP: client})
//
// Nothing is allowed that no rule allows. A [Client] sends to the origins of its rules, and what a guest wants to send is
// data from a stranger.
//
// # Origins
//
// A URL is parsed once. Scheme, host and port of what was parsed are normalised and compared with the rules, exactly; the
// request that goes out is made from the normalised origin and never from the guest's text. Each rule has connections of its
// own, which know no other address than the rule's. User and password in a URL, IPv4 addresses in other forms than four
// decimal numbers, and hosts that are not ASCII are refused.
//
// # Addresses
//
// A host is resolved by the host of the plugin, every address that it has is checked, and precisely one of these is dialled,
// so that a name which points to another place a moment later gains nothing. Loopback, private, link-local and other special
// addresses are refused, also where they hide in an IPv6 address, unless Rule.Private opens them. Addresses where clouds
// hand out credentials are refused always.
//
// # Requests
//
// There are no proxies from the environment, no cookies and no Referer, and no credentials are added but the secrets that the
// guest asks for. A guest may not set headers that belong to the connection (Host, Connection, Content-Length, Transfer-Encoding, TE, Trailer,
// Upgrade, Expect, Keep-Alive, HTTP2-Settings, Proxy-*), cookies (Cookie, Cookie2), what says where a request comes from
// (Forwarded, X-Forwarded-*, X-Real-IP), or what gives it another method (X-HTTP-Method, X-HTTP-Method-Override,
// X-Method-Override). Accept-Encoding is the client's: what a guest sets is replaced. The body of a request is read into
// memory, so its size is the caller's to bound.
//
// A redirect is a new request, to which all of this applies again. To another origin it takes no Authorization and no header
// that held a secret.
//
// # Secrets
//
// A guest has handles and no secrets: {{secret.NAME}} in the value of a header becomes the secret's value on its way out,
// where the rule of the origin lists NAME. Anywhere else it is refused. What comes back is searched for the values of all
// secrets of the policy (as they are, and as they stand in URLs, JSON, HTML, base64 and hex, in whatever case), and [hidden]
// is put in their place: in the body, in headers and in errors. That guards against servers that echo what they were sent.
// It does not guard against one that hands a secret out in pieces: who lists a secret for an origin trusts it with the secret.
//
// # Answers
//
// Body, headers and time of an answer are bounded, the body after it was decompressed. Set-Cookie is not given to the guest.
package egress
