package workload

import "context"

// Each calls f for 0..n-1, many at once but a bounded number, and returns the first
// error. Packages that draw further datasets tokenize with it.
func Each(ctx context.Context, n int, f func(ctx context.Context, i int) error) error {
	return parallel(ctx, n, f)
}
