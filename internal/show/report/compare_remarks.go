package report

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/pitot-bench/pitot/internal/judge/compare"
	"github.com/pitot-bench/pitot/internal/judge/metrics"
	"github.com/pitot-bench/pitot/internal/record/trace"
)

// remark is a sentence of the model; text stands for it where it was read from a file,
// which has no parts.
func (w words) remark(r compare.Remark, text string) string {
	zh, ok := chineseRemarks[r.Kind]
	if w.lang != Zh || !ok {
		return text
	}
	return handSpaced(r.Say(zh, w.argument))
}

// argument is one of a remark's in Chinese.
func (w words) argument(arg any) any {
	var parts []string
	switch arg := arg.(type) {
	case []string:
		parts = arg
	case []metrics.Quantity:
		for _, q := range arg {
			parts = append(parts, w.title(q))
		}
	case []compare.Spread:
		for _, s := range arg {
			parts = append(parts, w.title(s.Figure)+" "+fmt.Sprintf(w.percent, twoDigits(100*s.Share)))
		}
	case []compare.Gap:
		for _, g := range arg {
			parts = append(parts, fmt.Sprintf("%s（%s 与 %s）", w.setting(g.Setting), w.foreign(g.One), w.foreign(g.Other)))
		}
	case compare.Reasons:
		for _, reason := range arg {
			parts = append(parts, w.foreign(reason))
		}
		return strings.Join(parts, w.stop)
	case compare.Freedom:
		return strconv.FormatFloat(float64(arg), 'g', 3, 64)
	case trace.Status:
		if zh := chineseStates[arg]; zh != "" {
			return zh
		}
		return string(arg)
	default:
		return arg
	}
	return strings.Join(parts, w.comma)
}

// twoDigits are those of a percentage that are worth reading.
func twoDigits(v float64) string { return strconv.FormatFloat(v, 'f', decimalsOf(v, 2, 2), 64) }

var chineseStates = map[trace.Status]string{trace.Running: "运行中或被强行终止", trace.Interrupted: "被中断"}

// chineseRemarks are the sentences of the model, with the same arguments.
var chineseRemarks = map[compare.RemarkKind]string{
	compare.BaselineByName:   "按名称取 %s 为基线；可用 --baseline 另行指定",
	compare.BaselineMissing:  "这里没有名为 %s 的方案；以 %s 为基线",
	compare.OneVariant:       "这里只有 %s 一个方案，没有比较对象",
	compare.TakenAsRepeated:  "%s 视为 %s 的重复运行",
	compare.DefinitionsApart: "%s 在 %s 中定义不同，分行列出，不能直接比较",
	compare.NothingKnown:     "各方案只运行一次，且没有逐请求数据（%s）：运行之间的波动未知，任何差异都无法下结论；请把每个方案重复运行几次",
	compare.TooDependent:     "各方案只运行一次（%s），而且请求太少或相互排队（例如全部同时发出），看不出随机波动的大小；请把每个方案重复运行几次",
	compare.PairsPossible:    "%s 的各次运行与 %s 的逐次发送了相同的请求：加上 --paired 可以消去请求本身带来的差异",
	compare.WithinOnly:       "各方案只运行一次（%s）：区间只反映单次运行内部的随机波动，不含运行之间的波动；请把每个方案重复运行几次，或用 --single-runs 接受这一点",
	compare.WithinAccepted:   "各方案只运行一次（%s）：按 --single-runs，结论只依据单次运行内部的随机波动，不含运行之间的波动",
	compare.RepeatedDiffer:   "%s 的重复运行之间相差：%s",
	compare.BorrowedNoise:    "%s 只运行了一次，噪声取自其他方案的重复运行（自由度 %s）",
	compare.ManyVariants:     "%s 个方案分别与基线比较；即使都没有差异，也有最多 %s%% 的机会至少有一个被误判为有差异",
	compare.InvalidRun:       "运行 %s 自身判定为无效：%s",
	compare.BrokenRun:        "运行 %s 没有正常结束（%s）",
	compare.LoadsApart:       "%s 与 %s 的负载不同，没有放在一起比较：%s；如仍要比较，可加 --ignore %s",

	compare.GateNoFigure:    "这里没有 %s",
	compare.GateAlone:       "没有可比较的其他方案",
	compare.GateDefinitions: "%s 没有同一定义的 %s（%s）",
	compare.GateFromZero:    "%s 为 0，无从计算百分比；对数值设门禁可写作 %s > 0",
	compare.GateConstant:    "每次运行都相同",
	compare.GateCounted:     "这是计数，不是估计值",
	compare.GateNoNoise:     "各只运行一次，运行之间的波动未知；请重复运行",
	compare.GateWithin:      "各只运行一次，区间不含运行之间的波动；请重复运行，或用 --single-runs 接受这一点",
	compare.GateOneNoNoise:  "只运行一次，运行之间的波动未知；请重复运行",
	compare.GateOneWithin:   "只运行一次，区间不含运行之间的波动；请重复运行，或用 --single-runs 接受这一点",
	compare.GateBeyond:      "整个 %s%% 区间都超出限值",
	compare.GateInside:      "整个 %s%% 区间都在限值以内",
	compare.GateAcross:      "限值落在 %s%% 区间之内；增加运行次数可以缩小区间",
}
