// Package note writes the lab note that goes with a comparison: what was run and
// where, the tables in the dialect that their readers know, what the difference is,
// plots beside the text, and the verdict in words. In English or Chinese.
package note
