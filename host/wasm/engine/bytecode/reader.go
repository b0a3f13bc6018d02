package bytecode

import (
	"errors"
	"fmt"
	"unicode/utf8"
)

var (
	errTruncated = errors.New("ends too early")
	errTooLong   = errors.New("number too long")
	errTooLarge  = errors.New("number larger than 32 bits")
)

// reader reads the bytes of a module. Positions are ints, so that no sum of two 32-bit numbers from the module can
// overflow.
type reader struct {
	data []byte
	pos  int
	end  int
}

func (r *reader) left() int { return r.end - r.pos }

func (r *reader) byte() (byte, error) {
	if r.pos >= r.end {
		return 0, errTruncated
	}
	b := r.data[r.pos]
	r.pos++
	return b, nil
}

func (r *reader) skip(n uint64) error {
	if n > uint64(r.left()) {
		return errTruncated
	}
	r.pos += int(n)
	return nil
}

func (r *reader) take(n uint32) ([]byte, error) {
	if uint64(n) > uint64(r.left()) {
		return nil, errTruncated
	}
	b := r.data[r.pos : r.pos+int(n)]
	r.pos += int(n)
	return b, nil
}

// u32 reads an unsigned LEB128 number of at most 32 bits. It may be longer than it needs to be, up to five bytes: linkers
// leave room that way.
func (r *reader) u32() (uint32, error) {
	n, err := r.leb(5)
	if err != nil {
		return 0, err
	}
	if n > 1<<32-1 {
		return 0, errTooLarge
	}
	return uint32(n), nil
}

// leb reads a LEB128 number of at most the given number of bytes, as unsigned.
func (r *reader) leb(bytes int) (uint64, error) {
	var n uint64
	for i := range bytes {
		b, err := r.byte()
		if err != nil {
			return 0, err
		}
		n |= uint64(b&0x7f) << (7 * i)
		if b&0x80 == 0 {
			return n, nil
		}
	}
	return 0, errTooLong
}

// blockType reads the type of a block: a signed number of 33 bits, an index or one of the negative numbers that stand for
// "nothing" and for the value types.
func (r *reader) blockType() (int64, error) {
	from := r.pos
	n, err := r.leb(5)
	if err != nil {
		return 0, err
	}
	if bits := 7 * (r.pos - from); bits < 33 {
		return int64(n) << (64 - bits) >> (64 - bits), nil
	}
	if high := n >> 32; high != 0 && high != 7 {
		return 0, errors.New("number larger than 33 bits")
	}
	return int64(n) << 31 >> 31, nil
}

func (r *reader) name() (string, error) {
	n, err := r.u32()
	if err != nil {
		return "", err
	}
	b, err := r.take(n)
	if err != nil {
		return "", err
	}
	if !utf8.Valid(b) {
		return "", errors.New("name that is not UTF-8")
	}
	return string(b), nil
}

// index reads an index that must be below n, which may be that of what.
func (r *reader) index(what string, n int) (uint32, error) {
	i, err := r.u32()
	if err == nil && int64(i) >= int64(n) {
		err = outOfRange(what, i, n)
	}
	return i, err
}

func outOfRange(what string, i uint32, n int) error {
	return fmt.Errorf("%s %d, and there are %d", what, i, n)
}

// vector calls each once for every element of a vector. Nothing is allocated from the count that the module claims:
// a count that is too high runs into the end of the section.
func (r *reader) vector(most uint32, each func() error) error {
	n, err := r.u32()
	if err != nil {
		return err
	}
	if n > most {
		return fmt.Errorf("claims %s elements, more than %s", count(n), count(most))
	}
	for range n {
		if err := each(); err != nil {
			return err
		}
	}
	return nil
}
