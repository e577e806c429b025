"""The report's style sheet."""

STYLE = """
:root { color-scheme: light dark; --ink: #1c2128; --muted: #59636e; --paper: #ffffff; --card: #f5f7f9; --rule: #d5dbe1;
  --accent: #0b62a8; --faint: #9aa5b1; --good: #1a7f4b; --bad: #b3421d; --band: #0b62a826; }
@media (prefers-color-scheme: dark) { :root { --ink: #e4e8ed; --muted: #9da7b3; --paper: #14181d; --card: #1d232a;
  --rule: #353d47; --accent: #62aef0; --faint: #6b7682; --good: #56c98a; --bad: #f0906a; --band: #62aef030; } }
* { box-sizing: border-box; }
html { scroll-behavior: smooth; -webkit-text-size-adjust: 100%; }
body { margin: 0; background: var(--paper); color: var(--ink); line-height: 1.5; font-family: system-ui, -apple-system,
  "Segoe UI", Roboto, "Liberation Sans", "DejaVu Sans", "Hiragino Sans", "Noto Sans CJK JP",
  "Yu Gothic", "Noto Sans CJK SC", "PingFang SC", "Microsoft YaHei", "Malgun Gothic", "IPAPGothic", sans-serif;
  overflow-wrap: break-word; }
body > header, main, body > footer { max-width: 70rem; margin: 0 auto; padding: 0 1rem; }
body > header { padding-top: 2rem; }
h1 { font-size: 1.9rem; line-height: 1.2; margin: 0 0 .4rem; }
h2 { font-size: 1.3rem; margin: 2.6rem 0 .6rem; padding-bottom: .25rem; border-bottom: 2px solid var(--rule); }
h3 { font-size: 1.05rem; margin: 1.6rem 0 .4rem; }
p { margin: .5rem 0; max-width: 46rem; }
.lead { font-size: 1.08rem; }
.note, figcaption { color: var(--muted); font-size: .88rem; }
nav ul { list-style: none; padding: 0; margin: 1rem 0 0; display: flex; flex-wrap: wrap; gap: .3rem .9rem; }
a { color: var(--accent); }
dl.facts { display: grid; grid-template-columns: repeat(auto-fill, minmax(9.5rem, 1fr)); gap: .6rem;
  margin: 1.2rem 0 0; }
dl.facts div { background: var(--card); border-radius: .5rem; padding: .55rem .75rem; }
dl.facts dt { color: var(--muted); font-size: .82rem; }
dl.facts dd { margin: 0; font-size: 1.15rem; font-weight: 600; font-variant-numeric: tabular-nums; }
.scroll { overflow-x: auto; margin: .6rem 0; }
.scroll:focus-visible { outline: 2px solid var(--accent); }
table { border-collapse: collapse; font-size: .92rem; font-variant-numeric: tabular-nums; }
th, td { padding: .32rem .7rem; text-align: right; border-bottom: 1px solid var(--rule); white-space: nowrap; }
thead th { border-bottom: 2px solid var(--rule); vertical-align: bottom; font-weight: 600; }
th:first-child, td:first-child { padding-left: .2rem; }
tbody th, th.text, td.text { text-align: left; font-weight: 600; }
td.text { font-weight: 400; }
td.wrap { white-space: normal; overflow-wrap: anywhere; }
tr.baseline { background: var(--card); }
td.best { font-weight: 700; }
.dev { color: var(--muted); font-size: .88em; }
td.bar { min-width: 8rem; }
td.bar span { display: block; height: .7rem; border-radius: .2rem; background: var(--accent); min-width: 1px;
  -webkit-print-color-adjust: exact; print-color-adjust: exact; }
.grid { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(15.5rem, 100%), 1fr)); gap: 1.2rem; }
.heat { grid-template-columns: repeat(auto-fit, minmax(min(19rem, 100%), 1fr)); }
figure { margin: 0; min-width: 0; break-inside: avoid; }
figure svg { display: block; width: 100%; height: auto; }
figure.plot svg { max-width: 26rem; }
figure.wide svg { max-width: 30rem; }
.heat figure { background: var(--card); border-radius: .5rem; padding: .7rem; }
.heat svg { background: #fff; border-radius: .3rem; max-width: 30rem; margin: 0 auto; }
.heat svg * { stroke-linejoin: round; stroke-linecap: butt; }
.heat figcaption { color: var(--ink); font-size: .95rem; margin-top: .5rem; }
svg text { font-family: inherit; }
.plot text { fill: var(--ink); font-size: 11px; }
.plot .tick { fill: var(--muted); font-size: 10px; }
.axis { stroke: var(--rule); stroke-width: 1; fill: none; }
.line { stroke: var(--accent); stroke-width: 1.8; fill: none; stroke-linejoin: round; }
.line.more { stroke-width: 1.3; opacity: .75; }
.line.base { stroke: var(--faint); stroke-width: 1.2; stroke-dasharray: 3 3; }
.dot { fill: var(--accent); stroke: var(--paper); stroke-width: 1; }
.dot.run { fill: var(--faint); stroke: none; }
.ci { fill: var(--band); }
.fill { fill: var(--accent); }
dl.text { margin: .4rem 0; }
dl.text div { display: grid; grid-template-columns: minmax(5.5rem, 9rem) 1fr; gap: .1rem .8rem; padding: .12rem 0; }
dl.text dt { color: var(--muted); font-size: .88rem; overflow-wrap: anywhere; padding-top: .1rem; }
dl.text dd { margin: 0; }
.score { color: var(--muted); font-size: .85rem; white-space: nowrap; }
.example { border-left: 4px solid var(--rule); padding: .1rem 0 .1rem .8rem; margin: .8rem 0; break-inside: avoid; }
.example.gain { border-color: var(--good); } .example.loss { border-color: var(--bad); }
.gain b { color: var(--good); } .loss b { color: var(--bad); }
.miss { text-decoration: underline dotted var(--bad); text-underline-offset: .2em; }
details { border: 1px solid var(--rule); border-radius: .5rem; padding: .5rem .8rem; margin: .7rem 0; }
summary { cursor: pointer; font-weight: 600; }
pre { background: var(--card); border-radius: .5rem; padding: .8rem; overflow-x: auto; font-size: .82rem;
  line-height: 1.4; }
code { font-size: .85em; overflow-wrap: anywhere; }
body > footer { color: var(--muted); font-size: .88rem; padding-bottom: 2.5rem; margin-top: 2.5rem; }
@media (max-width: 34rem) { h1 { font-size: 1.5rem; } th, td { padding: .3rem .45rem; }
  dl.text div { grid-template-columns: 1fr; } }
@media print { :root { color-scheme: light; --ink: #000; --muted: #444; --paper: #fff; --card: #f3f3f3; --rule: #bbb;
    --accent: #0b62a8; --faint: #888; --band: #0b62a826; }
  body { font-size: 9.5pt; } nav { display: none; } h2, h3 { break-after: avoid; } table { font-size: 8pt; }
  th, td { padding: .2rem .35rem; } .scroll { overflow: visible; } pre { white-space: pre-wrap; }
  details { border: 0; padding: 0; } details::details-content { content-visibility: visible; block-size: auto; }
  a { color: inherit; text-decoration: none; } }
""".strip()
