"""The dashboard's pages: one file per page, layout only."""
