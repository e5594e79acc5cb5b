// The code of the packaged extension, run against a stub of VS Code. Programs are a stub too, unless the environment has
// POCKETGPU_COMMAND, a JSON list: then they are the real ones.

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { after, afterEach, beforeEach, test } from "node:test";

const require = createRequire(import.meta.url);
const Module = require("node:module");
const root = new URL("..", import.meta.url).pathname;
const bundle = process.env.POCKETGPU_BUNDLE ?? join(root, "dist", "extension.js");
const real = process.env.POCKETGPU_COMMAND ? JSON.parse(process.env.POCKETGPU_COMMAND) : null;
const fake = [process.execPath, join(root, "test", "stub", "program.mjs")];

const vscode = require("./stub/vscode.cjs");
const { seen } = vscode;
const load = Module._load;
Module._load = (name, ...rest) => (name === "vscode" ? vscode : load(name, ...rest));
const extension = require(bundle);

const context = { subscriptions: [], extensionUri: vscode.Uri.file(root.replace(/\/$/, "")) };
const run = (name, ...given) => seen.commands.get(name)(...given);
const later = async (holds, what, patience = 30_000) => {
  for (const end = Date.now() + patience; Date.now() < end; await new Promise((go) => setTimeout(go, 20))) if (holds()) return;
  assert.fail(`${what} did not come; errors: ${seen.errors.join("; ")}`);
};

beforeEach(() => {
  seen.errors.length = seen.opened.length = seen.panels.length = seen.shown.length = 0;
  seen.settings["pocketgpu.command"] = fake;
  if (!seen.commands.size) extension.activate(context);
});
afterEach(() => seen.panels.forEach((one) => one.dispose()));
after(() => context.subscriptions.forEach((one) => one.dispose()));

test("every command of the package is there, and no other", () => {
  const { contributes } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  assert.deepEqual([...seen.commands.keys()].sort(), contributes.commands.map((one) => one.command).sort());
  for (const { path } of contributes.grammars) JSON.parse(readFileSync(join(root, path), "utf8"));
  for (const { configuration } of contributes.languages) JSON.parse(readFileSync(join(root, configuration), "utf8"));
});

test("findings are problems of a report, with links into the viewer", async () => {
  await run("pocketgpu.check", vscode.Uri.file("/x/scene.pgc"));
  const [document] = seen.shown;
  const lines = document.getText().split("\n");
  assert.equal(lines[0], "scene.pgc: 2 findings");
  assert.match(lines[2], /^f1\/d17 .*error: the target is <b>too<\/b> large \(3 times\) \[target\.size\]$/);
  const problems = seen.collections.get("pocketgpu check").get(document.uri);
  assert.deepEqual(problems.map((one) => [one.severity, one.code, one.range.start.line]), [[0, "target.size", 2], [2, "list.endless", 3]]);
  assert.match(problems[0].message, /Do this\.$/);

  const links = seen.factories.links.provideDocumentLinks(document);
  assert.equal(links.length, 1, "the address of a list leads nowhere");
  assert.deepEqual(JSON.parse(decodeURIComponent(links[0].target.query)), ["/x/scene.pgc", "f1/d17"]);
  assert.equal(links[0].target.path, "pocketgpu.view");
  const actions = seen.factories.links.provideCodeActions(document, problems[0].range);
  await run(actions[0].command.command, ...actions[0].command.arguments);
  assert.deepEqual(seen.opened, ["http://127.0.0.1:4711/?key=a#f1/d17"]);
  assert.deepEqual(seen.factories.links.provideCodeActions(document, problems[1].range), []);
});

test("a capture that cannot be read, a program that is not there, and nothing chosen", async () => {
  await run("pocketgpu.check", "/x/broken.pgc");
  assert.match(seen.errors.pop(), /the capture is damaged/);
  seen.settings["pocketgpu.command"] = ["/no/such/program"];
  await run("pocketgpu.check", "/x/scene.pgc");
  assert.match(seen.errors.pop(), /cannot be started.*pocketgpu\.command/);
  await run("pocketgpu.check");
  assert.deepEqual(seen.errors, []);
});

