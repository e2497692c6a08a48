module github.com/terraform-providers/terraform-provider-random/shim

go 1.26

require github.com/terraform-providers/terraform-provider-random v1.3.2-0.20260513075824-f8d869dc98d9
