"""The exchange over HTTP: the requests, and the ways of servers and proxies to answer them."""
