// The definitions of Fluid's resources come from Fluid's own source: tests/cluster/build.sh copies them. A module of its
// own, in which nothing is compiled: no more than Fluid's archive is downloaded.
module berth.dev/berth/testbed/fluid

go 1.26.0

require github.com/fluid-cloudnative/fluid v1.0.8
