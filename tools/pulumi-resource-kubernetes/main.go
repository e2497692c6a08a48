// Command pulumi-resource-kubernetes serves the Kubernetes provider of the module pinned in go.mod.
//
// Upstream's own main embeds generated files from its source tree; schema.json and
// terraform-mapping.json are copied beside this file out of that module before the build.
package main

import (
	_ "embed"

	"github.com/pulumi/pulumi-kubernetes/provider/v4/pkg/provider"
	"github.com/pulumi/pulumi-kubernetes/provider/v4/pkg/version"
)

//go:embed schema.json
var schema []byte

//go:embed terraform-mapping.json
var terraformMapping []byte

func main() {
	provider.Serve("kubernetes", version.Version, schema, terraformMapping)
}
