// The package that VS Code installs, into the folder of the Python package. Nothing is fetched.

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { createVSIX } from "@vscode/vsce";

const root = new URL("..", import.meta.url).pathname;
const folder = process.argv[2] ?? join(root, "../../src/pocketgpu/editor/vsix");
mkdirSync(folder, { recursive: true });
const packagePath = join(folder, "pocketgpu.vsix");
// Its one script is bundled, so that no folder of modules belongs into the package.
await createVSIX({ cwd: root, packagePath, dependencies: false, allowMissingRepository: true, skipLicense: false });
console.log(packagePath);
