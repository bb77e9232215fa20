package report

import (
	"fmt"

	"github.com/pitot-bench/pitot/internal/compare"
)

// remarks are the model's sentences. Its parts are there where it was not read from
// a file.
func (w words) remarks(notes []string, parts []compare.Remark) []string {
	if w.lang != Zh || len(parts) != len(notes) {
		return notes
	}
	out := make([]string, len(notes))
	for i, r := range parts {
		out[i] = notes[i]
		if zh, ok := chineseRemarks[r.Kind]; ok {
			out[i] = fmt.Sprintf(zh, r.Args...)
		}
	}
	return out
}

// chineseRemarks are the sentences of the model, with the same arguments.
var chineseRemarks = map[compare.RemarkKind]string{
	compare.BaselineByName:   "按名称取 %s 为基线；可用 --baseline 另行指定",
	compare.BaselineMissing:  "这里没有名为 %s 的方案；以 %s 为基线",
	compare.OneVariant:       "这里只有 %s 一个方案，没有比较对象",
	compare.TakenAsRepeated:  "%s 视为 %s 的重复运行",
	compare.DefinitionsApart: "%s 按 %s 的定义分行列出，含义各不相同",
	compare.NothingKnown:     "各方案只运行一次，且没有逐请求数据（%s）：无从得知运行之间的波动，因此任何差异都无法下结论；请重复每次运行",
	compare.TooDependent:     "各方案只运行一次（%s），且其请求太少或相互等待太多（例如全部同时发出），无从得知随机波动；请重复每次运行",
	compare.PairsPossible:    "%s 的各次运行与 %s 的逐一发送了相同的请求：用 --paired 可以消去请求本身的差异",
	compare.WithinOnly:       "各方案只运行一次（%s）：区间只覆盖单次运行内部的随机波动，不含运行之间的波动；请重复每次运行，或用 --single-runs 接受这一点",
	compare.WithinAccepted:   "各方案只运行一次（%s）：按 --single-runs，结论只依据单次运行内部的随机波动，不含运行之间的波动",
	compare.RepeatedDiffer:   "%s 的重复运行之间相差 %s",
	compare.BorrowedNoise:    "只运行一次的方案（%s），其噪声取自重复运行，%s",
	compare.ManyVariants:     "%s 个方案分别与基线比较；其中任何一个因偶然而被判为有差异的情况，最多占这类比较的 %s%%",
	compare.InvalidRun:       "运行 %s 自身判定为无效：%s",
	compare.BrokenRun:        "运行 %s 未完成（%s）",
	compare.LoadsApart:       "%s 与 %s 没有共同的负载：两者在 %s 上不同；用 --ignore %s 可以放在一起",
}

// chineseWhys are the reasons of gates that are the same for every gate.
var chineseWhys = map[string]string{
	"there is no other variant to compare with":                                                                        "没有可比较的其他方案",
	"one run each and nothing that tells how much runs vary; repeat the runs":                                          "各只运行一次，运行之间的波动未知；请重复运行",
	"one run each: the interval does not cover how much runs vary; repeat the runs, or accept that with --single-runs": "各只运行一次：区间不含运行之间的波动；请重复运行，或用 --single-runs 接受这一点",
	"a single run, and nothing that tells how much runs vary; repeat it":                                               "只运行一次，运行之间的波动未知；请重复运行",
	"a single run: the interval does not cover how much runs vary; repeat it, or accept that with --single-runs":       "只运行一次：区间不含运行之间的波动；请重复运行，或用 --single-runs 接受这一点",
	"it is the same in every run":  "每次运行都相同",
	"it is counted, not estimated": "这是计数，不是估计值",
}
