"""Why: idle regions, hot links, waits, and the decisions of the compiler behind a pixel."""
