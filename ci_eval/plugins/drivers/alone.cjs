// Loaded into npm before anything else, so that npm may start no other program. npm needs none to unpack tarballs. It
// would start git, or npm again, for dependencies from repositories of code, with settings that strangers wrote.
"use strict";
const children = require("node:child_process");

function refuse(started) {
  const program = Array.isArray(started?.args) ? started.args.join(" ") : String(started);
  throw new Error(`ci-eval lets npm start no program: ${program}`);
}

children.ChildProcess.prototype.spawn = refuse;
for (const name of ["spawnSync", "execSync", "execFileSync"]) {
  children[name] = refuse;
}
