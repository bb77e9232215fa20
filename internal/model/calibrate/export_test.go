package calibrate

// Long is whether tests take minutes.
var Long = long
