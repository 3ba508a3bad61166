// What actions/cache does, by GitHub's own client from npm. Written anew after its source, 27d5ce7 (v5.0.5)
// src/{restoreImpl,saveImpl,constants}.ts and src/utils/actionUtils.ts; tests/ci/test_caches.py holds it to that.
import { isFeatureAvailable, restoreCache, saveCache } from "@actions/cache";
import * as core from "@actions/core";

const KEY = "CACHE_KEY";
const MATCHED = "CACHE_RESULT";
const warn = (text) => core.info(`[warning]${text}`);

export async function restore() {
  if (!available()) {
    core.setOutput("cache-hit", "false");
    return;
  }
  const key = core.getInput("key", { required: true });
  core.saveState(KEY, key);
  const others = lines("restore-keys");
  const lookupOnly = isTrue("lookup-only");
  const found = await restoreCache(paths(), key, others, { lookupOnly }, isTrue("enableCrossOsArchive"));
  if (!found) {
    if (isTrue("fail-on-cache-miss")) {
      throw new Error(`Failed to restore cache entry. Exiting as fail-on-cache-miss is set. Input key: ${key}`);
    }
    core.info(`Cache not found for input keys: ${[key, ...others].join(", ")}`);
    return;
  }
  core.saveState(MATCHED, found);
  core.setOutput("cache-hit", String(same(key, found)));
  core.info(`Cache ${lookupOnly ? "found and can be restored" : "restored"} from key: ${found}`);
}

// A cache that cannot be saved fails nothing.
export async function save() {
  try {
    await saved();
  } catch (error) {
    warn(error.message);
  }
}

async function saved() {
  if (!available()) return;
  const key = core.getState(KEY) || core.getInput("key");
  if (!key) {
    warn("Key is not specified.");
    return;
  }
  if (same(key, core.getState(MATCHED))) {
    core.info(`Cache hit occurred on the primary key ${key}, not saving cache.`);
    return;
  }
  const size = Number.parseInt(core.getInput("upload-chunk-size"), 10);
  const uploadChunkSize = size >= 0 ? size : undefined;
  const id = await saveCache(paths(), key, { uploadChunkSize }, isTrue("enableCrossOsArchive"));
  if (id !== -1) core.info(`Cache saved with key: ${key}`);
}

function available() {
  if (!isFeatureAvailable()) {
    warn("An internal error has occurred in cache backend.");
    return false;
  }
  if (process.env.GITHUB_REF) return true;
  warn(`Event Validation Error: The event type ${process.env.GITHUB_EVENT_NAME} is not supported because it's not tied to a branch or tag ref.`);
  return false;
}

const same = (key, found) => Boolean(found) && found.localeCompare(key, undefined, { sensitivity: "accent" }) === 0;
const isTrue = (name) => core.getInput(name).toLowerCase() === "true";
const paths = () => lines("path", { required: true });
const lines = (name, options) =>
  core
    .getInput(name, options)
    .split("\n")
    .map((each) => each.replace(/^!\s+/, "!").trim())
    .filter((each) => each !== "");

export const run = (action) =>
  action().then(
    () => process.exit(0),
    (error) => {
      core.setFailed(error.message);
      process.exit(1);
    },
  );
