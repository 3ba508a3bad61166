// What GitHub's own actions do, by GitHub's own clients from npm. Their inputs and defaults are those of the versions
// that the workflows pin; what the workflows do not use is left out.
import { statSync } from "node:fs";
import { join, resolve } from "node:path";
import { DefaultArtifactClient } from "@actions/artifact";
import * as core from "@actions/core";
import { context, getOctokit } from "@actions/github";
import { create } from "@actions/glob";

export async function uploadArtifact() {
  const [name, path] = [core.getInput("name"), core.getInput("path")];
  const root = resolve(path);
  // The action leaves hidden files out unless it is told otherwise.
  const found = await (await create(path, { excludeHiddenFiles: true })).glob();
  const files = found.filter((each) => !statSync(each).isDirectory());
  if (!files.length) throw new Error(`No files were found with the provided path: ${path}`);
  const compressionLevel = Number(core.getInput("compression-level") || 6);
  await new DefaultArtifactClient().uploadArtifact(name, files, root, { compressionLevel });
}

export async function downloadArtifact() {
  const [name, pattern, token] = ["name", "pattern", "github-token"].map((each) => core.getInput(each));
  const path = core.getInput("path") || ".";
  const client = new DefaultArtifactClient();
  const options = {};
  if (token) {
    const { owner: repositoryOwner, repo: repositoryName } = context.repo;
    options.findBy = { token, workflowRunId: Number(core.getInput("run-id")), repositoryOwner, repositoryName };
  }
  const wanted = new RegExp(`^${pattern.replaceAll(".", "\\.").replaceAll("*", ".*")}$`);
  const found = name
    ? [(await client.getArtifact(name, options)).artifact]
    : (await client.listArtifacts({ latest: true, ...options })).artifacts.filter((each) => wanted.test(each.name));
  for (const { id, name: each, digest } of found) {
    const target = { path: name ? path : join(path, each), expectedHash: digest };
    const { digestMismatch } = await client.downloadArtifact(id, { ...options, ...target });
    if (digestMismatch) throw new Error(`${each} is not what was uploaded`);
  }
}

export async function script() {
  const github = getOctokit(core.getInput("github-token"), { baseUrl: process.env.GITHUB_API_URL });
  const AsyncFunction = (async () => {}).constructor;
  const given = { github, context, core, require: (name) => process.getBuiltinModule(name) };
  await new AsyncFunction(...Object.keys(given), core.getInput("script"))(...Object.values(given));
}

export const run = (action) =>
  action().catch((error) => {
    core.setFailed(error.message);
  });
