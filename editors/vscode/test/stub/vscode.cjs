// A stand-in for the module that VS Code gives to extensions. What the tests look at is kept in `seen`; what they do not
// is there as functions that do nothing and classes that keep nothing, as the library of the language client asks for
// hundreds of names.
"use strict";

const { EventEmitter: Emitter } = require("node:events");
const { fileURLToPath, pathToFileURL } = require("node:url");

class Disposable {
  constructor(work) { this.work = work; }
  dispose() { this.work?.(); this.work = undefined; }
  static from(...all) { return new Disposable(() => all.forEach((one) => one.dispose())); }
}
class EventEmitter {
  emitter = new Emitter();
  event = (listener, self) => {
    const bound = self ? listener.bind(self) : listener;
    this.emitter.on("event", bound);
    return new Disposable(() => this.emitter.off("event", bound));
  };
  fire(value) { this.emitter.emit("event", value); }
  dispose() { this.emitter.removeAllListeners(); }
}
class Uri {
  constructor(scheme, authority, path, query, fragment) { Object.assign(this, { scheme, authority, path, query, fragment }); }
  static file(path) { return new Uri("file", "", path, "", ""); }
  static from(parts) { return new Uri(parts.scheme, parts.authority ?? "", parts.path ?? "", parts.query ?? "", parts.fragment ?? ""); }
  static parse(text) {
    const [, scheme, , authority, path, , query, , fragment] = /^([\w.+-]+):(\/\/([^/?#]*))?([^?#]*)(\?([^#]*))?(#(.*))?$/.exec(text);
    return new Uri(scheme, authority ?? "", decodeURIComponent(path), decodeURIComponent(query ?? ""), fragment ?? "");
  }
  static joinPath(base, ...parts) { return new Uri(base.scheme, base.authority, [base.path, ...parts].join("/"), base.query, base.fragment); }
  with(parts) { return Uri.from({ ...this, ...parts }); }
  get fsPath() { return this.scheme === "file" ? fileURLToPath(pathToFileURL(this.path)) : this.path; }
  toString() {
    if (this.scheme === "file") return pathToFileURL(this.path).href;
    const query = this.query ? `?${encodeURIComponent(this.query)}` : "";
    return `${this.scheme}:${this.authority ? `//${this.authority}` : ""}${this.path}${query}${this.fragment ? `#${this.fragment}` : ""}`;
  }
}
class Position { constructor(line, character) { this.line = line; this.character = character; } }
class Range {
  constructor(a, b, c, d) {
    this.start = a instanceof Position ? a : new Position(a, b);
    this.end = a instanceof Position ? b : new Position(c, d);
  }
}
class Diagnostic { constructor(range, message, severity) { Object.assign(this, { range, message, severity }); } }
class DocumentLink { constructor(range, target) { Object.assign(this, { range, target }); } }
class CodeAction { constructor(title, kind) { Object.assign(this, { title, kind }); } }
class CancellationError extends Error {}
class CancellationTokenSource {
  emitter = new EventEmitter();
  token = { isCancellationRequested: false, onCancellationRequested: this.emitter.event };
  cancel() { this.token.isCancellationRequested = true; this.emitter.fire(); }
  dispose() {}
}
class DebugAdapterExecutable { constructor(command, args) { Object.assign(this, { command, args }); } }
class DebugAdapterServer { constructor(port, host) { Object.assign(this, { port, host }); } }

const seen = {
  commands: new Map(), errors: [], opened: [], collections: new Map(), panels: [], providers: {}, factories: {}, shown: [],
  settings: {}, input: undefined, dialog: undefined,
};
const opening = new EventEmitter();
const token = () => new CancellationTokenSource().token;

function collection(name) {
  const held = new Map();
  const made = {
    name, held,
    set: (uri, problems) => held.set(uri.toString(), problems ?? []),
    delete: (uri) => held.delete(uri.toString()), clear: () => held.clear(), dispose: () => held.clear(),
    get: (uri) => held.get(uri.toString()), has: (uri) => held.has(uri.toString()), forEach: (work) => held.forEach(work),
  };
  seen.collections.set(name, made);
  return made;
}

function panel(type, title, column, options) {
  const messages = new EventEmitter(), closing = new EventEmitter();
  const made = {
    type, title, column, options,
    webview: {
      html: "", cspSource: "https://panel.test", asWebviewUri: (uri) => Uri.parse(`https://panel.test${uri.path}`),
      onDidReceiveMessage: messages.event,
    },
    onDidDispose: closing.event, send: (message) => messages.fire(message), dispose: () => closing.fire(),
  };
  seen.panels.push(made);
  return made;
}

/** A namespace or module with what is named, and something harmless for every other name. */
function loose(known) {
  return new Proxy(known, {
    get(target, name) {
      if (name in target || typeof name === "symbol" || name === "then") return target[name];
      if (/^[A-Z]/.test(name)) return (target[name] = loose(class { constructor(...given) { this.given = given; } }));
      return (target[name] = () => new Disposable());
    },
  });
}

const configuration = (section) => ({
  get: (name, fallback) => seen.settings[`${section}.${name}`] ?? fallback, has: () => false, inspect: () => undefined,
});

module.exports = loose({
  seen, version: "1.91.0", Disposable, EventEmitter, Uri, Position, Range, Diagnostic, DocumentLink, CodeAction,
  CancellationError, CancellationTokenSource, DebugAdapterExecutable, DebugAdapterServer,
  DiagnosticSeverity: { Error: 0, Warning: 1, Information: 2, Hint: 3 }, ViewColumn: { Beside: -2 },
  ProgressLocation: { Notification: 15 }, CodeActionKind: loose({ QuickFix: "quickfix" }),
  env: loose({ openExternal: async (link) => void seen.opened.push(link), language: "en", appName: "stub" }),
  workspace: loose({
    getConfiguration: configuration, textDocuments: [], workspaceFolders: undefined, notebookDocuments: [],
    onDidOpenTextDocument: opening.event,
    registerTextDocumentContentProvider: (scheme, provider) => { seen.providers[scheme] = provider; return new Disposable(); },
    openTextDocument: async (uri) => {
      const text = seen.providers[uri.scheme].provideTextDocumentContent(uri);
      return { uri, getText: () => text, lineAt: (n) => ({ text: text.split("\n")[n] }) };
    },
    open: (document) => { module.exports.workspace.textDocuments.push(document); opening.fire(document); },
  }),
  window: loose({
    showErrorMessage: async (text) => void seen.errors.push(text), showInputBox: async () => seen.input,
    showOpenDialog: async () => seen.dialog, createWebviewPanel: panel, activeTextEditor: undefined, visibleTextEditors: [],
    tabGroups: loose({ all: [] }), terminals: [],
    showTextDocument: async (document) => { seen.shown.push(document); return { document }; },
    withProgress: (_options, work) => work({ report() {} }, token()),
    createOutputChannel: () => ({ append() {}, appendLine() {}, show() {}, dispose() {}, trace() {}, info() {}, warn() {}, error() {}, debug() {}, onDidChangeLogLevel: () => new Disposable(), logLevel: 0 }),
  }),
  languages: loose({
    createDiagnosticCollection: collection, match: (selector, document) => [selector].flat().some((one) => one.language === document.languageId) ? 10 : 0,
    registerDocumentLinkProvider: (selector, provider) => { seen.factories.links = provider; return new Disposable(); },
  }),
  commands: loose({
    registerCommand: (name, work) => { seen.commands.set(name, work); return new Disposable(() => seen.commands.delete(name)); },
    executeCommand: async (name, ...given) => seen.commands.get(name)?.(...given),
  }),
  debug: loose({
    registerDebugAdapterDescriptorFactory: (type, factory) => { seen.factories[type] = factory; return new Disposable(); },
    registerDebugConfigurationProvider: (type, provider) => { seen.factories.configurations = provider; return new Disposable(); },
  }),
  extensions: loose({ all: [] }), l10n: loose({ t: (text) => text }),
});
