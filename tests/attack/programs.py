"""Programs that use the API, with the files that they read; ``odd`` is a text."""

ODD_TEXTS = (
    "a b", "", " ", "\0", "\ud800", "[X,1] a", "[X,1]", "||| |||", "a" * 100_000, "a " * 5_000, "\u2028", "<s> </s>",
    "\n",
    "a\tb", "\N{NO-BREAK SPACE}", "<unk>", "\ufeffa", "&#124; [", "'\"\\", "\x1b[31m",
)  # fmt: skip

PROGRAMS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (
        "import lscfg; m = lscfg.load('em.lscfg'); a = m.analyse(odd); a.best(); a.spans(); a.rules(); a.states()",
        ("em.lscfg",),
    ),
    ("import lscfg; str(lscfg.load('sp.lscfg').states())", ("sp.lscfg",)),
    ("import lscfg; lscfg.load(odd)", ()),
    ("import lscfg; lscfg.Derivations.load('t.deriv')", ("t.deriv",)),
    ("import lscfg; lscfg.MLE().fit('t.deriv').save('out')", ("t.deriv",)),
    ("import lscfg; lscfg.EM(m=2, iterations=1).fit('t.deriv', context='t.ja').save('out')", ("t.deriv", "t.ja")),
    ("import lscfg; lscfg.Spectral(m=2).fit('t.deriv').save('out')", ("t.deriv",)),
    ("import lscfg; lscfg.Clusters(m=2, iterations=1).fit('my.trees')", ("my.trees",)),
    (
        "import lscfg\nwith lscfg.Decoder('cdec.ini', 'weights') as d:\n  d.translate([odd]); d.translate([odd], 3)",
        ("cdec.ini", "weights", "g.gz", "lm.arpa", "em.lscfg"),
    ),
    ("import lscfg; lscfg.derive([odd, 'a b'], ['x', 'y z'], ['0-0', '0-1 1-0'])", ()),
    ("import lscfg; lscfg.derive(['a', 'a b'], ['x', 'y z'], ['0-0', odd])", ()),
    ("import lscfg; lscfg.EM(m=odd).fit('t.deriv')", ("t.deriv",)),
    ("import lscfg; lscfg.load('em.lscfg').analyse(5)", ()),
)
