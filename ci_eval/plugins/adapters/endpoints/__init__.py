"""Language models at an HTTP address: a client with a store of answers, and an engine that uses the client."""
