// The debug adapter driven by the client that adapters of VS Code are tested with.
// PYTHON: the interpreter; PORT: of a running adapter, else it is started over its standard streams.
"use strict";

const assert = require("node:assert");
const fs = require("node:fs");
const os = require("node:os");
const { execFileSync } = require("node:child_process");
const path = require("node:path");
const { afterEach, beforeEach, test } = require("node:test");
const { DebugClient } = require("@vscode/debugadapter-testsupport");

const PROGRAM = fs.readFileSync(path.join(__dirname, "sums.v.pica"));
const KERNEL = `.kernel sums
.registers 8
.param data ptr
S2R R0, SR_TID.X;
SHL R1, R0, 0x2;
IADD R2.CC, R1, c[0x0][0x140];
IADD.X R3, RZ, c[0x0][0x144];
STG.E [R2], R0;
EXIT;
`;
const SAMPLE = path.resolve(__dirname, "../../src/pocketgpu/data/sample_switch.mxcap.zip");
let client, program, configuration;

beforeEach(async () => {
  const folder = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), "dap-")));
  program = path.join(folder, "sums.v.pica");
  fs.writeFileSync(program, PROGRAM);
  configuration = {
    source: program, inputs: { v0: [4, 1, 0, 1] }, uniforms: { i0: [1, 1, 1], c2: [1, 2, 3, 4] }, stopOnEntry: false,
  };
  client = new DebugClient(process.env.PYTHON, path.join(__dirname, "adapter.py"), "pocketgpu", undefined, true);
  client.defaultTimeout = 60000;
  await client.start(process.env.PORT ? Number(process.env.PORT) : undefined);
});

afterEach(() => client.stop());

test("an unknown request is an error", async () => {
  await client.initializeRequest();
  await assert.rejects(client.send("illegal"), /there is no request/);
});

test("it tells what it can do", async () => {
  const { body } = await client.initializeRequest();
  for (const name of ["supportsConfigurationDoneRequest", "supportsStepBack", "supportsDataBreakpoints",
    "supportsDisassembleRequest", "supportsSetVariable", "supportsLogPoints", "supportsReadMemoryRequest",
    "supportsWriteMemoryRequest", "supportsCancelRequest", "supportsDataBreakpointBytes"]) {
    assert.strictEqual(body[name], true, name);
  }
});

test("it runs to the end without breakpoints", async () => {
  await Promise.all([client.configurationSequence(), client.launch(configuration), client.waitForEvent("stopped")]);
  const terminated = client.waitForEvent("terminated");
  await client.continueRequest({ threadId: 1 });
  await terminated;
});

test("it stops at the entry", async () => {
  await Promise.all([
    client.configurationSequence(), client.launch({ ...configuration, stopOnEntry: true }),
    client.assertStoppedLocation("entry", { path: program, line: 2 }),
  ]);
});

test("it stops at a breakpoint, and goes on and back", async () => {
  await client.hitBreakpoint(configuration, { path: program, line: 5 });
  const { body } = await client.evaluateRequest({ expression: "r0.xy", frameId: 4096 });
  assert.strictEqual(body.result, "(8, 2)");
  await Promise.all([client.assertStoppedLocation("breakpoint", { path: program, line: 5 }), client.continueRequest({ threadId: 1 })]);
  await Promise.all([client.assertStoppedLocation("step", { line: 6 }), client.stepBackRequest({ threadId: 1 })]);
  await Promise.all([client.assertStoppedLocation("breakpoint", { line: 5 }), client.reverseContinueRequest({ threadId: 1 })]);
});

test("it stops at a breakpoint with a condition", async () => {
  await client.hitBreakpoint(configuration, { path: program, line: 5, column: undefined });
  await client.setBreakpointsRequest({
    source: { path: program }, breakpoints: [{ line: 8, condition: "r3.w > 3 and r0.x == 8" }],
  });
  await Promise.all([client.assertStoppedLocation("breakpoint", { line: 8 }), client.continueRequest({ threadId: 1 })]);
});

