// What GitHub's own actions do, by GitHub's own clients from npm. Written anew after the actions' source:
// actions/download-artifact 3e5f45b (v8.0.1) src/download-artifact.ts; actions/upload-artifact bbbca2d (v7.0.0)
// src/upload/{upload-artifact,input-helper}.ts and src/shared/search.ts. tests/ci/test_stand_ins.py holds them to it.
// Of actions/deploy-pages cd2ce8f (v5.0.0) only what it looks for.
import { statSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join, normalize, resolve } from "node:path";
import { ArtifactNotFoundError, DefaultArtifactClient } from "@actions/artifact";
import * as core from "@actions/core";
import { context } from "@actions/github";
import { create } from "@actions/glob";
import { Minimatch } from "minimatch";

const client = new DefaultArtifactClient();

// ------------------------------------------------------------------------------------------------------------ upload

export async function uploadArtifact() {
  const [name, path] = [core.getInput("name"), core.getInput("path", { required: true })];
  const [overwrite, hidden, archive] = ["overwrite", "include-hidden-files", "archive"].map((each) =>
    core.getBooleanInput(each),
  );
  // A wrong value fails the step, and it goes on: so does the action.
  const ifNone = core.getInput("if-no-files-found");
  const say = { warn: core.warning, error: core.setFailed, ignore: core.info }[ifNone];
  if (!say) core.setFailed(`Unrecognized if-no-files-found input. Provided: ${ifNone}. Available options: warn,error,ignore`);
  const retentionDays = number("retention-days", () => true, "");
  const compressionLevel = number("compression-level", (level) => level >= 0 && level <= 9, ". Valid values are 0-9");
  const { files, root } = await found(path, !hidden);
  if (!files.length) {
    say?.(`No files were found with the provided path: ${path}. No artifacts will be uploaded.`);
    return;
  }
  if (!archive && files.length > 1) {
    core.setFailed(
      `When 'archive' is set to false, only a single file can be uploaded. Found ${files.length} files to upload.`,
    );
    return;
  }
  if (overwrite) await removed(name);
  const uploaded = await client.uploadArtifact(name, files, root, {
    ...(retentionDays && { retentionDays }),
    ...(compressionLevel !== undefined && { compressionLevel }),
    ...(!archive && { skipArchive: true }),
  });
  core.setOutput("artifact-id", uploaded.id);
  core.setOutput("artifact-digest", uploaded.digest);
  const { repo, runId, serverUrl } = context;
  core.setOutput(
    "artifact-url",
    `${serverUrl}/${repo.owner}/${repo.repo}/actions/runs/${runId}/artifacts/${uploaded.id}`,
  );
}

function number(name, valid, why) {
  const text = core.getInput(name);
  if (!text) return undefined;
  const value = Number.parseInt(text, 10);
  if (Number.isNaN(value)) core.setFailed(`Invalid ${name}`);
  else if (!valid(value)) core.setFailed(`Invalid ${name}${why}`);
  return value;
}

async function found(path, excludeHiddenFiles) {
  const globber = await create(path, {
    followSymbolicLinks: true,
    implicitDescendants: true,
    omitBrokenSymbolicLinks: true,
    excludeHiddenFiles,
  });
  const files = (await globber.glob()).filter((each) => !statSync(each).isDirectory());
  const searched = globber.getSearchPaths();
  if (searched.length > 1) return { files, root: leastCommonAncestor(searched) };
  const alone = files.length === 1 && searched[0] === files[0];
  return { files, root: alone ? dirname(files[0]) : searched[0] };
}

function leastCommonAncestor(paths) {
  const [first, ...others] = paths.map((each) => normalize(each).split("/"));
  const differs = first.findIndex((part, at) => others.some((other) => other[at] !== part));
  return join("/", ...first.slice(0, differs < 0 ? first.length : differs));
}

async function removed(name) {
  try {
    await client.deleteArtifact(name);
  } catch (error) {
    const why = error instanceof ArtifactNotFoundError ? "it does not exist" : error.message;
    core.debug(`Not deleted: ${name}: ${why}`);
  }
}

// ------------------------------------------------------------------------------------------------------------- pages

