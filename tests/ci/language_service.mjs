// GitHub's own language service over workflows and actions: node language_service.cjs ROOT PATH...
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { TextDocument } from "vscode-languageserver-textdocument";
import { validate } from "@actions/languageservice/validate";
import { validateAction } from "@actions/languageservice/validate-action";

async function main([root, ...paths]) {
  const read = (path) => readFileSync(join(root, path), "utf8");
  const fileProvider = {
    async getFileContent(reference) {
      const path = reference.path ?? reference;
      return { name: path, content: read(path) };
    },
  };
  let errors = 0;
  for (const path of paths) {
    const document = TextDocument.create(`file:///${path}`, "yaml", 1, read(path));
    const check = path.endsWith("action.yml") ? validateAction : validate;
    for (const found of await check(document, { fileProvider })) {
      if ((found.severity ?? 1) !== 1) continue;
      errors += 1;
      console.log(`${path}:${found.range.start.line + 1}: ${found.message}`);
    }
  }
  process.exitCode = errors ? 1 : 0;
}

main(process.argv.slice(2)).catch((error) => {
  console.error(error);
  process.exitCode = 2;
});
