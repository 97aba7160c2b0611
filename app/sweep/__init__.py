"""One model under many settings, in processes here or on a cluster."""
