package sodafountain

import (
	"crypto/rand"
	"fmt"
)

// secret keeps a text out of printed output: a printed struct shows an address instead. A nil secret is unset.
type secret func() string

func newSecret(text string) secret {
	return func() string { return text }
}

// newRequestID returns a random UUID (version 4).
func newRequestID() string {
	var id [16]byte
	_, _ = rand.Read(id[:]) // never fails
	id[6] = id[6]&0x0f | 0x40
	id[8] = id[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:])
}