test("a NaN is an exception", async () => {
  await Promise.all([
    client.waitForEvent("initialized")
      .then(() => client.setExceptionBreakpointsRequest({ filters: ["nan"] }))
      .then(() => client.configurationDoneRequest()),
    client.launch(configuration),
    client.assertStoppedLocation("exception", { path: program, line: 8 }),
  ]);
  const { body } = await client.exceptionInfoRequest({ threadId: 1 });
  assert.match(body.description, /r4\.x became nan/);
});

test("log points write", async () => {
  await Promise.all([
    client.waitForEvent("initialized")
      .then(() => client.setBreakpointsRequest({
        source: { path: program }, breakpoints: [{ line: 5, logMessage: "sum {r3.x}" }] }))
      .then(() => client.configurationDoneRequest()),
    client.launch(configuration),
    client.assertOutput("stdout", "sum 0\nsum 1\n"),
  ]);
});

test("a register is set, and what follows changes", async () => {
  await client.hitBreakpoint(configuration, { path: program, line: 8 });
  const scopes = (await client.scopesRequest({ frameId: 4096 })).body.scopes;
  const { variablesReference } = scopes.find((one) => one.name === "temporaries");
  const { body } = await client.setVariableRequest({ variablesReference, name: "r0", value: "(-4, 0, 0, 0)" });
  assert.strictEqual(body.value, "(-4, 0, 0, 0)");
  await Promise.all([client.assertStoppedLocation("step", { line: 9 }), client.nextRequest({ threadId: 1 })]);
  assert.strictEqual((await client.evaluateRequest({ expression: "r4.x", frameId: 4096 })).body.result, "0.5");
});

test("memory is read, watched and written, and a warp goes together", async () => {
  const kernel = path.join(path.dirname(program), "sums.sass");
  fs.writeFileSync(kernel, KERNEL);
  await Promise.all([
    client.configurationSequence(),
    client.launch({ program: kernel, grid: 1, block: 32, args: ["zeros:128"], at: "b0/t3" }),
    client.waitForEvent("stopped"),
  ]);
  const frameOf = async (threadId) => (await client.stackTraceRequest({ threadId })).body.stackFrames[0];
  const scopesOf = async () => (await client.scopesRequest({ frameId: (await frameOf(4)).id })).body.scopes;
  const partsOf = async (variablesReference, more) =>
    (await client.variablesRequest({ variablesReference, ...more })).body.variables;
  const memory = (await scopesOf()).find((one) => one.name === "memory");
  assert.strictEqual(memory.expensive, true);
  const [piece] = await partsOf(memory.variablesReference);
  assert.strictEqual(piece.name, "argument 0 (data)");
  const numbers = (await partsOf(piece.variablesReference)).find((one) => one.name === "u32");
  assert.strictEqual(numbers.indexedVariables, 32);
  const [element] = await partsOf(numbers.variablesReference, { filter: "indexed", start: 3, count: 1 });
  assert.deepStrictEqual([element.name, element.value], ["[3]", "0"]);
  const { body: info } = await client.send("dataBreakpointInfo", { variablesReference: numbers.variablesReference, name: "[3]" });
  const { body: set } = await client.send("setDataBreakpoints", { breakpoints: [{ dataId: info.dataId, accessType: "write" }] });
  assert.strictEqual(set.breakpoints[0].verified, true);
  await Promise.all([client.assertStoppedLocation("data breakpoint", { path: kernel, line: 9 }), client.continueRequest({ threadId: 4 })]);
  assert.strictEqual((await frameOf(1)).line, 9, "the whole warp stands there");
  const { body: read } = await client.send("readMemory", { memoryReference: piece.memoryReference, offset: 12, count: 4 });
  assert.deepStrictEqual([...Buffer.from(read.data, "base64")], [3, 0, 0, 0]);
  await client.send("writeMemory", { memoryReference: piece.memoryReference, offset: 12, data: "Bw==" });
  const { body: again } = await client.send("readMemory", { memoryReference: piece.memoryReference, offset: 12, count: 4 });
  assert.deepStrictEqual([...Buffer.from(again.data, "base64")], [7, 0, 0, 0]);
});

