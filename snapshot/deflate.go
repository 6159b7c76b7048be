package snapshot

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"hash/adler32"
	"io"
	"runtime"
)

const (
	// minParallel is the size from which a content is compressed in blocks side by side.
	minParallel = 1 << 20
	// deflateBlock is the size of a block. What it loses by not seeing the block before it is
	// about a thousandth.
	deflateBlock = 512 << 10
	// largeContent is the size from which only the frequencies of bytes are made use of: a record
	// must not take longer than the write that it precedes, and this is four times as fast as the
	// fastest level that looks for repetitions.
	largeContent = 4 << 20
)

// deflateParallel writes data as one zlib stream (RFC 1950). Its blocks are compressed by several
// goroutines, each as a deflate stream of its own that ends at a byte's border (RFC 1951, a stored
// block without content), so that they can stand one behind the other.
func deflateParallel(w io.Writer, data []byte) error {
	level := flate.BestSpeed
	if len(data) >= largeContent {
		level = flate.HuffmanOnly
	}
	// 32 KiB window, fastest level; the two bytes as a number are a multiple of 31.
	if _, err := w.Write([]byte{0x78, 0x01}); err != nil {
		return err
	}
	blocks := make(chan chan deflated, runtime.GOMAXPROCS(0))
	stop := make(chan struct{})
	defer close(stop)
	go produceBlocks(data, level, blocks, stop)
	for result := range blocks {
		d := <-result
		if d.err != nil {
			return d.err
		}
		if _, err := w.Write(d.out); err != nil {
			return err
		}
	}
	_, err := w.Write(binary.BigEndian.AppendUint32(nil, adler32.Checksum(data)))
	return err
}

type deflated struct {
	out []byte
	err error
}

// produceBlocks starts a goroutine for each block and hands on where its result will be, in order.
// The channel's capacity bounds how many are under way.
func produceBlocks(data []byte, level int, blocks chan<- chan deflated, stop <-chan struct{}) {
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
			out, err := deflateOne(block, level, last)
			result <- deflated{out, err}
		}()
	}
}

func deflateOne(block []byte, level int, last bool) ([]byte, error) {
	var buf bytes.Buffer
	buf.Grow(len(block)*2/3 + 64)
	w, err := flate.NewWriter(&buf, level)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(block); err != nil {
		return nil, err
	}
	if last {
		err = w.Close()
	} else {
		err = w.Flush()
	}
	return buf.Bytes(), err
}
