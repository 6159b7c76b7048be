package oxpatch

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/openoxide/oxpatch/textapply"
	"github.com/openoxide/oxpatch/textapply/envelope"
	"github.com/openoxide/oxpatch/textapply/udiff"
)

// MaxPatch bounds the size of one patch, in bytes; a larger one is ErrTooLarge. CompatCodex has no
// bound, as Codex has none.
const MaxPatch = 64 << 20

// malformedError is a patch that cannot be read. It is an ErrMalformed, or an ErrUnknownFormat
// where the input is not in any dialect.
type malformedError struct {
	problem Problem
	kind    error
	cause   error
}

func (e *malformedError) Error() string { return e.problem.String() }

func (e *malformedError) Unwrap() []error { return []error{e.kind, e.cause} }

// detect returns the dialect of a patch: the one asked for, or the one whose marker it holds.
func detect(data []byte, asked Format) (Format, error) {
	switch asked {
	case FormatEnvelope, FormatUnified:
		return asked, nil
	case FormatAuto:
		if bytes.Contains(data, []byte("*** Begin Patch")) {
			return FormatEnvelope, nil
		}
		if udiff.Looks(string(data)) {
			return FormatUnified, nil
		}
		return "", unknownFormat(data)
	}
	return "", &malformedError{kind: ErrUnknownFormat, problem: Problem{
		Severity: SeverityError, Kind: KindUsage, Message: fmt.Sprintf("unknown format %q", string(asked)),
		Hint: "known formats: envelope, udiff",
	}}
}

// unknownFormat says what was received instead of a patch.
func unknownFormat(data []byte) error {
	p := Problem{Severity: SeverityError, Kind: KindUnknownFormat,
		Hint: "a patch begins with the line *** Begin Patch and ends with *** End Patch, or is a unified diff"}
	switch {
	case len(data) == 0:
		p.Kind, p.Message = KindUsage, "there is no patch: the input is empty"
	case len(bytes.TrimSpace(data)) == 0:
		p.Message = "the patch is empty"
	case bytes.IndexByte(data, 0) >= 0:
		p.Message = "the input is binary, not a patch"
	default:
		p.Message = fmt.Sprintf("the input is not a patch; it begins with %q", firstLine(data))
	}
	return &malformedError{kind: ErrUnknownFormat, cause: ErrMalformed, problem: p}
}

func firstLine(data []byte) string {
	const most = 60
	line, _, _ := bytes.Cut(bytes.TrimSpace(data), []byte("\n"))
	if len(line) > most {
		return string(bytes.ToValidUTF8(line[:most], nil)) + "…"
	}
	return string(line)
}

// parse reads one input for placing by content.
func parse(in Input, req Request, compat Compat) (*textapply.Patch, error) {
	if len(in.Data) > MaxPatch && compat != CompatCodex {
		return nil, &malformedError{kind: ErrTooLarge, problem: Problem{
			Severity: SeverityError, Kind: KindTooLarge,
			Message: fmt.Sprintf("the patch has more than %d MiB", MaxPatch>>20),
			Hint:    "split the patch",
		}}
	}
	asked := req.Format
	if compat == CompatCodex {
		asked = FormatEnvelope
	}
	format, err := detect(in.Data, asked)
	if err != nil {
		return nil, named(err, in.Name)
	}
	if format == FormatUnified {
		return parseUnified(in)
	}
	mode := envelope.Tolerant
	switch {
	case req.Parse == ParseStrict:
		mode = envelope.Strict
	case compat == CompatCodex:
		mode = envelope.Lenient
	}
	patch, err := envelope.Parse(string(in.Data), mode)
	if err == nil {
		return patch, nil
	}
	err = malformed(err)
	var m *malformedError
	if errors.As(err, &m) && escapedBreaks(in.Data) {
		m.problem.Hint = `the line breaks of the patch are written as \n; send real line breaks`
	}
	return nil, named(err, in.Name)
}

// escapedBreaks reports whether an envelope came as the inside of a string, with its line breaks still
// escaped.
func escapedBreaks(data []byte) bool {
	return bytes.Contains(data, []byte(`*** Begin Patch\n`)) && !bytes.Contains(data, []byte("*** Begin Patch\n"))
}

// parseUnified reads a unified diff for placing by content.
func parseUnified(in Input) (*textapply.Patch, error) {
	patch, err := udiff.Parse(string(in.Data))
	if err == nil {
		return patch, nil
	}
	m := &malformedError{kind: ErrMalformed, cause: err, problem: Problem{Severity: SeverityError, Kind: KindMalformed, Message: err.Error()}}
	var pe *udiff.ParseError
	if errors.As(err, &pe) {
		m.problem.PatchLine, m.problem.Message = pe.Line, pe.Message
	}
	if errors.Is(err, udiff.ErrUnsupported) {
		m.kind, m.problem.Kind = ErrUnsupported, KindUnsupported
	}
	return nil, named(m, in.Name)
}

// malformed turns an error of the envelope parser into a problem.
func malformed(err error) error {
	p := Problem{Severity: SeverityError, Kind: KindMalformed, Message: err.Error()}
	var pe *envelope.ParseError
	if errors.As(err, &pe) {
		p.PatchLine, p.Message, p.Hint = pe.Line, lowerFirst(pe.Message), hintFor(err)
	}
	return &malformedError{kind: ErrMalformed, cause: err, problem: p}
}

// lowerFirst spells a sentence of Codex's as the messages here are spelled.
func lowerFirst(s string) string {
	if s == "" || s[0] < 'A' || s[0] > 'Z' {
		return s
	}
	return string(s[0]+'a'-'A') + s[1:]
}

// hintFor says how to mend an envelope that cannot be read.
func hintFor(err error) string {
	switch {
	case errors.Is(err, envelope.ErrBegin):
		return "send the envelope alone: its first line is *** Begin Patch, without text or a fence before it"
	case errors.Is(err, envelope.ErrEnd):
		return "end the envelope with the line *** End Patch, with nothing after it"
	case errors.Is(err, envelope.ErrHeader):
		return "a section begins with *** Add File: PATH, *** Delete File: PATH or *** Update File: PATH; lines of a new file begin with +"
	case errors.Is(err, envelope.ErrEmptySection), errors.Is(err, envelope.ErrEmptyChunk):
		return "an Update File section needs hunks: @@, then lines that begin with a blank, - or +"
	case errors.Is(err, envelope.ErrLine), errors.Is(err, envelope.ErrMarker):
		return "begin every line of a hunk with a blank (context), - (removed) or + (added), and every further hunk with @@"
	}
	return ""
}

// named puts the input's name into the error.
func named(err error, name string) error {
	var m *malformedError
	if name != "" && errors.As(err, &m) {
		m.problem.Input = name
	}
	return err
}
