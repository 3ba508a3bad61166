// Runs python.py by the CPython that the npm package pyodide has, since few systems have one as new.
//
//     node python.mjs PYODIDE < PATHS        the folder of the package pyodide, and absolute paths, one a line

import fs from "node:fs";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const { loadPyodide } = await import(pathToFileURL(`${process.argv[2]}/pyodide.mjs`));
const python = await loadPyodide();

const program = fileURLToPath(new URL("python.py", import.meta.url));
const files = fs.readFileSync(0, "utf8").split("\n").filter(Boolean);
// A folder of this machine is mounted where it is, so that paths mean the same in both. One below it is there then.
const mounted = [];
for (const folder of [...new Set([program, ...files].map((file) => path.dirname(file)))].sort()) {
  if (!mounted.some((above) => folder.startsWith(`${above}/`))) {
    mounted.push(folder);
    python.FS.mkdirTree(folder);
    python.mountNodeFS(folder, folder);
  }
}
const paths = files[Symbol.iterator]();
python.setStdin({ stdin: () => paths.next().value });
python.runPython(`import runpy; runpy.run_path(${JSON.stringify(program)}, run_name="__main__")`);
