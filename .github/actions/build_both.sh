# Builds the engine in .base, unless what it left there was cached, and in the checkout: each into a folder of .engines.
set -euo pipefail
for side in base new; do
  target="$GITHUB_WORKSPACE/$FOLDER/.engines/$side"
  if [ $side = new ]; then from=.; else from=.base; fi
  [ -d "$from" ] || continue
  rm -rf "$target"
  mkdir -p "$target"
  (cd "$from/$FOLDER" && bash -euo pipefail -c "$BUILD" && tar -cf - -- "$OUTPUT" | tar -xf - -C "$target")
done
rm -rf .base
