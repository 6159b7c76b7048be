package oxpatch

import "github.com/openoxide/oxpatch/textapply"

// preset is a named set of rules: how text is matched (the policy) and how the engine treats the
// tree. Both presets run through the same code.
type preset struct {
	policy textapply.Policy
	// atomic changes every file of a patch or none; otherwise sections are done one by one, and
	// those before a failing one stay.
	atomic bool
	// inPlace writes into existing files instead of replacing them.
	inPlace bool
	// confined keeps every path inside the root and out of git directories.
	confined bool
	snapshot snapshotRule
}

// snapshotRule says when an operation is recorded.
type snapshotRule uint8

const (
	snapshotAlways snapshotRule = iota // no record, no operation
	// snapshotInRepository records inside a git repository, and goes on without a word where that
	// is not possible.
	snapshotInRepository
	snapshotNever
)

// defaultPreset holds the careful rules of "oxpatch apply".
func defaultPreset() preset {
	return preset{
		policy: textapply.Policy{
			Name:          "default",
			SkipBOM:       true,
			LoneCR:        textapply.LoneCRWithoutLF,
			Ending:        textapply.EndingOfNeighbour,
			KeepMode:      true,
			AcceptApplied: true,
		},
		atomic:   true,
		confined: true,
		snapshot: snapshotAlways,
	}
}

// codexPreset holds the rules of codex-cli 0.171.0's apply_patch, as measured on the binary.
func codexPreset() preset {
	return preset{
		policy: textapply.Policy{
			Name:              "codex",
			FirstMatch:        true,
			RequireUTF8:       true,
			LoneCR:            textapply.LoneCRAlways,
			Ending:            textapply.EndingOfFirstLine,
			ForceFinalNewline: true,
			ThroughLinks:      true,
			StopAtFirst:       true,
		},
		inPlace:  true,
		snapshot: snapshotInRepository,
	}
}

// presetFor returns the rules that a request asks for.
func presetFor(c Compat) preset {
	if c == CompatCodex {
		return codexPreset()
	}
	return defaultPreset()
}
