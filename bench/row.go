package main

// role is the part that a program plays in a row.
type role int

const (
	rolePeer     role = iota // the program to compare with
	roleFloor                // reads, hashes and writes, nothing else
	rolePlain                // oxpatch called as apply_patch, without a snapshot
	roleSnapshot             // oxpatch apply inside a git repository, with a snapshot
	roleLarge                // oxpatch in the larger repository
)

// shape is the course that a row takes.
type shape int

const (
	textShape shape = iota // one envelope patch on a fresh copy of a tree
	undoShape              // apply and undo, in a small and in a large repository
	gitShape               // a git diff in a repository, against git itself
)

// row is one line of work.
type row struct {
	name  string
	shape shape
	make  func() work
	aim   map[role]string // the wall ratio that the project sets itself
	// objects are packed into the larger repository of undoShape, beside its files.
	objects int
}

// rows lists all the work. Seeds are fixed, so that two machines measure the same bytes.
func rows() []row {
	return []row{
		{name: "tiny patch", make: func() work { return largeFile(plainLines(40, 7), 1, exactly) }, aim: aims("", "≤ 0.8")},
		{name: "18 MB file, 300 exact chunks", make: func() work { return largeFile(plainLines(300_000, 7), 300, exactly) }, aim: aims("≤ 1/4", "≤ 0.6")},
		{name: "18 MB file, 300 chunks that need trimming", make: func() work { return largeFile(plainLines(300_000, 7), 300, unindented) }, aim: aims("≤ 1/4", "≤ 0.6")},
		{name: "18 MB file, 300 chunks that need punctuation folded", make: func() work { return largeFile(typographicLines(300_000, 7), 300, folded) }, aim: aims("≤ 1/6", "≤ 0.5")},
		{name: "12 MB addition", make: func() work { return addition(200_000) }, aim: aims("≤ 1/4", "≤ 0.8")},
		{name: "60,000 equal lines", make: func() work { return equalLines(60_000, 400) }, aim: aims("≤ 1/3", "≤ 0.5")},
		{name: "3,000 files", make: func() work { return manyFiles(3000, 50, 60) }, aim: aims("≤ 0.7", "≤ 1.3")},
		{name: "100 MB file", make: func() work { return largeFile(plainLines(1_700_000, 7), 3, exactly) }},
		{
			name: "apply and undo, 100,000 files against 1,000", shape: undoShape,
			make: func() work { return manyFiles(100_000, 1000, 10).only(1) },
			aim:  map[role]string{roleLarge: "≤ 1.2"},
		},
		{
			name: "apply and undo, a pack of 1,000,000 objects against none", shape: undoShape,
			make: func() work { return manyFiles(1000, 1000, 10).only(1) }, objects: 1_000_000,
			aim: map[role]string{roleLarge: "≤ 1.2"},
		},
		{
			name: "git diff, 1,000 files", shape: gitShape,
			make: func() work { return manyFiles(1000, 50, 10).only(3) },
			aim:  aims("", "≤ 4"),
		},
		{
			name: "git diff, 100,000 files", shape: gitShape,
			make: func() work { return manyFiles(100_000, 1000, 10).only(3) },
			aim:  aims("", "≤ 3"),
		},
	}
}

func aims(plain, snapshot string) map[role]string {
	return map[role]string{rolePlain: plain, roleSnapshot: snapshot}
}
