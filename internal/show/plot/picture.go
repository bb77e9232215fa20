// Package plot draws what tables cannot show: how latencies are distributed, how a run
// went on, and by how much variants differ. It draws SVG without a script, and the same
// figures give the same bytes.
//
//	trace ──> NewDigest ──> TTFT, ITL, Output: a line a run, a colour a variant
//	                   └──> Requests: a bar a request
//	changes ──> Dots ─────> Changes: a dot a variant, a row a figure
//
// A Digest keeps of a run what plots need, so that traces are read one after the other.
package plot

import (
	"bytes"
	"image/color"
	"io"
	"math"
	"strings"
	"unicode"
	"unicode/utf8"

	xfont "golang.org/x/image/font"
	gonum "gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	plottext "gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// variantStyle is how the lines of the i-th variant look: colours come again, with
// broken lines.
func variantStyle(i int, width vg.Length) draw.LineStyle {
	s := draw.LineStyle{Color: okabeIto[i%len(okabeIto)], Width: width}
	if i >= len(okabeIto) {
		s.Dashes = []vg.Length{4, 2}
	}
	return s
}

// okabeIto are colours that the colour-blind can distinguish, without those that are faint on
// white.
var okabeIto = []color.RGBA{
	{R: 0x00, G: 0x72, B: 0xb2, A: 0xff}, // blue
	{R: 0xd5, G: 0x5e, B: 0x00, A: 0xff}, // vermilion
	{R: 0x00, G: 0x9e, B: 0x73, A: 0xff}, // green
	{R: 0xcc, G: 0x79, B: 0xa7, A: 0xff}, // purple
	{R: 0xe6, G: 0x9f, B: 0x00, A: 0xff}, // orange
	{R: 0x56, G: 0xb4, B: 0xe9, A: 0xff}, // sky
	{R: 0x33, G: 0x33, B: 0x33, A: 0xff}, // black
}

func newPicture(title, x, y string, keys []key) picture {
	p := gonum.New()
	p.X.Label.Text, p.Y.Label.Text = x, y
	for _, axis := range []*gonum.Axis{&p.X, &p.Y} {
		tick := textStyle(9)
		tick.XAlign, tick.YAlign = axis.Tick.Label.XAlign, axis.Tick.Label.YAlign
		axis.Label.TextStyle, axis.Tick.Label = textStyle(10), tick
		axis.Label.TextStyle.XAlign, axis.Label.TextStyle.YAlign = draw.XCenter, draw.YBottom
		axis.Color, axis.Tick.Color = ink, ink
		axis.Label.Padding, axis.Padding = 3, 0
	}
	grid := plotter.NewGrid()
	grid.Horizontal.Color, grid.Vertical.Color = faint, faint
	p.Add(grid)
	return picture{Plot: p, title: title, keys: keys, grid: grid, height: plotHeight}
}

// A picture is a plot with its legend above it, where it covers nothing.
type picture struct {
	*gonum.Plot
	title    string
	subtitle string // empty: none
	keys     []key
	grid     *plotter.Grid
	height   vg.Length // of the plot alone
	// stacked are plots in place of this one, in rows under each other, with axes of one length.
	stacked [][]*gonum.Plot
}

var (
	ink   = color.RGBA{R: 0x22, G: 0x22, B: 0x22, A: 0xff}
	faint = color.RGBA{R: 0xe4, G: 0xe4, B: 0xe4, A: 0xff}
	band  = color.RGBA{R: 0xf0, G: 0xf0, B: 0xf0, A: 0xff}
)

// PNG is a writer for which plots are drawn as PNG instead of SVG, at twice their size in pixels. Its
// fonts have no Chinese, Japanese or Korean characters.
type PNG struct{ io.Writer }

// Subtitled is a writer for which plots have a line under their title, in front of a PNG if there is one.
type Subtitled struct {
	io.Writer
	Text string
}

// write draws the picture as SVG, or as PNG to a PNG.
func (p picture) write(w io.Writer) error {
	if s, ok := w.(Subtitled); ok {
		w, p.subtitle = s.Writer, s.Text
	}
	head := p.titles() + vg.Length(legendRow*len(p.legend()))
	width, height := vg.Length(plotWidth), p.height+head+2*margin
	var b bytes.Buffer
	if png, ok := w.(PNG); ok {
		canvas := vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(2*vgimg.DefaultDPI))
		p.drawOn(draw.New(canvas))
		if _, err := (vgimg.PngCanvas{Canvas: canvas}).WriteTo(&b); err != nil {
			return err
		}
		_, err := png.Write(b.Bytes())
		return err
	}
	canvas := vgsvg.New(width, height)
	p.drawOn(draw.New(canvas))
	if _, err := canvas.WriteTo(&b); err != nil {
		return err
	}
	_, err := w.Write(bytes.ReplaceAll(b.Bytes(), []byte("font-family:Liberation Sans"), []byte("font-family:"+families)))
	return err
}

