// Package info describes how the Terraform random provider becomes a Pulumi package.
package info

import (
	pfbridge "github.com/pulumi/pulumi-terraform-bridge/v3/pkg/pf/tfbridge"
	"github.com/pulumi/pulumi-terraform-bridge/v3/pkg/tfbridge"
	"github.com/pulumi/pulumi-terraform-bridge/v3/pkg/tfbridge/tokens"
	"github.com/terraform-providers/terraform-provider-random/shim"
)

// Version is what the plugin reports; the build sets it with -ldflags.
var Version = "0.0.0"

// Provider returns the mapping; metadata is nil while it is being generated.
func Provider(metadata []byte) tfbridge.ProviderInfo {
	info := tfbridge.ProviderInfo{
		P:            pfbridge.ShimProvider(shim.Provider()),
		Name:         "random",
		Version:      Version,
		MetadataInfo: tfbridge.NewProviderMetadata(metadata),
	}
	standard := tokens.MakeStandard("random")
	info.MustComputeTokens(tokens.SingleModule("random_", "index", func(module, name string) (string, error) {
		return standard(module, "Random"+name)
	}))
	info.SetAutonaming(255, "-")
	return info
}
