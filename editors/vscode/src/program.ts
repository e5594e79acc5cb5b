// How the program is started: the command of the settings, without a shell, with an end to its time and its output.

import { spawn } from "node:child_process";
import * as vscode from "vscode";

const MOST_BYTES = 64 << 20;
const MOST_ERROR = 4000;

/** The command line that starts pocketgpu: its first word is the program, the others come before the arguments. */
export function command(): string[] {
  const given = vscode.workspace.getConfiguration("pocketgpu").get<string[]>("command") ?? [];
  const words = given.filter((one) => typeof one === "string" && one !== "");
  return words.length ? words : ["pocketgpu"];
}

export interface Done {
  code: number;
  out: string;
  error: string;
}

export class ProgramError extends Error {}

/** Run a command of pocketgpu to its end. Cancelling ends it. */
export function run(args: string[], cancel?: vscode.CancellationToken, cwd?: string): Promise<Done> {
  const [program, ...before] = command() as [string, ...string[]];
  return new Promise((resolve, reject) => {
    const child = spawn(program, [...before, ...args], { cwd, stdio: ["ignore", "pipe", "pipe"], windowsHide: true });
    const out: Buffer[] = [];
    let size = 0;
    let error = "";
    child.stdout.on("data", (part: Buffer) => {
      size += part.length;
      if (size > MOST_BYTES) child.kill();
      else out.push(part);
    });
    child.stderr.on("data", (part: Buffer) => {
      error = (error + part.toString("utf8")).slice(-MOST_ERROR);
    });
    const asked = cancel?.onCancellationRequested(() => child.kill());
    child.on("error", (problem) => {
      asked?.dispose();
      reject(new ProgramError(`${program} cannot be started: ${problem.message}. See the setting pocketgpu.command.`));
    });
    child.on("close", (code) => {
      asked?.dispose();
      if (cancel?.isCancellationRequested) reject(new vscode.CancellationError());
      else if (size > MOST_BYTES) reject(new ProgramError(`${args[0]} printed more than ${MOST_BYTES >> 20} MiB`));
      else resolve({ code: code ?? -1, out: Buffer.concat(out).toString("utf8"), error });
    });
  });
}

/** Say what went wrong; a cancelled command is no error. */
export function report(problem: unknown): void {
  if (problem instanceof vscode.CancellationError) return;
  const text = problem instanceof Error ? problem.message : String(problem);
  void vscode.window.showErrorMessage(`pocketgpu: ${text}`);
}
