package snapshot

// fileSyncKeepsName says that syncing a file puts its name on disk too.
const fileSyncKeepsName = true
