// Command pulumi-resource-random serves the random provider. schema.json and bridge-metadata.json
// are written beside this file by cmd/tfgen before the build.
package main

import (
	"context"
	_ "embed"

	pfbridge "github.com/pulumi/pulumi-terraform-bridge/v3/pkg/pf/tfbridge"

	"home.platform/tools/pulumi-resource-random/info"
)

//go:embed schema.json
var schema []byte

//go:embed bridge-metadata.json
var metadata []byte

func main() {
	pfbridge.Main(context.Background(), "random", info.Provider(metadata),
		pfbridge.ProviderMetadata{PackageSchema: schema})
}
