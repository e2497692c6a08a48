// Command tfgen writes schema.json and bridge-metadata.json: tfgen schema --out DIR --skip-docs --skip-examples
package main

import (
	"github.com/pulumi/pulumi-terraform-bridge/v3/pkg/pf/tfgen"

	"home.platform/tools/pulumi-resource-random/info"
)

func main() {
	tfgen.Main("random", info.Provider(nil))
}