test("pictures of a frame, and of those beside it, in a page that may load nothing else", async () => {
  await run("pocketgpu.frame", "/x/<i>.pgc", 0);
  const [panel] = seen.panels;
  const page = panel.webview.html;
  const policy = /Content-Security-Policy" content="([^"]*)"/.exec(page)[1];
  const nonce = /'nonce-(\w{32})'/.exec(policy)[1];
  assert.equal(policy, `default-src 'none'; img-src https://panel.test; style-src https://panel.test; script-src 'nonce-${nonce}'; base-uri 'none'; form-action 'none'`);
  assert.equal([...page.matchAll(/<script/g)].length, 1);
  assert.ok(page.includes(`<script nonce="${nonce}"`) && page.includes("&lt;i&gt;.pgc") && !page.includes("<i>"));
  assert.deepEqual([...page.matchAll(/alt="([^"]*)"/g)].map((one) => one[1]), ["f0.bottom.png", "f0.top.png"]);
  assert.match(page, /id="before" disabled/);
  const [folder] = panel.options.localResourceRoots;
  assert.ok(existsSync(join(folder.fsPath, "0", "f0.top.png")));

  for (const [step, frame] of [[1, 1], [1, 2], [-1, 1]]) {
    panel.send({ step });
    await later(() => panel.webview.html.includes(`data-frame="${frame}"`), `frame ${frame}`);
  }
  panel.send({ step: 1 });
  await later(() => panel.webview.html.includes('data-frame="2"'), "frame 2");
  panel.send({ step: 1 });
  await later(() => panel.webview.html.includes("There is no picture of frame 3."), "the message");
  panel.send({ step: "view" });
  await later(() => seen.opened.length, "the viewer");
  assert.match(seen.opened[0], /#f2$/);
  panel.send(null);
  panel.send({ step: "rm" });
  panel.dispose();
  await later(() => !existsSync(folder.fsPath), "the end of the folder");
});

test("numbers of frames as people write them", () => {
  assert.deepEqual(["3", " f12 ", "", "-1", "1.5", "99999999999"].map(extension.frameNumber), [3, 12, undefined, undefined, undefined, undefined]);
});

test("the debugger is the program's, or waits at a port", () => {
  const factory = seen.factories.pocketgpu;
  assert.deepEqual(factory.createDebugAdapterDescriptor({ configuration: {} }), new vscode.DebugAdapterExecutable(fake[0], [fake[1], "dap"]));
  assert.deepEqual(factory.createDebugAdapterDescriptor({ configuration: { debugServer: 4711 } }), new vscode.DebugAdapterServer(4711, "127.0.0.1"));
});

test("a file that is open can be debugged without a configuration", () => {
  const provider = seen.factories.configurations;
  const given = { type: "pocketgpu", request: "launch", name: "x", capture: "a.pgc" };
  assert.equal(provider.resolveDebugConfiguration(undefined, given), given);
  for (const [name, attribute] of [["/x/a.sass", "source"], ["/x/a.v.pica", "source"], ["/x/a.cubin", "program"]]) {
    vscode.window.activeTextEditor = { document: { fileName: name } };
    assert.equal(provider.resolveDebugConfiguration(undefined, {})[attribute], name);
  }
  vscode.window.activeTextEditor = { document: { fileName: "/x/a.txt" } };
  assert.equal(provider.resolveDebugConfiguration(undefined, {}), undefined);
  assert.match(seen.errors.pop(), /open a shader/);
});

test("the configurations of the package start what the debugger knows", () => {
  const { debuggers } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")).contributes;
  const known = Object.keys(debuggers[0].configurationAttributes.launch.properties);
  for (const { body } of debuggers[0].configurationSnippets)
    for (const name of Object.keys(body)) assert.ok(["type", "request", "name", ...known].includes(name), name);
});

const skip = real ? false : "POCKETGPU_COMMAND is not set";
test("the real program: check and frame of a capture", { skip }, async () => {
  seen.settings["pocketgpu.command"] = real;
  await run("pocketgpu.check", process.env.POCKETGPU_CAPTURE);
  assert.deepEqual(seen.errors, []);
  assert.match(seen.shown[0].getText(), /f0\/d0 .*\[shader\.output-missing\]/);
  await run("pocketgpu.frame", process.env.POCKETGPU_CAPTURE, 0);
  assert.deepEqual(seen.errors, []);
  assert.match(seen.panels[0].webview.html, /alt="f0\.top\.png"/);
});

test("the real program: the language server says what is wrong with a text", { skip }, async () => {
  seen.settings["pocketgpu.command"] = real;
  const text = "main:\n    mov r0, x9 ; \u{1F600}\n";
  const uri = vscode.Uri.file("/x/a.pica");
  vscode.workspace.open({ uri, languageId: "pocketgpu-pica", version: 1, getText: () => text, fileName: uri.fsPath, lineCount: 3, isClosed: false });
  const problems = () => seen.collections.get("pocketgpu")?.get(uri) ?? [];
  await later(() => problems().length, "a problem");
  assert.match(problems()[0].message, /^'x9' is not a valid register here/);
});
