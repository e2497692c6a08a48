"""The stack on the embedded cluster: the real engine with a state backend, home and kubeconfig of its own."""
