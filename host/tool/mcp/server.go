package mcp

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/weft-run/weft/host"
)

var (
	// ErrConnection is returned where there is no connection to the server, and making one anew did not help or was not
	// allowed.
	ErrConnection = errors.New("no connection to the MCP server")
	// ErrClosed is returned after Close.
	ErrClosed = errors.New("the MCP server was closed")
	// ErrList is returned where the server's list of tools has no end, or is too long.
	ErrList = errors.New("bad list of tools")
	// ErrResultTooLarge is returned for a result beyond [Config.MaxResult].
	ErrResultTooLarge = errors.New("result too large")
)

// Server is a connection to an MCP server, and the source of its tools. It is safe for use by many goroutines.
type Server struct {
	config Config
	// life ends with Close.
	life    context.Context
	end     context.CancelFunc
	closing sync.WaitGroup // links that are being closed

	// busy is held by who connects or lists. It is a channel, so that one can stop waiting for it.
	busy chan struct{}
	// changes counts how often the list of tools may have changed.
	changes atomic.Int64

	mu     sync.Mutex
	link   *link
	tools  []host.Tool
	listed int64 // the changes that tools are as of; -1 for none
	told   map[string]bool
}

var _ host.ToolSource = (*Server)(nil)

// Connect starts the program or reaches the endpoint, and reads the list of tools. The connection does not end with ctx
// but with [Server.Close], which is to be called.
func Connect(ctx context.Context, c Config) (*Server, error) {
	c, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	life, end := context.WithCancel(context.Background())
	s := &Server{config: c, life: life, end: end, busy: make(chan struct{}, 1), listed: -1, told: map[string]bool{}}
	if _, err := s.Tools(ctx); err != nil {
		_ = s.Close() // which never fails
		return nil, err
	}
	return s, nil
}

// SourceID is the configured one.
func (s *Server) SourceID() string { return s.config.SourceID }

// Close ends the connection, and a program that was started for it. Calls that are under way end with [ErrClosed]. It
// returns when all is over, and may be called again.
func (s *Server) Close() error {
	s.end()
	s.mu.Lock()
	l := s.link
	s.link = nil
	s.mu.Unlock()
	if l != nil {
		l.close()
	}
	s.busy <- struct{}{} // whoever is connecting sees that life ended
	<-s.busy
	s.closing.Wait()
	return nil
}

// Tools returns the server's tools. They are kept until the server says that its list changed, or the connection broke.
func (s *Server) Tools(ctx context.Context) ([]host.Tool, error) {
	if tools, fresh := s.kept(); fresh {
		return tools, nil
	}
	ctx, cancel := s.bounded(ctx, s.config.ConnectTimeout)
	defer cancel()
	if err := s.lock(ctx); err != nil {
		return nil, s.failed(ctx, "list its tools", err)
	}
	defer s.unlock()
	if tools, fresh := s.kept(); fresh { // somebody else did it meanwhile
		return tools, nil
	}
	var tools []host.Tool
	var as int64
	err := s.try(ctx, true, s.dial, func(ctx context.Context, session *sdk.ClientSession) (err error) {
		as = s.changes.Load() // a change while the list is read is for the next time
		tools, err = s.list(ctx, session)
		return err
	})
	if err != nil {
		return nil, s.failed(ctx, "list its tools", err)
	}
	s.mu.Lock()
	s.tools, s.listed = tools, as
	s.mu.Unlock()
	return slices.Clone(tools), nil
}

// kept are the tools as last listed, if that is still what the server has.
func (s *Server) kept() ([]host.Tool, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.link == nil || s.link.broken() || s.listed != s.changes.Load() {
		return nil, false
	}
	return slices.Clone(s.tools), true
}

func (s *Server) lock(ctx context.Context) error {
	select {
	case s.busy <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *Server) unlock() { <-s.busy }

// attempt is one use of a connection.
type attempt func(ctx context.Context, session *sdk.ClientSession) error

// try uses the connection that there is, or a new one. Where it breaks meanwhile, a new one is made, once, if what was
// tried may be repeated.
func (s *Server) try(ctx context.Context, repeat bool, connect func(context.Context) (*link, error), use attempt) error {
	for again := false; ; again = true {
		l, err := connect(ctx)
		if err != nil {
			return err
		}
		err = use(ctx, l.session)
		if err == nil || ctx.Err() != nil || !isBroken(err) {
			return err
		}
		s.drop(l)
		switch {
		case again:
			return fmt.Errorf("%w: it broke twice: %w%s", ErrConnection, s.config.HTTP.unnamed(err), l.lastWords())
		case !repeat:
			return fmt.Errorf("%w: it broke during the call, which may have been carried out and was not repeated, because the server does not say that this is safe: %w%s",
				ErrConnection, s.config.HTTP.unnamed(err), l.lastWords())
		}
	}
}

// connected is the connection that there is, or a new one.
func (s *Server) connected(ctx context.Context) (*link, error) {
	s.mu.Lock()
	l := s.link
	s.mu.Unlock()
	if l != nil && !l.broken() {
		return l, nil
	}
	if err := s.lock(ctx); err != nil {
		return nil, err
	}
	defer s.unlock()
	return s.dial(ctx)
}

// dial is connected for those who hold busy.
func (s *Server) dial(ctx context.Context) (*link, error) {
	s.mu.Lock()
	l := s.link
	s.mu.Unlock()
	if l != nil && !l.broken() {
		return l, nil
	}
	if l != nil {
		s.drop(l)
	}
	if s.life.Err() != nil { // before ctx ends, which is told aside
		return nil, ErrClosed
	}
	ctx, cancel := context.WithTimeout(ctx, s.config.ConnectTimeout)
	defer cancel()
	l, err := s.newLink(ctx)
	if err != nil {
		return nil, err
	}
	s.changes.Add(1) // a new process may have other tools
	s.mu.Lock()
	closed := s.life.Err() != nil
	if !closed {
		s.link = l
	}
	s.mu.Unlock()
	if closed {
		l.close()
		return nil, s.life.Err()
	}
	return l, nil
}

// drop forgets a connection that broke, and cleans up after it aside.
func (s *Server) drop(l *link) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.link == l {
		s.link = nil
	}
	if s.life.Err() == nil { // else Close may be past its waiting
		s.closing.Go(l.close)
	} else {
		go l.close()
	}
}

// bounded is ctx with a time limit, ended by Close too.
func (s *Server) bounded(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("%w: no answer within %s", host.ErrTimeout, limit))
	stop := context.AfterFunc(s.life, cancel)
	return ctx, func() {
		stop()
		cancel()
	}
}

// failed says what an error means to the caller: that Close was called, that the time is over, or what it is.
func (s *Server) failed(ctx context.Context, task string, err error) error {
	switch {
	case s.life.Err() != nil:
		err = ErrClosed
	case ctx.Err() != nil:
		err = context.Cause(ctx)
	}
	return fmt.Errorf("mcp server %q: cannot %s: %w", s.config.SourceID, task, err)
}
