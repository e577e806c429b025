"""x"""
HELP="x"
EXAMPLE="lscfg serve bundle"
def add_arguments(p): pass
def run(a): pass
