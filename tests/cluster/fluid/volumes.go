package fluid

import (
	"context"
	"fmt"
	"maps"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
)

// createVolume makes claim and volume, bound to each other as the volume controller would bind them. physical is the
// dataset that a reference dataset stands for.
func (d *Dataset) createVolume(ctx context.Context, physical *Dataset) error {
	name := d.Namespace + "-" + d.Name
	labels := map[string]string{d.WorkerLabel(): "true", "fluid.io/dataset-id": d.id()}
	volume := &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels, Annotations: map[string]string{"CreatedBy": "fluid"}},
		Spec: corev1.PersistentVolumeSpec{
			ClaimRef:         &corev1.ObjectReference{Namespace: d.Namespace, Name: d.Name},
			AccessModes:      []corev1.PersistentVolumeAccessMode{corev1.ReadOnlyMany},
			Capacity:         corev1.ResourceList{corev1.ResourceStorage: hundredPi},
			StorageClassName: "fluid",
			PersistentVolumeSource: corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{
				Driver: "fuse.csi.fluid.io", VolumeHandle: name, VolumeAttributes: d.volumeAttributes(physical),
			}},
		},
	}
	if _, err := d.c.Client.CoreV1().PersistentVolumes().Create(ctx, volume, metav1.CreateOptions{}); err != nil {
		return err
	}
	claimLabels := maps.Clone(labels)
	if physical != nil {
		claimLabels["fluid.io/dataset.referring-name"] = physical.Name
		claimLabels["fluid.io/dataset.referring-namespace"] = physical.Namespace
	}
	class := "fluid"
	claim := &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{
			Name: d.Name, Namespace: d.Namespace, Labels: claimLabels,
			Annotations: map[string]string{"CreatedBy": "fluid", "pv.kubernetes.io/bind-completed": "yes"},
		},
		Spec: corev1.PersistentVolumeClaimSpec{
			VolumeName:       name,
			StorageClassName: &class,
			AccessModes:      volume.Spec.AccessModes,
			Resources:        corev1.VolumeResourceRequirements{Requests: volume.Spec.Capacity},
		},
	}
	claims := d.c.Client.CoreV1().PersistentVolumeClaims(d.Namespace)
	created, err := claims.Create(ctx, claim, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	created.Status = corev1.PersistentVolumeClaimStatus{
		Phase: corev1.ClaimBound, AccessModes: claim.Spec.AccessModes, Capacity: volume.Spec.Capacity,
	}
	_, err = claims.UpdateStatus(ctx, created, metav1.UpdateOptions{})
	return err
}

var hundredPi = resource.MustParse("100Pi")

func (d *Dataset) volumeAttributes(physical *Dataset) map[string]string {
	of := d
	if physical != nil {
		of = physical
	}
	mount := map[Runtime]string{Alluxio: "fuse.alluxio-fuse"}[of.Runtime]
	if mount == "" {
		mount = "JuiceFS"
	}
	return map[string]string{
		"fluid_path": fmt.Sprintf("/runtime-mnt/%s/%s/%s/%s-fuse", of.Runtime, of.Namespace, of.Name, of.Runtime),
		"mount_type": mount, "runtime_namespace": of.Namespace, "runtime_name": of.Name,
	}
}

// Refer makes a reference dataset: another name, usually in another namespace, for the data of this one. It has a
// ThinRuntime, no workers and no node labels.
func (d *Dataset) Refer(ctx context.Context, namespace, name string) (*Dataset, error) {
	client, err := dynamic.NewForConfig(d.c.Config)
	if err != nil {
		return nil, err
	}
	if err := EnsureNamespace(ctx, d.c, namespace); err != nil {
		return nil, err
	}
	r := &Dataset{Spec: Spec{Namespace: namespace, Name: name, Runtime: d.Runtime}, c: d.c, client: client}
	spec := map[string]any{"mounts": []any{map[string]any{
		"mountPoint": "dataset://" + d.Namespace + "/" + d.Name, "name": name,
	}}}
	status := d.status() // A copy of the physical one's, but for the runtime.
	status["runtimes"] = []any{map[string]any{
		"name": name, "namespace": namespace, "category": "Accelerate", "type": "thin",
	}}
	created, err := r.create(ctx, "datasets", name, spec, status)
	if err != nil {
		return nil, err
	}
	r.UID = string(created.GetUID())
	if _, err := r.create(ctx, "thinruntimes", name, map[string]any{}, d.runtimeStatus()); err != nil {
		return nil, err
	}
	return r, r.createVolume(ctx, d)
}