// actions/deploy-pages cd2ce8f (v5.0.0) src/internal/api-client.js: the artifact it would tell GitHub to publish. Nothing
// is published here.
export async function deployPages() {
  const name = core.getInput("artifact_name");
  const { artifacts } = await client.listArtifacts();
  const there = artifacts.filter((each) => each.name === name);
  if (there.length === 0) {
    throw new Error(
      `No artifacts named "${name}" were found for this workflow run. ` +
        "Ensure artifacts are uploaded with actions/upload-artifact@v4 or later.",
    );
  }
  if (there.length > 1) {
    throw new Error(
      `Multiple artifacts named "${name}" were unexpectedly found for this workflow run. ` +
        `Artifact count is ${there.length}.`,
    );
  }
  core.info(`Creating Pages deployment of artifact ${there[0].id}, ${name}`);
  core.setOutput("page_url", "https://pages.invalid/");
}

// ---------------------------------------------------------------------------------------------------------- download

const ON_MISMATCH = { ignore: () => {}, info: core.info, warn: core.warning, error: () => {} };

export async function downloadArtifact() {
  try {
    await downloaded();
  } catch (error) {
    throw new Error(`Unable to download artifact(s): ${error.message}`);
  }
}

async function downloaded() {
  const [name, ids] = [core.getInput("name"), core.getInput("artifact-ids")];
  const [merge, skipDecompress] = ["merge-multiple", "skip-decompress"].map((each) => core.getBooleanInput(each));
  const mismatch = core.getInput("digest-mismatch") || "error";
  if (!Object.hasOwn(ON_MISMATCH, mismatch)) {
    const valid = Object.keys(ON_MISMATCH).join(", ");
    throw new Error(`Invalid value for 'digest-mismatch': '${mismatch}'. Valid options are: ${valid}`);
  }
  const path = core.getInput("path") || process.env.GITHUB_WORKSPACE || process.cwd();
  const root = resolve(path.startsWith("~") ? path.replace("~", homedir()) : path);
  if (name && ids) {
    throw new Error("Inputs 'name' and 'artifact-ids' cannot be used together. Please specify only one.");
  }
  const options = elsewhere();
  const artifacts = name ? [(await client.getArtifact(name, options)).artifact] : await several(ids, options);
  // One artifact has no folder of its own, whether a name or a pattern has found it.
  const flat = name || merge || artifacts.length === 1;
  const wrong = [];
  await Promise.all(
    artifacts.map(async ({ id, name: each, digest }) => {
      const target = { path: flat ? root : join(root, each), expectedHash: digest, skipDecompress };
      const { digestMismatch } = await client.downloadArtifact(id, { ...options, ...target });
      if (!digestMismatch) return;
      wrong.push(each);
      ON_MISMATCH[mismatch](
        `Artifact '${each}' digest validation failed. Please verify the integrity of the artifact.`,
      );
    }),
  );
  if (wrong.length && mismatch === "error") {
    const which = wrong.join(", ");
    throw new Error(
      `Digest validation failed for artifact(s): ${which}. Use 'digest-mismatch: warn' to continue on mismatch.`,
    );
  }
  core.info(`Total of ${artifacts.length} artifact(s) downloaded`);
  core.setOutput("download-path", root);
}

function elsewhere() {
  const token = core.getInput("github-token");
  if (!token) return {};
  const repository = core.getInput("repository");
  const [repositoryOwner, repositoryName] = repository.split("/");
  if (!repositoryOwner || !repositoryName) {
    throw new Error(`Invalid repository: '${repository}'. Must be in format owner/repo`);
  }
  const workflowRunId = Number.parseInt(core.getInput("run-id"), 10);
  return { findBy: { token, workflowRunId, repositoryName, repositoryOwner } };
}

async function several(ids, options) {
  const wanted = ids ? numbers(ids) : null;
  const { artifacts } = await client.listArtifacts({ latest: true, ...options });
  const pattern = core.getInput("pattern");
  if (!wanted) return pattern ? artifacts.filter((each) => new Minimatch(pattern).match(each.name)) : artifacts;
  const there = artifacts.filter((each) => wanted.includes(each.id));
  if (!there.length) throw new Error("None of the provided artifact IDs were found");
  if (there.length < wanted.length) {
    const missing = wanted.filter((id) => !there.some((each) => each.id === id));
    core.warning(`Could not find the following artifact IDs: ${missing.join(", ")}`);
  }
  return there;
}

function numbers(ids) {
  const texts = ids.split(",").map((each) => each.trim()).filter((each) => each !== "");
  if (!texts.length) throw new Error("No valid artifact IDs provided in 'artifact-ids' input");
  return texts.map((text) => {
    const id = Number.parseInt(text, 10);
    if (Number.isNaN(id)) throw new Error(`Invalid artifact ID: '${text}'. Must be a number.`);
    return id;
  });
}

export const run = (action) =>
  action().catch((error) => {
    core.setFailed(error.message);
  });
