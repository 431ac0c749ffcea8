package fluid

import (
	"strings"
	"testing"
)

// pkg/utils/label.go of Fluid 1.0.8: a key of 63 characters or more, "fluid.io/" counted in, has the UID for names.
func TestKeysOf63CharactersHaveTheUID(t *testing.T) {
	const uid = "5f0a2c1e-0000-4000-8000-000000000001"
	for _, c := range []struct {
		name                  string
		nameLength            int
		worker, runtime, fuse bool // by UID
	}{
		{"short", 5, false, false, false},
		{"the runtime's key reaches 62", 43 - len("default-"), false, false, false},
		{"the runtime's key reaches 63", 44 - len("default-"), false, true, false},
		{"all reach 63", 52 - len("default-"), true, true, true},
	} {
		d := &Dataset{Spec: Spec{Namespace: "default", Name: strings.Repeat("d", c.nameLength)}, UID: uid}
		for _, key := range []struct {
			prefix string
			byUID  bool
		}{{"fluid.io/s-", c.worker}, {"fluid.io/s-alluxio-", c.runtime}, {"fluid.io/f-", c.fuse}} {
			want := key.prefix + "default-" + d.Name
			if key.byUID {
				want = key.prefix + uid
			}
			_, set := d.nodeLabels()[want]
			if !set && d.FuseLabel() != want {
				t.Errorf("%s: no label %s", c.name, want)
			}
		}
	}
}

func TestSizesAreWrittenAsFluidDoes(t *testing.T) {
	for bytes, want := range map[int64]string{0: "0.00B", 20 << 20: "20.00MiB", 3 << 29: "1.50GiB", 1 << 50: "1.00PiB"} {
		if got := size(bytes); got != want {
			t.Errorf("%d bytes are %s, want %s", bytes, got, want)
		}
	}
}
