// The package that VS Code installs, into the folder of the Python package. Nothing is fetched.

import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createVSIX } from "@vscode/vsce";

const root = new URL("..", import.meta.url).pathname;
const folder = process.argv[2] ?? join(root, "../../src/pocketgpu/editor/vsix");
mkdirSync(folder, { recursive: true });
const packagePath = join(folder, "pocketgpu.vsix");
// The version has one place, that of the Python package.
const [, version] = readFileSync(join(root, "../../src/pocketgpu/__init__.py"), "utf8").match(/^__version__ = "(.+)"$/m);
// Its one script is bundled, so that no folder of modules belongs into the package.
const packed = { version, updatePackageJson: false, dependencies: false, allowMissingRepository: true };
await createVSIX({ cwd: root, packagePath, ...packed, skipLicense: false });
console.log(packagePath);
