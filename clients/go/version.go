package sodafountain

// Version is the release of this library, without a leading v.
const Version = "0.1.0"
