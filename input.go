package oxpatch

import (
	"errors"
	"fmt"

	"github.com/openoxide/oxpatch/gitapply"
	"github.com/openoxide/oxpatch/textapply"
	"github.com/openoxide/oxpatch/textapply/udiff"
)

// usesGit says whether git places the patch: as the mode says, or for unified diffs inside a
// repository.
func (r *run) usesGit() (bool, error) {
	switch {
	case r.req.Compat == CompatCodex, r.req.Mode == ModeText:
		return false, nil
	case r.req.Mode != ModeAuto && r.req.Mode != ModeGit:
		return false, &malformedError{kind: ErrUnsupported, problem: Problem{Severity: SeverityError, Kind: KindUsage,
			Message: fmt.Sprintf("unknown mode %q", string(r.req.Mode)), Hint: "known modes: auto, text, git"}}
	}
	for _, in := range r.inputs {
		if len(in.Data) > MaxPatch {
			return false, nil // refused when it is read
		}
		format, err := detect(in.Data, r.req.Format)
		switch {
		case err != nil && r.req.Mode == ModeAuto:
			return false, nil //nolint:nilerr // said when it is read
		case err != nil:
			return false, named(err, in.Name)
		case format != FormatUnified && r.req.Mode == ModeGit:
			return false, named(&malformedError{kind: ErrUnsupported, problem: Problem{Severity: SeverityError, Kind: KindUsage,
				Message: "git mode takes unified diffs only", Hint: "leave --mode out"}}, in.Name)
		case format != FormatUnified, r.req.Mode == ModeAuto && !udiff.Numbered(string(in.Data)):
			return false, nil
		}
	}
	return r.req.Mode == ModeGit || r.e.site.Repo != nil && gitapply.Installed(), nil
}

// parse reads all inputs, and turns them around where the request says so.
func (r *run) parse() ([]*textapply.Patch, error) {
	var patches []*textapply.Patch
	for _, in := range r.inputs {
		p, err := parse(in, r.req, r.req.Compat)
		if err != nil {
			return nil, err
		}
		if r.req.Reverse {
			if p, err = textapply.Reverse(p); err != nil {
				return nil, named(irreversible(err), in.Name)
			}
			patches = append([]*textapply.Patch{p}, patches...)
			continue
		}
		patches = append(patches, p)
	}
	if r.req.Reverse {
		r.inputs = reversed(r.inputs)
	}
	r.result.Mode, r.result.Format = ModeText, Format(patches[0].Format)
	return patches, nil
}

func reversed(in []Input) []Input {
	out := make([]Input, len(in))
	for i, x := range in {
		out[len(in)-1-i] = x
	}
	return out
}

func irreversible(err error) error {
	var e *textapply.Error
	p := Problem{Severity: SeverityError, Kind: KindUnsupported, Message: err.Error()}
	if errors.As(err, &e) {
		p.Path, p.Hunk, p.PatchLine, p.Message, p.Hint = shownPath(e.Path, ""), e.Chunk, e.PatchLine, e.Problem(), e.Hint
	}
	return &malformedError{kind: ErrUnsupported, cause: err, problem: p}
}
