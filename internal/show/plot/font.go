package plot

import (
	"math"
	"strings"
	"unicode"
	"unicode/utf8"

	gonum "gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	plottext "gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
)

// shorten cuts a text to a width. Characters that no SVG may hold are left out.
func shorten(s string, style plottext.Style, width vg.Length) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '\ufffe' || r == '\uffff' {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\ufffd"))
	if style.Width(s) <= width {
		return s
	}
	for len(s) > 0 && style.Width(s+"…") > width {
		_, size := utf8.DecodeLastRuneInString(s)
		s = s[:len(s)-size]
	}
	return s + "…"
}

// families are the fonts that a text is shown in, the first that is there for each
// character. Arial and Helvetica are as wide as Liberation Sans, by which texts are
// placed.
const families = "Liberation Sans,Arial,Helvetica,PingFang SC,Microsoft YaHei,Noto Sans CJK SC,sans-serif"

func textStyle(size vg.Length) plottext.Style {
	f := gonum.DefaultFont
	f.Variant, f.Size = "Sans", size
	return plottext.Style{Color: ink, Font: f, Handler: wideText{plottext.Plain{Fonts: gonum.DefaultTextHandler.Cache()}}}
}

// wideText places texts with Chinese, Japanese and Korean characters too, which the
// built-in fonts do not have: they are as wide as they are high.
type wideText struct{ plottext.Plain }

// Draw shifts a text by what the built-in font takes it for too narrow.
func (h wideText) Draw(c vg.Canvas, s string, style plottext.Style, at vg.Point) {
	wanted, _, _ := h.Box(s, style.Font)
	assumed, _, _ := h.Plain.Box(s, style.Font)
	shift := float64(wanted-assumed) * float64(style.XAlign)
	sin, cos := math.Sincos(style.Rotation)
	at.X, at.Y = at.X+vg.Length(cos*shift), at.Y+vg.Length(sin*shift)
	h.Plain.Draw(c, s, style, at)
}

// Box is that of a line.
func (h wideText) Box(s string, f font.Font) (width, height, depth vg.Length) {
	_, height, depth = h.Plain.Box(s, f)
	var narrow []rune
	for _, r := range s {
		if wide(r) {
			width += f.Size
		} else {
			narrow = append(narrow, r)
		}
	}
	w, _, _ := h.Plain.Box(string(narrow), f)
	return width + w, height, depth
}

// wide characters are as wide as they are high.
func wide(r rune) bool {
	return r >= 0x1100 && r <= 0x115f || r >= 0x2e80 && r <= 0xa4cf || r >= 0xac00 && r <= 0xd7a3 ||
		r >= 0xf900 && r <= 0xfaff || r >= 0xfe30 && r <= 0xfe6f || r >= 0xff00 && r <= 0xff60 || r >= 0x1f300
}
