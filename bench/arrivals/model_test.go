package arrivals

import (
	"reflect"
	"testing"
)

func TestThoseOfTheNodeThatLacksLeastMakeRoom(t *testing.T) {
	nodes := []string{"gpu-0", "gpu-1", "gpu-2"}
	m := NewModel(nodes, 8)
	for _, node := range nodes {
		m.Place(Job{Name: "on-" + node, GPUs: 7}, node)
	}
	m.Finish("on-gpu-1")
	m.Place(Job{Name: "late", GPUs: 3, Ends: 2}, "gpu-1")
	m.Place(Job{Name: "soon", GPUs: 3, Ends: 1}, "gpu-1")
	want := []string{"soon", "late"}
	if got := m.MakingRoom(8); !reflect.DeepEqual(got, want) {
		t.Errorf("%q make room for 8, want %q", got, want)
	}
	if got := m.MakingRoom(5); !reflect.DeepEqual(got, want[:1]) {
		t.Errorf("%q make room for 5, want %q", got, want[:1])
	}
}

func TestTheFirstToEndLeave(t *testing.T) {
	m := NewModel([]string{"gpu-0", "gpu-1"}, 8)
	m.Place(Job{Name: "b", GPUs: 4, Ends: 2}, "gpu-0")
	m.Place(Job{Name: "a", GPUs: 4, Ends: 2}, "gpu-0")
	m.Place(Job{Name: "c", GPUs: 6, Ends: 1}, "gpu-1")
	for _, c := range []struct {
		gpus int
		want []string
	}{{0, nil}, {2, nil}, {3, []string{"c"}}, {9, []string{"c", "a"}}} {
		if got := m.Leaving(c.gpus, 1); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%q leave for %d GPUs, want %q", got, c.gpus, c.want)
		}
	}
	if m.Taken() != 14 || m.Free("gpu-1") != 2 || m.Fits(3) || !m.Fits(2) {
		t.Errorf("%d are taken, %d free on gpu-1", m.Taken(), m.Free("gpu-1"))
	}
}
