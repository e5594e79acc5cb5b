"""The command line as the pages promise it: commands, their arguments in order, their options, keys of their JSON."""

from __future__ import annotations

# Command -> arguments (upper case, in order) and options. Every one of them also has -h and --help.
COMMANDS: dict[str, str] = {
    "": "--version --debug",
    "demo": "--console --out --threads --set --json --debug",
    "run": (
        "PROGRAM --frames --presents --until --out --pictures --record --expect --tolerance --junit --report --sd"
        " --sd-write --input --press --text --font --elf --arg --threads --set --json --debug"
    ),
    "render": (
        "CAPTURE --list --memory --registers --out --frames --layout --animate --fps --expect --tolerance --junit"
        " --report --threads --force --set --json --debug"
    ),
    "convert": "CAPTURE OUT --no-pictures --packing --threads --set --json --debug",
    "capture minimise": "CAPTURE OUT --keep --replays --threads --set --json --debug",
    "capture redact": "CAPTURE OUT --threads --set --json --debug",
    "capture repair": "CAPTURE OUT --json --debug",
    "capture verify": "CAPTURE --threads --set --json --debug",
    "bench": "CAPTURE --repeat --threads --set --json --debug",
    "info": "CAPTURE --json --debug",
    "view": (
        "CAPTURE REST --port --host --notes --no-browser --switch-b --force --text --paused --sd --font --elf --arg"
        " --set --debug"
    ),
    "sweep": (
        "PATTERNS --do --out --resume --retry --baseline --workers --scheduler --patience --ship --timeout --memory"
        " --frames --repeat --report --no-report --set --json --debug"
    ),
    "events": "CAPTURE ADDRESS --draws --graph --perfetto --set --json --debug",
    "why": "CAPTURE ADDRESS --all --html --force --set --json --debug",
    "decode": (
        "CAPTURE PLACES --as --base --offset --size --big-endian --strict --no-garbage --filter --changed --words"
        " --macros --no-header --set --json --debug"
    ),
    "check": "CAPTURE --rule --skip --list --notes --no-notes --junit --json --debug",
    "doubts": "CAPTURES --choice --frames --expect --as --html --workers --threads --set --json --debug",
    "probe make": "FOLDER CAPTURES --choice --console --frame --most --json --debug",
    "probe read": "PLACES --evidence --json --debug",
    "diff": "A B --frame --switch-a --switch-b --force-b --evaluator-a --evaluator-b --out --json --debug",
    "state": (
        "CAPTURE ADDRESS --against --textures --mesh --space --vertices --shaders --target --force --set --json --debug"
    ),
    "who": "CAPTURE PLACE --size --before --reads --set --json --debug",
    "dump": "CAPTURE --at --memory --out --threads --set --json --debug",
    "image": "FILE --format --layout --size --offset --flip --upright --out --json --debug",
    "regs": "WORDS --unknown --json --debug",
    "timing": "CAPTURE --registers -r --init --at --screen --svg --set --json --debug",
    "dap": "--port --log --vsix --debug",
    "launch": "CUBIN --kernel --header --grid --block --arg --bind --shared --threads --evaluator --json --debug",
    "macro asm": "SOURCE --out -o --json --debug",
    "macro dis": "WORDS --macro --json --debug",
    "macro run": "PROGRAM PARAMETERS --state --steps --json --debug",
    "shader asm": "SOURCE --out -o --console --into --kernel -k --json --debug",
    "shader dis": "FILES --control --out -o --kernel -k --kind --descriptors --json --debug",
    "shader graph": "FILE --out -o --kernel -k --kind --descriptors --json --debug",
    "shader info": "FILES --kernel -k --kind --descriptors --json --debug",
    "shader isa": "OP --json --debug",
    "shader run": "FILE VALUES --kernel -k --json --debug",
    "shader step": (
        "FILE VALUES --kernel -k --from --to --nan --most --text --grid --block --at --arg --shared --json --debug"
    ),
    "lsp": "--port --debug",
    "switches": "NAMES --evidence --console --certainty --json --debug",
    "doctor": "--json --debug",
    "cache info": "--json --debug",
    "cache make": "--seconds --workers --json --debug",
    "cache clear": "--json --debug",
    "completion install": "SHELL --json --debug",
    "completion show": "SHELL --json --debug",
}

EXIT_CODES = {
    "OK": 0,
    "FINDINGS": 1,
    "USAGE": 2,
    "UNREADABLE": 3,
    "NO_PICTURE": 4,
    "INTERNAL": 5,
    "INTERRUPTED": 130,
    "PIPE_CLOSED": 141,
}

# Each command line that gives one JSON object ({3ds}, {switch}: recordings; {out}: a folder) -> its keys on the top.
JSON_KEYS: dict[str, str] = {
    "render {3ds} --out {out}": "frames warnings",
    "render {switch} --out {out}": "frames warnings",
    "info {3ds}": "capture totals states features programs doubts frames warnings",
    "info {switch}": (
        "capture totals after_last_frame headers classes unknown_methods macros features doubts frames warnings"
    ),
    "events {3ds} f0": "events frames warnings",
    "events {switch} f0": "events frames warnings",
    "why {3ds} f0/px200,160": "why frames warnings",
    "why {3ds} f0/d1": "why frames warnings",
    "why {switch} f0/px16,20": "why frames warnings",
    "why {switch} f0/d1": "why frames warnings",
    "check {3ds}": "schema counts rules findings frames warnings",
    "doubts {3ds} --choice list.end_match": "captures matrix frames warnings",
    "check {switch}": "schema counts rules findings frames warnings",
    "state {3ds} f0/d1": "state frames warnings",
    "state {switch} f0/d1": "state frames warnings",
    "who {3ds} 0x18000000": "who frames warnings",
    "who {switch} 0x500000000": "who frames warnings",
    "diff {3ds} {3ds}": "diff frames warnings",
    "diff {switch} {switch}": "diff frames warnings",
    "dump {3ds} --at f0 --memory 0x18000000:16 --out {out}/bytes.bin": "memory frames warnings",
    "bench {3ds} --repeat 1": "repeat threads all frames warnings",
    "capture verify {3ds}": "different unknown frames warnings",
    "convert {switch} {out}/again.pgc": "file bytes bytes_before frame_count frames warnings",
    "regs TEXUNIT0_DIM 1": "registers frames warnings",
    "regs b197 CLEAR_SURFACE": "registers frames warnings",
    "timing --screen top": "screens frames warnings",
    "switches": "switches frames warnings",
    "shader isa FFMA": "forms frames warnings",
    "shader step {3ds} f0/d0/v1": "trace frames warnings",
    "doctor": "checks frames warnings",
    "cache info": "cache frames warnings",
    "cache make --seconds 1": "frames kernels warnings",
}
