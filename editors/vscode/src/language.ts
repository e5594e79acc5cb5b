// The client of `pocketgpu lsp`.

import * as vscode from "vscode";
import { LanguageClient, type LanguageClientOptions, type ServerOptions } from "vscode-languageclient/node";
import { command } from "./program";

export const LANGUAGES = ["pocketgpu-pica", "pocketgpu-sass", "pocketgpu-mme"];

export function serverOptions(): ServerOptions {
  const [program, ...before] = command() as [string, ...string[]];
  // Without a transport the streams are used as they are; with one, the client adds an argument for the server.
  return { command: program, args: [...before, "lsp"] };
}

export function clientOptions(): LanguageClientOptions {
  return {
    documentSelector: LANGUAGES.flatMap((language) => [
      { scheme: "file", language },
      { scheme: "untitled", language },
    ]),
    diagnosticCollectionName: "pocketgpu",
  };
}

/** Starts the server when the first text of its languages is open, and again when the command changes. */
export class Language implements vscode.Disposable {
  private client: LanguageClient | undefined;
  private readonly subscriptions: vscode.Disposable[];

  constructor(private readonly make = () => new LanguageClient("pocketgpu", "pocketgpu", serverOptions(), clientOptions())) {
    this.subscriptions = [
      vscode.workspace.onDidOpenTextDocument((document) => this.opened(document)),
      vscode.workspace.onDidChangeConfiguration((change) => {
        if (change.affectsConfiguration("pocketgpu.command") && this.client) void this.restart();
      }),
    ];
    for (const document of vscode.workspace.textDocuments) this.opened(document);
  }

  private opened(document: vscode.TextDocument): void {
    if (!this.client && LANGUAGES.includes(document.languageId)) void this.start();
  }

  async start(): Promise<void> {
    this.client = this.make();
    try {
      await this.client.start();
    } catch (problem) {
      const text = problem instanceof Error ? problem.message : String(problem);
      void vscode.window.showErrorMessage(`pocketgpu lsp does not start: ${text}. pip install "pocketgpu[editor]" installs it.`);
    }
  }

  async restart(): Promise<void> {
    await this.stop();
    await this.start();
  }

  async stop(): Promise<void> {
    const client = this.client;
    this.client = undefined;
    try {
      await client?.stop();
    } catch {
      // It had not started, or has ended.
    }
  }

  dispose(): void {
    for (const one of this.subscriptions) one.dispose();
    void this.stop();
  }
}
