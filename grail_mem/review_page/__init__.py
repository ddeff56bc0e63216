"""The store as a local web page where people review, browse and search."""
