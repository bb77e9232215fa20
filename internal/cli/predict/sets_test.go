package predict

import "testing"

func TestSets(t *testing.T) {
	fixed, several, err := sets([]string{"kv.tokens=2x", "replicas.count=1..3", "cost.jitter=0"})
	if err != nil || len(fixed) != 2 || len(several) != 3 || several[2].String() != "replicas.count=3" {
		t.Errorf("%v %v %v", fixed, several, err)
	}
	for _, wrong := range [][]string{{"a=1,2", "b=1,2"}, {"a=1", "a=2"}, {"a"}, {"a=1..0"}} {
		if _, _, err := sets(wrong); err == nil {
			t.Errorf("%v is taken", wrong)
		}
	}
}
