#!/usr/bin/env bash
# Other programs on the same files, in the same run: how long, and how much memory. What is not installed is said.
#
#   tests/bench/peers.sh [URLS] [ROUNDS]        1000000 URLs, best of 3
#
# Needs a release build (cargo build --release). Peers that are looked for: xmllint, ripgrep, sort, xmlstarlet, the
# npm package `sitemap` (where node finds it: NODE_PATH), VisiData (vd), the Python standard library.
set -euo pipefail
cd "$(dirname "$0")/../.."
urls=${1:-1000000}
rounds=${2:-3}
per_file=50000
sited=${SITED:-${CARGO_TARGET_DIR:-target}/release/sited}
[ -x "$sited" ] || { echo "no release build at $sited: run cargo build --release first" >&2; exit 2; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

files=$(((urls + per_file - 1) / per_file))
ns='xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
{
    printf '<?xml version="1.0" encoding="UTF-8"?>\n<sitemapindex %s>\n' "$ns"
    for number in $(seq "$files"); do
        printf '<sitemap><loc>https://www.example.org/sitemap-%d.xml</loc></sitemap>\n' "$number"
    done
    printf '</sitemapindex>\n'
} > "$folder/sitemap_index.xml"
awk -v urls="$urls" -v per="$per_file" -v folder="$folder" -v ns="$ns" 'BEGIN {
    for (row = 0; row < urls; row++) {
        if (row % per == 0) {
            if (file) { print "</urlset>" > file; close(file) }
            file = folder "/sitemap-" (int(row / per) + 1) ".xml"
            printf "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<urlset %s>\n", ns > file
        }
        printf "  <url>\n    <loc>https://www.example.org/section-%d/some-words-here-%d</loc>\n    <lastmod>2026-0%d-1%d</lastmod>\n    <changefreq>weekly</changefreq>\n    <priority>0.%d</priority>\n  </url>\n", row % 8, row, 1 + row % 9, row % 10, row % 10 > file
    }
    print "</urlset>" > file
}'
parts=$(seq -f "$folder/sitemap-%g.xml" "$files")
bytes=$(cat "$folder"/*.xml | wc -c)
echo "$urls URLs in $files files, $((bytes / 1000000)) MB, best of $rounds"
printf '%-34s %10s %10s\n' "" seconds "MB memory"

# A program's best time, and its most memory where GNU time tells it.
measure() {
    local name=$1 best='' memory='' start stop took round
    shift
    for round in $(seq "$rounds"); do
        start=$(date +%s%N)
        if [ -x /usr/bin/time ]; then
            /usr/bin/time -f '%M' -o "$folder/memory" "$@" > /dev/null 2> "$folder/errors" || [ $? = 1 ] || { echo "$name failed:"; head -3 "$folder/errors"; return; }
            memory=$(($(tail -1 "$folder/memory") / 1024))
        else
            "$@" > /dev/null 2> "$folder/errors" || [ $? = 1 ] || { echo "$name failed:"; head -3 "$folder/errors"; return; }
        fi
        stop=$(date +%s%N)
        took=$(((stop - start) / 1000000))
        if [ -z "$best" ] || [ "$took" -lt "$best" ]; then best=$took; fi
    done
    printf '%-34s %10s %10s\n' "$name" "$(awk -v ms="$best" 'BEGIN { printf "%.2f", ms / 1000 }')" "${memory:-?}"
}
missing() { printf '%-34s %10s\n' "$1" "not installed"; }
has() { command -v "$1" > /dev/null; }

measure 'sited check (all rules)' "$sited" check "$folder" --max-findings 0
measure 'sited list' "$sited" list "$folder"
measure 'sited list --where path:**-9' "$sited" list "$folder" --where 'path:**-9'
measure 'sited stats' "$sited" stats "$folder"
if has xmllint; then
    # shellcheck disable=SC2086
    measure 'xmllint --stream --noout' xmllint --stream --noout $parts
else
    missing xmllint
fi
if has rg; then measure 'rg -c -- -9\b (of the same bytes)' rg -c -e '-9\b' "$folder"; else missing 'rg (ripgrep)'; fi
if has xmlstarlet; then
    # shellcheck disable=SC2086
    measure 'xmlstarlet sel (all loc)' xmlstarlet sel -N s=http://www.sitemaps.org/schemas/sitemap/0.9 -t -v //s:loc $parts
else
    missing xmlstarlet
fi
if has node && node -e 'require("sitemap")' 2> /dev/null; then
    cat > "$folder/read.cjs" <<'JS'
const { XMLToSitemapItemStream } = require("sitemap");
const fs = require("fs");
(async () => {
    let rows = 0;
    for (const path of process.argv.slice(2)) {
        for await (const item of fs.createReadStream(path).pipe(new XMLToSitemapItemStream())) rows += item ? 1 : 0;
    }
    console.log(rows);
})();
JS
    # shellcheck disable=SC2086
    measure 'sitemap.js (read)' env NODE_PATH="${NODE_PATH:-$(npm root -g 2> /dev/null)}" node "$folder/read.cjs" $parts
else
    missing 'sitemap.js (npm: sitemap)'
fi
if has python3; then
    cat > "$folder/read.py" <<'PY'
import sys
import xml.etree.ElementTree as tree
rows = 0
for path in sys.argv[1:]:
    for _, element in tree.iterparse(path):
        if element.tag.endswith("}url"):
            rows += 1
            element.clear()
print(rows)
PY
    # shellcheck disable=SC2086
    measure 'Python iterparse (read)' python3 "$folder/read.py" $parts
else
    missing python3
fi
if has vd; then
    "$sited" list "$folder" --format csv > "$folder/rows.csv"
    measure 'VisiData (the rows as CSV)' vd --batch "$folder/rows.csv" --output "$folder/out.tsv"
else
    missing 'VisiData (vd)'
fi
