// The Go modules whose source directories carry CRDs. They are downloaded, never compiled, so go.sum holds these
// modules alone. After a change of a version: `go mod download -json MODULE@VERSION` here adds its checksums.
module home.platform/tools/crds

go 1.26.0

require (
	github.com/cert-manager/cert-manager v1.21.2
	github.com/cilium/cilium v1.20.1
	github.com/controlplaneio-fluxcd/flux-operator v0.58.0
	github.com/kubernetes-csi/external-snapshotter/client/v8 v8.6.0
	github.com/kyverno/kyverno v1.19.1
	github.com/prometheus-operator/prometheus-operator v0.93.1
	github.com/vmware-tanzu/velero v1.18.1
	sigs.k8s.io/gateway-api v1.6.3
	sigs.k8s.io/kwok v0.8.0
)
