// The viewer in the browser: one server for each capture and address that was asked for last.

import { type ChildProcess, spawn } from "node:child_process";
import * as vscode from "vscode";
import { ProgramError, command } from "./program";

const LINK = /^\s*(http:\/\/(?:127\.0\.0\.1|localhost|\[::1\]):\d+\/\S*)\s*$/m;
const PATIENCE = 60_000;
const MOST_TEXT = 100_000;

/** The link that `view` prints; "" if it has not come yet. Only a server of this computer is opened. */
export function linkIn(text: string): string {
  return LINK.exec(text)?.[1] ?? "";
}

export class Viewers implements vscode.Disposable {
  private readonly servers = new Map<string, ChildProcess>();

  /** Start a viewer and open its page. One of the same capture ends. */
  async open(capture: string, address?: string): Promise<string> {
    this.servers.get(capture)?.kill();
    const [program, ...before] = command() as [string, ...string[]];
    const args = [...before, "view", capture, ...(address ? [address] : []), "--no-browser"];
    const child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"], windowsHide: true });
    this.servers.set(capture, child);
    const link = await new Promise<string>((resolve, reject) => {
      let out = "";
      let error = "";
      const late = setTimeout(() => {
        child.kill();
        reject(new ProgramError("the viewer does not start"));
      }, PATIENCE);
      child.stdout.on("data", (part: Buffer) => {
        out = (out + part.toString("utf8")).slice(-MOST_TEXT);
        const found = linkIn(out);
        if (found) {
          clearTimeout(late);
          resolve(found);
        }
      });
      child.stderr.on("data", (part: Buffer) => (error = (error + part.toString("utf8")).slice(-MOST_TEXT)));
      child.on("error", (problem) => {
        clearTimeout(late);
        reject(new ProgramError(`${program} cannot be started: ${problem.message}`));
      });
      child.on("close", (code) => {
        clearTimeout(late);
        if (this.servers.get(capture) === child) this.servers.delete(capture);
        reject(new ProgramError(error.trim() || `the viewer ended with ${code}`));
      });
    });
    // A Uri would be written with %3D in the place of the = that comes before the key; VS Code takes the text as it is.
    await vscode.env.openExternal(link as unknown as vscode.Uri);
    return link;
  }

  dispose(): void {
    for (const one of this.servers.values()) one.kill();
    this.servers.clear();
  }
}
