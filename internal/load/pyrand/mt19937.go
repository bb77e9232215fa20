package pyrand

const (
	mtWords = 624
	mtShift = 397
)

// An mt19937 is the Mersenne Twister of Matsumoto and Nishimura (1998) in the
// 2002 version of its seeding, which both Python and legacy numpy use.
type mt19937 struct {
	key  [mtWords]uint32
	next int
}

// seed is init_genrand of the reference code.
func (m *mt19937) seed(s uint32) {
	for i := range m.key {
		m.key[i] = s
		s = 1812433253*(s^s>>30) + uint32(i) + 1
	}
	m.next = mtWords
}

// seedArray is init_by_array of the reference code. The key must not be empty.
func (m *mt19937) seedArray(key []uint32) {
	m.seed(19650218)
	i := 1
	for k := range max(mtWords, len(key)) {
		j := k % len(key)
		m.key[i] = (m.key[i] ^ m.mixed(i)*1664525) + key[j] + uint32(j)
		i = m.advance(i)
	}
	for range mtWords - 1 {
		m.key[i] = (m.key[i] ^ m.mixed(i)*1566083941) - uint32(i)
		i = m.advance(i)
	}
	m.key[0] = 1 << 31
}

func (m *mt19937) mixed(i int) uint32 { return m.key[i-1] ^ m.key[i-1]>>30 }

// advance walks 1…623, copying the last word to the front at each lap.
func (m *mt19937) advance(i int) int {
	if i+1 < mtWords {
		return i + 1
	}
	m.key[0] = m.key[mtWords-1]
	return 1
}

func (m *mt19937) twist() {
	for i := range m.key {
		y := m.key[i]&(1<<31) | m.key[(i+1)%mtWords]&(1<<31-1)
		m.key[i] = m.key[(i+mtShift)%mtWords] ^ y>>1 ^ (y&1)*0x9908b0df
	}
	m.next = 0
}

func (m *mt19937) uint32() uint32 {
	if m.next == mtWords {
		m.twist()
	}
	y := m.key[m.next]
	m.next++
	y ^= y >> 11
	y ^= y << 7 & 0x9d2c5680
	y ^= y << 15 & 0xefc60000
	return y ^ y>>18
}

// uint64 joins two outputs, the first one as the high half.
func (m *mt19937) uint64() uint64 {
	high := uint64(m.uint32())
	return high<<32 | uint64(m.uint32())
}

// float64 is genrand_res53: 27 bits of one output above 26 bits of the next.
func (m *mt19937) float64() float64 {
	a, b := m.uint32()>>5, m.uint32()>>6
	return float64(uint64(a)<<26|uint64(b)) / (1 << 53)
}
