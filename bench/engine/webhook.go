package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
)

// The work as a webhook: a process of its own that is called by HTTP/1.1 over loopback, on a connection that stays open.

// serveHTTP is the webhook's process. It says where it listens, and ends when its standard input does.
func serveHTTP() error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		input, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		output, err := beforeRun(input)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(output) // who called is gone
	})}
	fmt.Println("http://" + listener.Addr().String())
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		_ = server.Close()
	}()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// httpSession is a webhook's process and the client that calls it.
type httpSession struct {
	command *exec.Cmd
	stdin   io.Closer
	client  *http.Client
	url     string
}

func openHTTP(context.Context, guest) (session, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	s := &httpSession{command: exec.Command(self, childHTTP), client: &http.Client{Transport: &http.Transport{}, Timeout: budget}}
	s.command.Stderr = os.Stderr
	if s.stdin, err = s.command.StdinPipe(); err != nil {
		return nil, err
	}
	stdout, err := s.command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := s.command.Start(); err != nil {
		return nil, err
	}
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		return nil, errors.Join(fmt.Errorf("the webhook says nothing: %w", err), s.close(context.Background()))
	}
	s.url = strings.TrimSpace(line)
	return s, nil
}

func (s *httpSession) call(ctx context.Context, _ string, input []byte) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url, bytes.NewReader(input))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := s.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }() // it was read to its end
	output, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", response.Status, output)
	}
	return output, err
}

func (s *httpSession) close(context.Context) error {
	s.client.CloseIdleConnections()
	return errors.Join(s.stdin.Close(), s.command.Wait())
}
