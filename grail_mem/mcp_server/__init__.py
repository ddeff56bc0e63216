"""`grail mcp`: the memory as a server of the Model Context Protocol, over stdio and over HTTP.

Importing loads nothing; the SDK is loaded by what serves, and the store by the first call that needs it.
"""
