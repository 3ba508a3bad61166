# Links ci-eval into the workspace, and puts the program `ci-eval` on the PATH of the steps to come.
set -euo pipefail
root="$(cd "$GITHUB_ACTION_PATH/../../.." && pwd)"
rm -rf .ci-eval
ln -s "$root" .ci-eval
if [ -d .git ]; then
  # In a container, root runs git in the checkout of another user.
  for folder in "$PWD" "$PWD/.base"; do
    # Other runners of this machine may write the same file.
    for _ in 1 2 3 4 5; do
      git config --global --get-all safe.directory | grep -qxF "$folder" && break
      git config --global --add safe.directory "$folder" || sleep 1
    done
  done
  # What these workflows put there is no change of the project.
  mkdir -p .git/info
  printf '/.%s\n' ci-eval base compared engines >> .git/info/exclude
fi
program="$RUNNER_TEMP/ci-eval-program"
mkdir -p "$program"
printf '#!/usr/bin/env bash\nexec %q %q "$@"\n' "$PYTHON" "$root/.github/actions/run.py" > "$program/ci-eval"
chmod +x "$program/ci-eval"
echo "$program" >> "$GITHUB_PATH"
"$program/ci-eval" --where "$ML"
