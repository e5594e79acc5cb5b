// What the extension adds: a debugger, a client of the language server, and three commands for captures.

import * as vscode from "vscode";
import { Checks, SCHEME } from "./check";
import { Adapter, Configurations } from "./debug";
import { Frames } from "./frames";
import { Language } from "./language";
import { report } from "./program";
import { Viewers } from "./view";

const CAPTURES = { Captures: ["ctf", "xz", "pgc", "zst", "gz", "zip", "json"], "All files": ["*"] };

/** The capture that a command is about: that of the menu it came from, else one that is chosen. */
async function captureOf(given: unknown): Promise<string | undefined> {
  if (typeof given === "string" && given) return given;
  if (given instanceof vscode.Uri) return given.fsPath;
  const chosen = await vscode.window.showOpenDialog({ canSelectMany: false, filters: CAPTURES, title: "Capture" });
  return chosen?.[0]?.fsPath;
}

export function frameNumber(text: string): number | undefined {
  const found = /^\s*f?(\d{1,9})\s*$/.exec(text);
  return found ? Number(found[1]) : undefined;
}

export function activate(context: vscode.ExtensionContext): void {
  const language = new Language();
  const checks = new Checks();
  const viewers = new Viewers();
  const frames = new Frames(context.extensionUri);
  const asking = <T>(title: string, work: (cancel: vscode.CancellationToken) => Thenable<T>) =>
    vscode.window.withProgress({ location: vscode.ProgressLocation.Notification, title, cancellable: true }, (_, cancel) =>
      work(cancel),
    );
  const add = (name: string, work: (...given: unknown[]) => Promise<unknown>) =>
    vscode.commands.registerCommand(name, async (...given: unknown[]) => {
      try {
        return await work(...given);
      } catch (problem) {
        report(problem);
        return undefined;
      }
    });
  const view = (capture: string, address?: string) =>
    asking("Opening the viewer", () => viewers.open(capture, address));

  context.subscriptions.push(
    language,
    checks,
    viewers,
    frames,
    vscode.workspace.registerTextDocumentContentProvider(SCHEME, checks),
    vscode.languages.registerDocumentLinkProvider({ scheme: SCHEME }, checks),
    vscode.languages.registerCodeActionsProvider({ scheme: SCHEME }, checks),
    vscode.debug.registerDebugAdapterDescriptorFactory("pocketgpu", new Adapter()),
    vscode.debug.registerDebugConfigurationProvider("pocketgpu", new Configurations()),
    add("pocketgpu.check", async (given) => {
      const capture = await captureOf(given);
      if (!capture) return undefined;
      const uri = await asking("Checking the capture", (cancel) => checks.check(capture, cancel));
      const document = await vscode.workspace.openTextDocument(uri);
      return vscode.window.showTextDocument(document, { preview: false });
    }),
    add("pocketgpu.view", async (given, address) => {
      const capture = await captureOf(given);
      return capture ? view(capture, typeof address === "string" ? address : undefined) : undefined;
    }),
    add("pocketgpu.frame", async (given, number) => {
      const capture = await captureOf(given);
      if (!capture) return undefined;
      const text =
        typeof number === "number"
          ? String(number)
          : await vscode.window.showInputBox({
              prompt: "Number of the frame, counted from 0",
              value: "0",
              validateInput: (one) => (frameNumber(one) === undefined ? "A number, such as 3" : undefined),
            });
      const frame = text === undefined ? undefined : frameNumber(text);
      if (frame === undefined) return undefined;
      return asking("Rendering", () =>
        frames.show(capture, frame, (of, address) => void Promise.resolve(view(of, address)).catch(report)),
      );
    }),
    add("pocketgpu.restartLanguageServer", () => language.restart()),
  );
}

export function deactivate(): void {}
