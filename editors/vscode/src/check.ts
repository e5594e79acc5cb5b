// "pocketgpu: check this capture": a report with a line for each finding, the findings as problems in it, and links
// from each into the viewer. What the capture says is only ever text here.

import { basename } from "node:path";
import * as vscode from "vscode";
import { ProgramError, run } from "./program";

export const SCHEME = "pocketgpu-check";
const MOST_FINDINGS = 2000;
const ADDRESS = /^f\d+(?:\/[A-Za-z]+[\d,]*)*$/;

export interface Finding {
  rule: string;
  severity: string;
  message: string;
  at: string;
  count: number;
  source: string;
  hint: string;
}

/** The findings in what `check --json` prints. */
export function findingsOf(text: string): Finding[] {
  const parsed = JSON.parse(text) as { findings?: unknown };
  if (!Array.isArray(parsed.findings)) throw new ProgramError("check printed no findings");
  const word = (value: unknown) => (typeof value === "string" ? value : "");
  return parsed.findings.map((one: Record<string, unknown>) => ({
    rule: word(one["rule"]),
    severity: word(one["severity"]),
    message: word(one["message"]),
    at: word(one["at"]),
    count: typeof one["count"] === "number" ? one["count"] : 1,
    source: word(one["source"]),
    hint: word(one["hint"]),
  }));
}

const oneLine = (text: string) => text.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, " ");

/** The lines of the report; finding n is in line n + 2. */
export function linesOf(path: string, findings: readonly Finding[]): string[] {
  const shown = findings.slice(0, MOST_FINDINGS);
  const width = Math.min(Math.max(0, ...shown.map((one) => one.at.length)), 24);
  const left = findings.length - shown.length;
  return [
    `${oneLine(basename(path))}: ${findings.length} findings` + (left ? `, of which ${left} are left out here` : ""),
    "",
    ...shown.map((one) => {
      const times = one.count > 1 ? ` (${one.count} times)` : "";
      return oneLine(`${one.at.padEnd(width)}  ${one.severity}: ${one.message}${times} [${one.rule}]`);
    }),
  ];
}

const SEVERITIES: Record<string, vscode.DiagnosticSeverity> = {
  error: vscode.DiagnosticSeverity.Error,
  warning: vscode.DiagnosticSeverity.Warning,
  note: vscode.DiagnosticSeverity.Information,
};

interface Report {
  capture: string;
  findings: Finding[];
  lines: string[];
}

export class Checks
  implements vscode.TextDocumentContentProvider, vscode.DocumentLinkProvider, vscode.CodeActionProvider, vscode.Disposable
{
  private readonly reports = new Map<string, Report>();
  private readonly problems = vscode.languages.createDiagnosticCollection("pocketgpu check");
  private readonly changed = new vscode.EventEmitter<vscode.Uri>();
  readonly onDidChange = this.changed.event;

  uriOf(capture: string): vscode.Uri {
    return vscode.Uri.from({ scheme: SCHEME, path: `/${basename(capture)}.check`, query: capture });
  }

  /** Check a capture and show the report. */
  async check(capture: string, cancel?: vscode.CancellationToken): Promise<vscode.Uri> {
    const done = await run(["check", capture, "--json"], cancel);
    // 1 says that there are findings.
    if (done.code !== 0 && done.code !== 1) throw new ProgramError(done.error.trim() || `check ended with ${done.code}`);
    const findings = findingsOf(done.out);
    const uri = this.uriOf(capture);
    const lines = linesOf(capture, findings);
    this.reports.set(uri.toString(), { capture, findings, lines });
    this.problems.set(
      uri,
      findings.slice(0, MOST_FINDINGS).map((one, index) => {
        const range = new vscode.Range(index + 2, 0, index + 2, (lines[index + 2] ?? "").length);
        const text = [one.message, one.hint].filter(Boolean).join("\n");
        const problem = new vscode.Diagnostic(range, text, SEVERITIES[one.severity] ?? vscode.DiagnosticSeverity.Information);
        problem.source = "pocketgpu check";
        problem.code = one.rule;
        return problem;
      }),
    );
    this.changed.fire(uri);
    return uri;
  }

  provideTextDocumentContent(uri: vscode.Uri): string {
    return (this.reports.get(uri.toString())?.lines ?? ["Run the check once more."]).join("\n");
  }

  /** The addresses of the report lead into the viewer. */
  provideDocumentLinks(document: vscode.TextDocument): vscode.DocumentLink[] {
    const report = this.reports.get(document.uri.toString());
    if (!report) return [];
    return report.findings.slice(0, MOST_FINDINGS).flatMap((one, index) => {
      if (!ADDRESS.test(one.at)) return [];
      const link = new vscode.DocumentLink(
        new vscode.Range(index + 2, 0, index + 2, one.at.length),
        viewLink(report.capture, one.at),
      );
      link.tooltip = `Show ${one.at} in the viewer`;
      return [link];
    });
  }

  /** Of a problem: show its place in the viewer. */
  provideCodeActions(document: vscode.TextDocument, range: vscode.Range): vscode.CodeAction[] {
    const report = this.reports.get(document.uri.toString());
    const finding = report?.findings[range.start.line - 2];
    if (!report || !finding || !ADDRESS.test(finding.at)) return [];
    const title = `Show ${finding.at} in the viewer`;
    const action = new vscode.CodeAction(title, vscode.CodeActionKind.QuickFix);
    action.command = { title, command: "pocketgpu.view", arguments: [report.capture, finding.at] };
    return [action];
  }

  dispose(): void {
    this.problems.dispose();
    this.changed.dispose();
  }
}

/** A link that runs the command which opens the viewer. */
export function viewLink(capture: string, address: string): vscode.Uri {
  return vscode.Uri.parse(`command:pocketgpu.view?${encodeURIComponent(JSON.stringify([capture, address]))}`);
}
