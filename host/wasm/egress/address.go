package egress

import (
	"net/netip"
	"slices"
)

// verdict says whether an address may be dialled.
type verdict int

const (
	public verdict = iota
	// special addresses are for rules that are Private.
	special
	// never is for nobody.
	never
)

// block is a range of addresses that is not the public internet.
type block struct {
	prefix  netip.Prefix
	verdict verdict
	name    string
}

func blockOf(prefix string, v verdict, name string) block {
	return block{netip.MustParsePrefix(prefix), v, name}
}

// blocks are from the registries of special-purpose addresses of IANA, and from the clouds' documentation. Those that are
// refused always come first, and the first one that holds an address counts.
var blocks = []block{
	blockOf("169.254.169.254/32", never, "a cloud's metadata address"),     // AWS, Azure, Google and most others
	blockOf("169.254.170.2/32", never, "a cloud's metadata address"),       // AWS ECS
	blockOf("169.254.170.23/32", never, "a cloud's metadata address"),      // AWS EKS
	blockOf("100.100.100.200/32", never, "a cloud's metadata address"),     // Alibaba
	blockOf("168.63.129.16/32", never, "a cloud's metadata address"),       // Azure
	blockOf("192.0.0.192/32", never, "a cloud's metadata address"),         // Oracle
	blockOf("fd00:ec2::254/128", never, "a cloud's metadata address"),      // AWS
	blockOf("fd00:ec2::23/128", never, "a cloud's metadata address"),       // AWS EKS
	blockOf("fd20:ce::254/128", never, "a cloud's metadata address"),       // Google
	blockOf("fd00:c1::a9fe:a9fe/128", never, "a cloud's metadata address"), // Oracle
	blockOf("0.0.0.0/8", never, "an unspecified address"),
	blockOf("::/128", never, "an unspecified address"),
	blockOf("224.0.0.0/4", never, "a multicast address"),
	blockOf("ff00::/8", never, "a multicast address"),
	blockOf("240.0.0.0/4", never, "a reserved address"), // and broadcast

	blockOf("127.0.0.0/8", special, "a loopback address"),
	blockOf("::1/128", special, "a loopback address"),
	blockOf("10.0.0.0/8", special, "a private address"),
	blockOf("172.16.0.0/12", special, "a private address"),
	blockOf("192.168.0.0/16", special, "a private address"),
	blockOf("fc00::/7", special, "a unique local address"),
	blockOf("fec0::/10", special, "a site-local address"),
	blockOf("169.254.0.0/16", special, "a link-local address"),
	blockOf("fe80::/10", special, "a link-local address"),
	blockOf("100.64.0.0/10", special, "an address shared by a carrier's customers"),
	blockOf("192.0.0.0/24", special, "an address for protocols"),
	blockOf("192.0.2.0/24", special, "an address for documentation"),
	blockOf("198.51.100.0/24", special, "an address for documentation"),
	blockOf("203.0.113.0/24", special, "an address for documentation"),
	blockOf("2001:db8::/32", special, "an address for documentation"),
	blockOf("3fff::/20", special, "an address for documentation"),
	blockOf("198.18.0.0/15", special, "an address for benchmarks"),
	blockOf("2001:2::/48", special, "an address for benchmarks"),
	blockOf("192.88.99.0/24", special, "a relay's address"),
	blockOf("64:ff9b:1::/48", special, "an address translated locally"),
	blockOf("100::/64", special, "an address for discarding"),
	blockOf("2001::/23", special, "an address for protocols"), // Teredo and others
	blockOf("5f00::/16", special, "an address for segment routing"),
}

// judge says whether an address may be dialled, and what it is where it is not public. An IPv6 address that stands for an
// IPv4 address is judged by both, and the worse counts.
func judge(address netip.Addr) (verdict, string) {
	address = address.Unmap().WithZone("") // No prefix contains an address with a zone.
	if !address.IsValid() {
		return never, "no address"
	}
	result, name := public, ""
	for _, b := range blocks {
		if b.prefix.Contains(address) {
			result, name = b.verdict, b.name
			break
		}
	}
	for _, inner := range embedded(address) {
		if v, n := judge(inner); v > result {
			result, name = v, "an IPv6 address for "+inner.String()+", "+n
		}
	}
	return result, name
}

var (
	sixToFour = netip.MustParsePrefix("2002::/16") // RFC 3056
	// lastFour have an IPv4 address in their last four bytes.
	lastFour = []netip.Prefix{
		netip.MustParsePrefix("::/96"),           // IPv4-compatible: RFC 4291, deprecated
		netip.MustParsePrefix("::ffff:0:0:0/96"), // IPv4-translated: RFC 2765
		netip.MustParsePrefix("64:ff9b::/96"),    // NAT64: RFC 6052
		netip.MustParsePrefix("64:ff9b:1::/48"),  // NAT64: RFC 8215
	}
)

// embedded are the IPv4 addresses that packets to an IPv6 address may be sent on to, for all kinds that it could be of.
func embedded(address netip.Addr) []netip.Addr {
	if !address.Is6() || address.IsLoopback() || address.IsUnspecified() {
		return nil
	}
	var inner []netip.Addr
	b := address.As16()
	if sixToFour.Contains(address) {
		inner = append(inner, netip.AddrFrom4([4]byte(b[2:6])))
	}
	isatap := b[8]&^2 == 0 && b[9] == 0 && b[10] == 0x5e && b[11] == 0xfe // RFC 5214
	if isatap || slices.ContainsFunc(lastFour, func(p netip.Prefix) bool { return p.Contains(address) }) {
		inner = append(inner, netip.AddrFrom4([4]byte(b[12:16])))
	}
	return inner
}
