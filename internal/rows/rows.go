// Package rows reads tables of files row by row: Parquet, JSON, JSON Lines, CSV.
package rows