test("a launch that goes on is given up", async () => {
  const kernel = path.join(path.dirname(program), "endless.sass");
  fs.writeFileSync(kernel, ".kernel waits\n.registers 8\n.param data ptr\nagain:\nIADD R0, R0, 0x1;\nBRA again;\nEXIT;\n");
  await client.initializeRequest({ adapterID: "pocketgpu", supportsProgressReporting: true });
  const started = client.waitForEvent("progressStart");
  const launch = client.send("launch", { program: kernel, grid: 1, block: 32, args: ["zeros:128"], most: 1 << 20 });
  const refused = assert.rejects(launch, /cancelled/);
  const { body } = await started;
  const ended = client.waitForEvent("progressEnd");
  await client.send("cancel", { requestId: body.requestId });
  await Promise.all([refused, ended]);
});

test("a pixel of a capture has the lanes of its quad as threads, and a listing", async () => {
  await Promise.all([
    client.configurationSequence(), client.launch({ capture: SAMPLE, address: "f0/px200,120" }),
    client.waitForEvent("stopped"),
  ]);
  const { threads } = (await client.threadsRequest()).body;
  assert.strictEqual(threads.length, 4);
  const [{ id }] = threads.filter((one) => one.name === "pixel (200, 120)");
  const [frame] = (await client.stackTraceRequest({ threadId: id })).body.stackFrames;
  const { body } = await client.sourceRequest({ sourceReference: frame.source.sourceReference });
  assert.match(body.content.split("\n")[frame.line - 1], /^0x0008/);
});

test("a .shbin is stepped by the lines of the text that lies beside it", async () => {
  const folder = path.dirname(program);
  const text = path.join(folder, "light.v.pica"), shader = path.join(folder, "light.shbin");
  fs.copyFileSync(path.join(__dirname, "light.v.pica"), text);
  execFileSync(process.env.PYTHON, ["-m", "pocketgpu", "shader", "asm", text, "-o", shader]);
  const values = { inputs: { inclr: [1, 0.5, 1, 1] }, uniforms: { light: [0.25, 0.5, 0, 0], lit: true } };
  await client.hitBreakpoint({ source: shader, stopOnEntry: false, ...values }, { path: text, line: 23 });
  const { stackFrames } = (await client.stackTraceRequest({ threadId: 1 })).body;
  assert.deepStrictEqual(stackFrames.map((one) => one.line), [23, 17]);
  assert.match(stackFrames[0].name, /^shine /);
  const value = async (expression) => (await client.evaluateRequest({ expression, frameId: 4096 })).body.result;
  assert.strictEqual(await value("light.xy + ambient.xy"), "(0.75, 1)");
  assert.strictEqual(await value("clip[0]"), "(0, 0, 0, 0)");
  await Promise.all([client.assertStoppedLocation("step", { path: text, line: 18 }), client.stepOutRequest({ threadId: 1 })]);
  await Promise.all([client.assertStoppedLocation("step", { path: text, line: 19 }), client.nextRequest({ threadId: 1 })]);
  await Promise.all([client.assertStoppedLocation("step", { path: text, line: 20 }), client.nextRequest({ threadId: 1 })]);
  assert.strictEqual(await value("outclr"), "(0.75, 0.5, 0.5, 1)");
  const { scopes } = (await client.scopesRequest({ frameId: 4096 })).body;
  const { variablesReference } = scopes.find((one) => one.name === "names");
  const names = (await client.variablesRequest({ variablesReference })).body.variables.map((one) => one.name);
  assert.deepStrictEqual(names.slice(0, 3), ["clip", "light", "lit"]);
});
