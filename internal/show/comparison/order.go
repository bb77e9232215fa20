package comparison

import (
	"math"

	"github.com/pitot-bench/pitot/internal/judge/compare"
	"github.com/pitot-bench/pitot/internal/plan"
	"github.com/pitot-bench/pitot/internal/show/doc"
)

// order is what a drift would do to the changes of a variant, for the bottom line; "" where none
// would, and where intervals have it in them.
func (b bottom) order() string {
	v := b.load.Variants[b.variant]
	if v.Order == nil || len(b.Better)+len(b.Worse) == 0 {
		return ""
	}
	code := plan.Code("result.order")
	switch v.Order.Code {
	case compare.OrderConfounded, compare.OrderSessions:
	case compare.OrderLopsided:
		code = "result.order-most"
	default:
		return ""
	}
	first := b.load.Variants[0]
	if v.Order.Share < 0 {
		first = v
	}
	return b.Word(code, "first", doc.Clean(first.Name), "share", math.Abs(v.Order.Share))
}

// tentative reports whether verdicts on some rows of a variant are.
func (b bottom) tentative(rows []int) bool {
	for _, i := range rows {
		if b.load.Rows[i].Cells[b.variant].Change.Tentative {
			return true
		}
	}
	return false
}

// codeOf is the code of an order, for a table.
func codeOf(o *compare.Order) plan.Code {
	if o == nil {
		return ""
	}
	return o.Code
}
