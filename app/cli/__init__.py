"""The command line: one file a verb or two, each a thin translation to what a session does."""
