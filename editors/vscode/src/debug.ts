// The debugger: `pocketgpu dap`, started here or waiting at a port.

import * as vscode from "vscode";
import { command } from "./program";

const KINDS: Record<string, "capture" | "program" | "source"> = {
  ".cubin": "program",
  ".sass": "source",
  ".pica": "source",
  ".shbin": "source",
};

export class Adapter implements vscode.DebugAdapterDescriptorFactory {
  createDebugAdapterDescriptor(session: vscode.DebugSession): vscode.DebugAdapterDescriptor {
    // "debugServer" is the attribute that VS Code has for all debuggers.
    const port: unknown = session.configuration["debugServer"];
    if (typeof port === "number") return new vscode.DebugAdapterServer(port, "127.0.0.1");
    const [program, ...before] = command() as [string, ...string[]];
    return new vscode.DebugAdapterExecutable(program, [...before, "dap"]);
  }
}

/** A configuration for the file that is open, where there is none in launch.json. */
export class Configurations implements vscode.DebugConfigurationProvider {
  resolveDebugConfiguration(
    _folder: vscode.WorkspaceFolder | undefined,
    given: vscode.DebugConfiguration,
  ): vscode.DebugConfiguration | undefined {
    if (given.type || given.request || given.name) return given;
    const path = vscode.window.activeTextEditor?.document.fileName;
    const suffix = Object.keys(KINDS).find((one) => path?.toLowerCase().endsWith(one));
    if (!path || !suffix) {
      void vscode.window.showErrorMessage("pocketgpu: open a shader or a kernel first, or write a launch configuration.");
      return undefined;
    }
    return { type: "pocketgpu", request: "launch", name: "This file", [KINDS[suffix] as string]: path };
  }
}
