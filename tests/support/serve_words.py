"""Command lines of ``lscfg pack`` and ``lscfg serve`` with all of their options."""

SERVE_LINES = {
    "pack a folder": "pack folder -o bundle",
    "pack": "pack -c cdec.ini -w weights --prepare folder -o bundle",
    "serve a folder": "serve folder",
    "serve": "serve -c cdec.ini -w weights --host 127.0.0.2 --port 97 --jobs 96 --max-request 1000 --max-sentences 2 "
    "--max-words 3 --max-translations 4 --queue 5 --timeout 0.25",
}
