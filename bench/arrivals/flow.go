package arrivals

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth.dev/berth/testbed/tests/cluster"
)

// Flow is one scheduler that gets jobs. The scheduler runs already; Watch makes a flow.
type Flow struct {
	*cluster.Cluster
	Model     *Model
	View      *cluster.PodView
	Berth     *cluster.Berth // nil without
	MostTaken float64        // jobs finish before more of the GPUs would be taken
	Waited    []string       // jobs for which no node had enough free GPUs
	Withheld  []string       // jobs that waited although one had
	// Told of a node after jobs came to it or left; may be nil.
	Changed func(ctx context.Context, node string) error
}

// Arrival is a job with its pod.
type Arrival struct {
	Job  Job
	Spec cluster.PodSpec // all but its name and GPUs
}

// Decided is a job with a node, before the model has it there.
type Decided func(Job, *corev1.Pod)

// Arrive lets jobs finish, creates all of a group at once, waits until they have nodes, and tells of each. For one that
// fits nowhere more jobs finish.
func (f *Flow) Arrive(ctx context.Context, group []Arrival, decided Decided) error {
	gpus := 0
	var specs []cluster.PodSpec
	for _, a := range group {
		gpus += a.Job.GPUs
		a.Spec.Name, a.Spec.GPUs = a.Job.Name, a.Job.GPUs
		specs = append(specs, a.Spec)
	}
	if err := f.finish(ctx, f.Model.Leaving(gpus, f.MostTaken)); err != nil {
		return err
	}
	// The scheduler sees who has gone before it sees who comes; Berth has a watch of its own, and nothing orders the two.
	if f.Berth != nil {
		if err := f.Berth.WaitGPUsUsed(ctx, f.Model.Taken()); err != nil {
			return err
		}
	}
	if err := f.CreatePods(ctx, 1, specs...); err != nil {
		return err
	}
	open := make([]Job, 0, len(group))
	for _, a := range group {
		open = append(open, a.Job)
	}
	for len(open) > 0 {
		tried := func(v *cluster.PodView) bool {
			for _, j := range open {
				if pod := v.Pod(j.Name); NodeOf(pod) == "" && !Rejected(pod) {
					return false
				}
			}
			return true
		}
		if err := f.View.Wait(ctx, open[0].Name+" is decided", tried); err != nil {
			return err
		}
		left, err := f.take(ctx, open, decided)
		if err != nil {
			return err
		}
		if len(left) > 0 && len(left) == len(open) {
			if err := f.waitFor(ctx, left[0]); err != nil {
				return err
			}
		}
		open = left
	}
	return nil
}

// take has the model hold the jobs with a node, and returns the others.
func (f *Flow) take(ctx context.Context, open []Job, decided Decided) ([]Job, error) {
	var left []Job
	for _, j := range open {
		pod := f.View.Pod(j.Name)
		if NodeOf(pod) == "" {
			left = append(left, j)
			continue
		}
		j.Node = NodeOf(pod)
		decided(j, pod)
		f.Model.Place(j, j.Node)
		if err := f.changed(ctx, j.Node); err != nil {
			return nil, err
		}
	}
	return left, nil
}

func (f *Flow) changed(ctx context.Context, node string) error {
	if f.Changed == nil {
		return nil
	}
	return f.Changed(ctx, node)
}

// waitFor waits until a job has a node that the scheduler has rejected, after making room for it.
func (f *Flow) waitFor(ctx context.Context, j Job) error {
	if f.Model.Fits(j.GPUs) {
		f.Withheld = append(f.Withheld, j.Name)
	} else {
		f.Waited = append(f.Waited, j.Name)
		if err := f.finish(ctx, f.Model.MakingRoom(j.GPUs)); err != nil {
			return err
		}
	}
	bound := func(v *cluster.PodView) bool { return NodeOf(v.Pod(j.Name)) != "" }
	return f.View.Wait(ctx, j.Name+" has a node", bound)
}

// finish deletes the pods of jobs and waits until they are gone.
func (f *Flow) finish(ctx context.Context, names []string) error {
	now := metav1.DeleteOptions{GracePeriodSeconds: new(int64)}
	err := cluster.Parallel(ctx, 4, names, func(ctx context.Context, name string) error {
		return f.Client.CoreV1().Pods(cluster.Namespace).Delete(ctx, name, now)
	})
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := f.changed(ctx, f.Model.Finish(name)); err != nil {
			return err
		}
	}
	return f.View.Wait(ctx, "jobs are finished", func(v *cluster.PodView) bool {
		for _, name := range names {
			if v.Pod(name) != nil {
				return false
			}
		}
		return true
	})
}

// NodeOf is a pod's node, "" for none.
func NodeOf(pod *corev1.Pod) string {
	if pod == nil {
		return ""
	}
	return pod.Spec.NodeName
}

// Rejected says that the scheduler has tried a pod and found no node.
func Rejected(pod *corev1.Pod) bool {
	if pod == nil {
		return false
	}
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodScheduled && condition.Status == corev1.ConditionFalse {
			return true
		}
	}
	return false
}
