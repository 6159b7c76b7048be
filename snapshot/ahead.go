package snapshot

import (
	"hash/adler32"
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"
)

// maxAhead is how many bytes of contents are worked on ahead: what becomes of them is kept in memory
// until the record is put.
const maxAhead = 64 << 20

// Ahead does what a record needs of large contents while it is still being found out what the record
// is of: it names and compresses them, on a processor that has nothing else to do. It is an offer
// to Put, which looks for its contents there and does without what it does not find. It may be used
// by several goroutines.
type Ahead struct {
	stopped atomic.Bool
	mu      sync.Mutex
	size    int
	works   map[contentKey]*aheadWork
}

// NewAhead returns one that has nothing to do yet, or nil where there is but one processor.
func NewAhead() *Ahead {
	if runtime.GOMAXPROCS(0) < 2 {
		return nil
	}
	return &Ahead{works: map[contentKey]*aheadWork{}}
}

// Add begins to work on a content, which must not change any more. One that is not worth it is left
// to Put. A nil Ahead takes nothing.
func (a *Ahead) Add(content []byte) {
	if a == nil || len(content) < largeContent {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	key := keyOf(content)
	if a.works[key] != nil || a.size+len(content) > maxAhead {
		return
	}
	a.size += len(content)
	blocks := (len(content) + deflateBlock - 1) / deflateBlock
	w := &aheadWork{data: content, named: make(chan struct{}), blocks: make([]aheadBlock, blocks)}
	for i := range w.blocks {
		w.blocks[i].done = make(chan struct{})
	}
	a.works[key] = w
	go func() {
		w.id = hashObject(typeBlob, content)
		close(w.named)
		w.deflate(&a.stopped)
	}()
}

// Stop ends what is under way. It is for when no record will be put.
func (a *Ahead) Stop() {
	if a != nil {
		a.stopped.Store(true)
	}
}

// of returns the work on a content, or nil.
func (a *Ahead) of(content []byte) *aheadWork {
	if a == nil || len(content) < largeContent {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.works[keyOf(content)]
}

// take is of for who writes the content down, which can be done once.
func (a *Ahead) take(content []byte) *aheadWork {
	if a == nil || len(content) < largeContent {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	key := keyOf(content)
	w := a.works[key]
	if w != nil {
		delete(a.works, key)
		a.size -= len(content)
	}
	return w
}

// contentKey tells contents apart by where they stand: to compare them would cost as much as the work.
type contentKey struct {
	at   *byte
	size int
}

func keyOf(content []byte) contentKey { return contentKey{unsafe.SliceData(content), len(content)} }

// aheadWork is the work on one content, which is not compared with any other: the same bytes at
// another place are another work.
type aheadWork struct {
	data   []byte
	named  chan struct{} // closed when id is there
	id     oid
	next   atomic.Int64 // the next block to be compressed
	blocks []aheadBlock
}

type aheadBlock struct {
	done chan struct{} // closed when the others are there
	out  []byte
	sum  uint32
	err  error
}

// name waits for the content's name.
func (w *aheadWork) name() oid {
	<-w.named
	return w.id
}

// deflate compresses blocks until there are no more, or it is stopped; what was begun is completed.
// Several goroutines may do it.
func (w *aheadWork) deflate(stopped *atomic.Bool) {
	var in workspace
	for !stopped.Load() {
		i := int(w.next.Add(1)) - 1
		if i >= len(w.blocks) {
			return
		}
		block := w.data[i*deflateBlock : min((i+1)*deflateBlock, len(w.data))]
		b := &w.blocks[i]
		in.out = nil // it is kept
		b.err = in.large(block, i == len(w.blocks)-1)
		b.out = in.out
		b.sum = adler32.Checksum(block)
		close(b.done)
	}
}
