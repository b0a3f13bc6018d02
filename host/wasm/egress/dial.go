package egress

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"syscall"
	"time"
)

const (
	// dialTime is how long it may take to reach a host, at all of its addresses together. The dial is not the request's own:
	// another one may get the connection, so the request's deadline does not end it.
	dialTime = 10 * time.Second
	// dialLeast is what each address gets, however many there are.
	dialLeast = 2 * time.Second
	// dialMost is how many addresses are tried. All are checked.
	dialMost = 8
)

// Resolver finds the addresses of a host. *net.Resolver is one.
type Resolver interface {
	// LookupNetIP returns the addresses of a host; network is always "ip".
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// dialer reaches one origin, and nothing else.
type dialer struct {
	origin   Origin
	private  bool
	resolver Resolver
	connect  func(ctx context.Context, network, address string) (net.Conn, error)
}

func newDialer(origin Origin, private bool, p Policy) *dialer {
	d := &dialer{origin: origin, private: private, resolver: p.Resolver, connect: p.Dial}
	if d.resolver == nil {
		d.resolver = net.DefaultResolver
	}
	if d.connect == nil {
		d.connect = (&net.Dialer{ControlContext: d.control}).DialContext
	}
	return d
}

// dial connects to the origin. What the transport takes for its address is not looked at, so that no way of writing a URL
// leads elsewhere.
func (d *dialer) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTime)
	defer cancel()
	addresses, err := d.addresses(ctx)
	if err != nil {
		return nil, err
	}
	for i, address := range addresses {
		conn, fault := d.try(ctx, address, len(addresses)-i)
		switch {
		case fault == nil:
			return conn, nil
		case err == nil:
			err = fault
		default:
			err = fmt.Errorf("%w; %w", err, fault)
		}
	}
	return nil, err
}

// try connects to one address, within its share of the time that is left.
func (d *dialer) try(ctx context.Context, address netip.Addr, left int) (net.Conn, error) {
	deadline, _ := ctx.Deadline()
	share := max(time.Until(deadline)/time.Duration(left), dialLeast)
	ctx, cancel := context.WithTimeout(ctx, share)
	defer cancel()
	return d.connect(ctx, "tcp", netip.AddrPortFrom(address, d.origin.Port).String())
}

// addresses are those of the host, every one of them checked. One that is not allowed spoils them all: a name that has both
// kinds is set up wrong or made to deceive.
func (d *dialer) addresses(ctx context.Context) ([]netip.Addr, error) {
	if address, ok := d.origin.literal(); ok {
		return []netip.Addr{address}, d.check(address)
	}
	addresses, err := d.resolver.LookupNetIP(ctx, "ip", d.origin.Host)
	if err != nil {
		return nil, err
	}
	if len(addresses) == 0 {
		return nil, fmt.Errorf("%s has no addresses", d.origin.Host)
	}
	checked := make([]netip.Addr, len(addresses))
	for i, address := range addresses {
		checked[i] = address.Unmap()
		if err := d.check(checked[i]); err != nil {
			return nil, err
		}
	}
	return checked[:min(len(checked), dialMost)], nil
}

// check refuses an address that the rule does not open.
func (d *dialer) check(address netip.Addr) error {
	v, name := judge(address)
	if v == public || v == special && d.private {
		return nil
	}
	e := &DeniedError{Origin: d.origin.String(), Reason: fmt.Sprintf("its address %s is %s", address, name)}
	if v == special {
		e.Remedy = "if that is meant, add " + grantLine(d.origin, "private: true")
	} else {
		e.Remedy = "ask another host: no rule can allow this one"
	}
	return e
}

// control sees the address of a socket before it connects. It is the last word: whatever chose the address, this one is
// checked.
func (d *dialer) control(_ context.Context, _, address string, _ syscall.RawConn) error {
	target, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("dial %s: %w", address, err)
	}
	return d.check(target.Addr())
}