func (p picture) titles() vg.Length {
	if p.subtitle == "" {
		return titleRow
	}
	return titleRow + subtitleRow
}

// legend lays out the keys of the legend in lines.
func (p picture) legend() []legendLine { return layOut(p.keys, plotWidth-2*margin) }

// drawOn draws title, legend and plot.
func (p picture) drawOn(c draw.Canvas) {
	rows := p.legend()
	c.SetColor(color.White)
	c.Fill(c.Path())
	c = draw.Crop(c, margin, -margin-4, margin, -margin)
	title := textStyle(12)
	title.Font.Weight = xfont.WeightBold
	c.FillText(title, vg.Point{X: c.Min.X, Y: c.Max.Y - 12}, shorten(p.title, title, c.Size().X))
	if p.subtitle != "" {
		small := textStyle(9)
		c.FillText(small, vg.Point{X: c.Min.X, Y: c.Max.Y - 12 - subtitleRow}, shorten(p.subtitle, small, c.Size().X))
	}
	for i, row := range rows {
		row.draw(c, c.Max.Y-p.titles()-vg.Length(i)*legendRow-8)
	}
	p.drawIn(draw.Crop(c, 0, 0, 0, -p.titles()-vg.Length(legendRow*len(rows))))
}

// drawIn draws the axes and their content.
func (p picture) drawIn(c draw.Canvas) {
	if p.stacked == nil {
		p.Draw(c)
		return
	}
	tiles := draw.Tiles{Rows: len(p.stacked), Cols: len(p.stacked[0]), PadX: 12, PadY: 4}
	for i, row := range gonum.Align(p.stacked, tiles, c) {
		for j, one := range row {
			p.stacked[i][j].Draw(one)
		}
	}
}

func layOut(keys []key, width vg.Length) (rows []legendLine) {
	style, x := textStyle(10), vg.Length(0)
	for _, k := range keys {
		k.name = shorten(k.name, style, width-sampleLength-sampleGap)
		long := sampleLength + sampleGap + style.Width(k.name)
		if rows == nil || x+long > width {
			rows, x = append(rows, legendLine{}), 0
		}
		row := &rows[len(rows)-1]
		row.keys, row.at = append(row.keys, k), append(row.at, x)
		x += long + keyGap
	}
	return rows
}

// A legendLine is a row of a legend: the keys and where each begins.
type legendLine struct {
	keys []key
	at   []vg.Length
}

// A key is an entry of a legend.
type key struct {
	name string
	line draw.LineStyle
}

// Sizes of a plot, in points: as wide as a page of notes shows it.
const (
	plotWidth   = 620
	plotHeight  = 300 // of the axes with their labels
	titleRow    = 24
	subtitleRow = 13
	legendRow   = 16
	margin      = 10
)

func (l legendLine) draw(c draw.Canvas, y vg.Length) {
	for i, k := range l.keys {
		x := c.Min.X + l.at[i]
		c.StrokeLine2(k.line, x, y, x+sampleLength, y)
		c.FillText(textStyle(10), vg.Point{X: x + sampleLength + sampleGap, Y: y - 3.5}, k.name)
	}
}

// Lengths of a key, in points.
const (
	sampleLength = 22
	sampleGap    = 5
	keyGap       = 16
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
