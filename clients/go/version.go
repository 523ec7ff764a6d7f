package sodafountain

// Version is the version of this library, without a leading v.
const Version = "0.1.0"
