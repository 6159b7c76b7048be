package snapshot

import (
	"bytes"
	"encoding/binary"
	"hash/adler32"
	"io"
	"runtime"
	"sync/atomic"

	"github.com/klauspost/compress/flate"
)

const (
	// minParallel is the size from which a content is compressed in blocks side by side.
	minParallel = 1 << 20
	// deflateBlock is the size of a block. What it loses by not seeing the block before it is
	// about a thousandth.
	deflateBlock = 512 << 10
	// largeContent is the size from which only the frequencies of bytes are made use of: a record
	// must not take longer than the write that it precedes, and this is ten times as fast as the
	// fastest level that looks for repetitions.
	largeContent = 4 << 20
)

// zlibHead begins a zlib stream (RFC 1950): 32 KiB window, fastest level; the two bytes as a number
// are a multiple of 31.
var zlibHead = []byte{0x78, 0x01}

// deflateParallel writes data as one zlib stream. Its blocks are compressed by several goroutines,
// each as a deflate stream of its own that ends at a byte's border (RFC 1951, a stored block without
// content), so that they can stand one behind the other.
func deflateParallel(w io.Writer, data []byte) error {
	compress := (*workspace).fast
	if len(data) >= largeContent {
		compress = (*workspace).large
	}
	if _, err := w.Write(zlibHead); err != nil {
		return err
	}
	workers := runtime.GOMAXPROCS(0)
	blocks := make(chan chan deflated, workers)
	used := make(chan *workspace, workers+2) // to be used again
	stop := make(chan struct{})
	defer close(stop)
	go produceBlocks(data, compress, blocks, used, stop)
	sum := uint32(1)
	for result := range blocks {
		d := <-result
		if d.err != nil {
			return d.err
		}
		if _, err := w.Write(d.in.out); err != nil {
			return err
		}
		sum = joinAdler32(sum, d.sum, d.size)
		select {
		case used <- d.in:
		default:
		}
	}
	_, err := w.Write(binary.BigEndian.AppendUint32(nil, sum))
	return err
}

// writeAhead is deflateParallel for a content that was begun with ahead. What is left of it is done
// side by side.
func writeAhead(w io.Writer, work *aheadWork) error {
	if _, err := w.Write(zlibHead); err != nil {
		return err
	}
	var stopped atomic.Bool
	defer stopped.Store(true)
	for range runtime.GOMAXPROCS(0) {
		go work.deflate(&stopped)
	}
	sum := uint32(1)
	for i := range work.blocks {
		b := &work.blocks[i]
		<-b.done
		if b.err != nil {
			return b.err
		}
		if _, err := w.Write(b.out); err != nil {
			return err
		}
		sum = joinAdler32(sum, b.sum, min(deflateBlock, len(work.data)-i*deflateBlock))
		b.out = nil
	}
	_, err := w.Write(binary.BigEndian.AppendUint32(nil, sum))
	return err
}

// deflated says what has become of a block of size bytes, and in which workspace it is; sum is its
// Adler-32.
type deflated struct {
	in   *workspace
	size int
	sum  uint32
	err  error
}

// workspace is what compressing a block takes up. out is the result.
type workspace struct {
	out []byte
	// byLevel holds the encoders that were used.
	byLevel map[int]*flate.Writer
}

// produceBlocks starts a goroutine for each block and hands on where its result will be, in order.
// The channel's capacity bounds how many are under way.
func produceBlocks(data []byte, compress func(*workspace, []byte, bool) error, blocks chan<- chan deflated, used <-chan *workspace, stop <-chan struct{}) {
	defer close(blocks)
	for len(data) > 0 {
		block := data[:min(deflateBlock, len(data))]
		data = data[len(block):]
		last := len(data) == 0
		result := make(chan deflated, 1)
		select {
		case blocks <- result:
		case <-stop:
			return
		}
		go func() {
			var in *workspace
			select {
			case in = <-used:
			default:
				in = new(workspace)
			}
			err := compress(in, block, last)
			result <- deflated{in, len(block), adler32.Checksum(block), err}
		}()
	}
}

// large compresses a block of a large content.
func (in *workspace) large(block []byte, last bool) error {
	return in.compress(block, last, flate.HuffmanOnly)
}

// fast compresses a block of any other.
func (in *workspace) fast(block []byte, last bool) error {
	return in.compress(block, last, flate.BestSpeed)
}

// compress ends the stream where the block is the last; if not, at the border of a byte.
func (in *workspace) compress(block []byte, last bool, level int) error {
	buf := bytes.NewBuffer(in.out[:0])
	buf.Grow(len(block)*2/3 + 64)
	w := in.byLevel[level]
	if w == nil {
		var err error
		if w, err = flate.NewWriter(buf, level); err != nil {
			return err
		}
		if in.byLevel == nil {
			in.byLevel = map[int]*flate.Writer{}
		}
		in.byLevel[level] = w
	} else {
		w.Reset(buf)
	}
	if _, err := w.Write(block); err != nil {
		return err
	}
	end := w.Flush
	if last {
		end = w.Close
	}
	err := end()
	in.out = buf.Bytes()
	return err
}

// joinAdler32 returns the Adler-32 (RFC 1950) of two texts one behind the other, from those of each
// and the size of the second.
func joinAdler32(first, second uint32, size int) uint32 {
	const mod = 65521
	a1, b1 := uint64(first&0xffff), uint64(first>>16)
	a2, b2 := uint64(second&0xffff), uint64(second>>16)
	a := (a1 + a2 + mod - 1) % mod
	b := (b1 + b2 + uint64(size)%mod*(a1+mod-1)) % mod
	return uint32(b<<16 | a)
}
