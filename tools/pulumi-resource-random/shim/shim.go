// Package shim makes the Terraform random provider, which sits in an internal package, importable.
// Its module path is a child of that provider's, which is what Go's internal rule asks for.
package shim

import (
	"github.com/hashicorp/terraform-plugin-framework/provider"
	upstream "github.com/terraform-providers/terraform-provider-random/internal/provider"
)

// Provider returns the Terraform provider.
func Provider() provider.Provider {
	return upstream.New()
}
