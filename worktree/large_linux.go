package worktree

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// largePage is the size of a large page where small ones have 4 KiB.
const largePage = 2 << 20

// makeContent makes room for a file's content. Where it is much the kernel is asked for large pages
// (madvise(2), MADV_HUGEPAGE): giving it out in small ones takes longer than reading a file into them.
func makeContent(size int64) []byte {
	content := make([]byte, size)
	if size < 2*largePage {
		return content
	}
	// Only pages that lie in it as a whole, so that it takes up no more than its size.
	from := -uintptr(unsafe.Pointer(unsafe.SliceData(content))) % largePage
	to := from + (uintptr(size)-from)/largePage*largePage
	_ = unix.Madvise(content[from:to], unix.MADV_HUGEPAGE) // kernels without large pages refuse, and do no harm
	return content
}
