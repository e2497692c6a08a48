"""What a change must pass before it lands: one check each, with what to do when it fails."""
