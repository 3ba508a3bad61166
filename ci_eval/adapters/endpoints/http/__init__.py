"""An exchange over HTTP: what is sent, and what servers and proxies make of an answer."""
