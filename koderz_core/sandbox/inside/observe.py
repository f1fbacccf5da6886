"""Stand-in."""

def install(emit):
    pass
