"""A session of a running dashboard, over HTTP: the same verbs and views as in this process."""
