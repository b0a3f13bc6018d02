package egress

import (
	"bufio"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// chunk is how much of a body is searched for secrets at once.
const chunk = 32 << 10

// body is the body of an answer as the guest gets it: decompressed, bounded, without secrets.
type body struct {
	io.Reader
	from   io.Closer
	failed func(error) error // makes an error of reading one for the guest
	done   func()
}

func (b *body) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if err != nil && err != io.EOF { //nolint:errorlint // A reader's end is this very value.
		err = b.failed(err)
	}
	return n, err
}

// Close closes the connection's side, and gives back the time that the request had.
func (b *body) Close() error {
	err := b.from.Close()
	b.done()
	return err
}

// readable is the reader of a body, from the connection to the guest.
func (c *Client) readable(origin string, response *http.Response) (io.Reader, error) {
	tooLarge := &LimitError{Origin: origin, Limit: "HTTP body", Value: size(c.body), Option: "limits.http_body"}
	reader := io.Reader(response.Body)
	if response.Body == http.NoBody {
		return reader, nil
	}
	switch coding := strings.ToLower(strings.Join(response.Header.Values("Content-Encoding"), ",")); coding {
	case "", "identity":
	case "gzip", "x-gzip":
		if c.body >= 0 {
			// What decompresses to nothing could be sent without end. No encoder makes its input this much larger.
			reader = &capped{from: reader, left: c.body + c.body/64 + chunk, err: tooLarge}
		}
		reader = &unzipper{from: bufio.NewReader(reader)}
	default:
		return nil, fmt.Errorf("the answer of %s is encoded as %s, and only gzip was asked for: have the server send it plainly", origin, quoted(coding))
	}
	if c.body >= 0 {
		reader = &capped{from: reader, left: c.body, err: tooLarge}
	}
	if c.hider.longest > 0 {
		reader = &hiddenReader{from: reader, masker: masker{hider: c.hider}}
	}
	return reader, nil
}

// capped reads a number of bytes, and fails where there are more.
type capped struct {
	from io.Reader
	left int64
	err  error
}

func (r *capped) Read(p []byte) (int, error) {
	if r.left < 0 {
		return 0, r.err
	}
	if int64(len(p)) > r.left+1 {
		p = p[:r.left+1]
	}
	n, err := r.from.Read(p)
	if r.left -= int64(n); r.left < 0 {
		return n - 1, r.err
	}
	return n, err
}

// unzipper decompresses. An empty body is empty, whatever its encoding is said to be.
type unzipper struct {
	from *bufio.Reader
	zip  *gzip.Reader
}

func (u *unzipper) Read(p []byte) (int, error) {
	if u.zip == nil {
		if _, err := u.from.Peek(1); err != nil {
			return 0, err
		}
		zip, err := gzip.NewReader(u.from)
		if err != nil {
			return 0, err
		}
		u.zip = zip
	}
	return u.zip.Read(p)
}

// hiddenReader hides secrets in a stream. It gives out nothing that could be the beginning of one; where the stream fails,
// such a beginning is kept.
type hiddenReader struct {
	from   io.Reader
	masker masker
	src    []byte // read, and not decided about
	out    []byte // decided, and not given out
	err    error
}

func (r *hiddenReader) Read(p []byte) (int, error) {
	for len(r.out) == 0 {
		if r.err != nil {
			return 0, r.err
		}
		r.fill()
	}
	n := copy(p, r.out)
	r.out = r.out[n:]
	return n, nil
}

// fill reads a chunk and looks through it. Small pieces are collected, so that a server that sends byte by byte does not
// have the same text searched again with each.
func (r *hiddenReader) fill() {
	want := chunk + 2*r.masker.longest
	if cap(r.src) < want {
		r.src = append(make([]byte, 0, want), r.src...)
	}
	for len(r.src) < want && r.err == nil {
		var n int
		n, r.err = r.from.Read(r.src[len(r.src):want])
		r.src = r.src[:len(r.src)+n]
	}
	out, used := r.masker.mask(r.out[:0], r.src, r.err == io.EOF) //nolint:errorlint // A reader's end is this very value.
	r.out = out
	r.src = append(r.src[:0], r.src[used:]...)
}
