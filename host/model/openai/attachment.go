package openai

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/weft-run/weft/message"
)

// attachment is a URI content, looked into.
type attachment struct {
	mediaType string // in lower case, without parameters
	url       string // http:, https: or data:, the latter in base64
	data      string // what a data: URI carries, in base64; empty for others
}

// attach looks into a URI. Its errors name the content.
func attach(u message.URI) (attachment, error) {
	fault := func(err error) (attachment, error) {
		return attachment{}, fmt.Errorf("content %s of type %q cannot be sent: %w", shown(u.URI), u.MediaType, err)
	}
	scheme, rest, _ := strings.Cut(u.URI, ":")
	a := attachment{mediaType: bare(u.MediaType), url: u.URI}
	switch strings.ToLower(scheme) {
	case "http", "https":
	case "data":
		head, data, ok := strings.Cut(rest, ",")
		if !ok {
			return fault(errors.New("a data: URI has a comma before its data, and there is none"))
		}
		head, isBase64 := strings.CutSuffix(head, ";base64")
		if a.mediaType == "" {
			a.mediaType = bare(head)
		}
		if a.mediaType == "" {
			a.mediaType = "text/plain"
		}
		var err error
		if a.data, err = inBase64(data, isBase64); err != nil {
			return fault(err)
		}
		a.url = "data:" + a.mediaType + ";base64," + a.data
	default:
		return fault(errors.New("the service can fetch https: and http:, and is handed data: URIs; read it and give it as one"))
	}
	if a.mediaType == "" {
		return fault(errors.New("it has no media type, which tells images from files"))
	}
	return a, nil
}

// inBase64 is the data of a data: URI in base64.
func inBase64(data string, isBase64 bool) (string, error) {
	if strings.Contains(data, "%") {
		unescaped, err := url.PathUnescape(data)
		if err != nil {
			return "", errors.New("its data has a broken % escape")
		}
		data = unescaped
	}
	if !isBase64 {
		return base64.StdEncoding.EncodeToString([]byte(data)), nil
	}
	if _, err := base64.StdEncoding.DecodeString(data); err == nil {
		return data, nil
	}
	raw, err := base64.RawStdEncoding.DecodeString(data) // services want the padding
	if err != nil {
		return "", errors.New("its data is no base64")
	}
	return base64.StdEncoding.EncodeToString(raw), nil
}

func (a attachment) isImage() bool { return strings.HasPrefix(a.mediaType, "image/") }

func (a attachment) isAudio() bool { return strings.HasPrefix(a.mediaType, "audio/") }

// audioFormat is the protocol's name of the format; empty for one that it does not have.
func (a attachment) audioFormat() string {
	switch strings.TrimPrefix(a.mediaType, "audio/") {
	case "wav", "x-wav", "wave", "vnd.wave":
		return "wav"
	case "mpeg", "mp3":
		return "mp3"
	}
	return ""
}

// filename is a name for a file that came without one; services tell by its ending what is in it.
func (a attachment) filename() string {
	_, kind, _ := strings.Cut(a.mediaType, "/")
	switch a.mediaType {
	case "text/plain":
		kind = "txt"
	case "text/markdown":
		kind = "md"
	}
	return "file." + strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, kind)
}

// bare is a media type without its parameters.
func bare(mediaType string) string {
	mediaType, _, _ = strings.Cut(mediaType, ";")
	return strings.ToLower(strings.TrimSpace(mediaType))
}

// shown is a URI as an error may show it: not all of its data.
func shown(uri string) string {
	const most = 60
	if len(uri) <= most {
		return fmt.Sprintf("%q", uri)
	}
	return fmt.Sprintf("%q… (%d bytes)", uri[:most], len(uri))
}
