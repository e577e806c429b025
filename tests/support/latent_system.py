"""A configuration of lscfg's own decoder with latent features, and weights."""

INI = """formalism=scfg
grammar=g.gz
feature_function=WordPenalty
feature_function=KLanguageModel lm.arpa
feature_function=LSCFG model=em.lscfg features=ratios,context
add_pass_through_rules=true
scfg_max_span_limit=100
scfg_no_hiero_glue_grammar=true
"""

WEIGHTS = "LanguageModel 1\nEgivenF -1\nPassThrough -5\nWordPenalty -2\nLatentTarget 0.1\n"
