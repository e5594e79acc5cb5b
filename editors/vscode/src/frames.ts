// "pocketgpu: show a frame": the pictures of a frame in a panel. They are rendered into a folder of their own, which is
// deleted with the panel. The page may load pictures of that folder and its own two files, and nothing else.

import { randomBytes } from "node:crypto";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import * as vscode from "vscode";
import { ProgramError, report, run } from "./program";

export const NO_PICTURE = 4;
const MOST_PICTURES = 8;

export function escaped(text: string): string {
  const signs: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };
  return text.replace(/[&<>"']/g, (sign) => signs[sign] as string);
}

export interface Picture {
  name: string;
  link: string;
}

export interface Page {
  title: string;
  frame: number;
  pictures: Picture[];
  message: string;
  source: string;
  style: string;
  script: string;
  nonce: string;
}

export function html(page: Page): string {
  const policy = [
    "default-src 'none'", `img-src ${page.source}`, `style-src ${page.source}`, `script-src 'nonce-${page.nonce}'`,
    "base-uri 'none'", "form-action 'none'",
  ].join("; ");
  const figures = page.pictures.map(
    (one) => `<figure><img src="${escaped(one.link)}" alt="${escaped(one.name)}"><figcaption>${escaped(one.name)}</figcaption></figure>`,
  );
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<link rel="stylesheet" href="${escaped(page.style)}">
<title>${escaped(page.title)}</title>
</head>
<body data-frame="${page.frame}">
<nav><button id="before"${page.frame ? "" : " disabled"}>Previous</button> <span>Frame ${page.frame}</span>
<button id="after">Next</button> <button id="view">Show in the viewer</button></nav>
${page.message ? `<p role="status">${escaped(page.message)}</p>` : ""}
${figures.join("\n")}
<script nonce="${page.nonce}" src="${escaped(page.script)}"></script>
</body>
</html>
`;
}

export class Frames implements vscode.Disposable {
  private readonly open = new Set<vscode.WebviewPanel>();

  constructor(private readonly extension: vscode.Uri) {}

  /** Show the pictures of a frame of a capture in a new panel. */
  async show(capture: string, frame: number, view: (capture: string, address: string) => void): Promise<vscode.WebviewPanel> {
    const folder = await mkdtemp(join(tmpdir(), "pocketgpu-"));
    const media = vscode.Uri.joinPath(this.extension, "media");
    const panel = vscode.window.createWebviewPanel("pocketgpu.frame", basename(capture), vscode.ViewColumn.Beside, {
      enableScripts: true,
      localResourceRoots: [vscode.Uri.file(folder), media],
    });
    this.open.add(panel);
    let shown = frame;
    let asked = 0;
    const draw = async (wanted: number) => {
      const mine = (asked += 1);
      const { pictures, message } = await this.pictures(capture, wanted, folder);
      if (mine !== asked || !this.open.has(panel)) return;
      if (!message) shown = wanted;
      panel.title = `${basename(capture)}: frame ${wanted}`;
      panel.webview.html = html({
        title: panel.title,
        frame: wanted,
        message,
        pictures: pictures.map((name) => ({
          name,
          link: panel.webview.asWebviewUri(vscode.Uri.file(join(folder, String(wanted), name))).toString(),
        })),
        source: panel.webview.cspSource,
        style: panel.webview.asWebviewUri(vscode.Uri.joinPath(media, "frame.css")).toString(),
        script: panel.webview.asWebviewUri(vscode.Uri.joinPath(media, "frame.js")).toString(),
        nonce: randomBytes(16).toString("hex"),
      });
    };
    panel.onDidDispose(() => {
      this.open.delete(panel);
      void rm(folder, { recursive: true, force: true });
    });
    panel.webview.onDidReceiveMessage((message: unknown) => {
      const step = (message as { step?: unknown } | null)?.step;
      if (step === "view") view(capture, `f${shown}`);
      else if (step === 1 || step === -1) void draw(Math.max(0, shown + step)).catch(report);
    });
    await draw(frame);
    return panel;
  }

  private async pictures(capture: string, frame: number, folder: string): Promise<{ pictures: string[]; message: string }> {
    const out = join(folder, String(frame));
    const done = await run(["render", capture, "--frames", `${frame}-${frame}`, "--out", out]);
    if (done.code === NO_PICTURE) return { pictures: [], message: `There is no picture of frame ${frame}.` };
    if (done.code !== 0) throw new ProgramError(done.error.trim() || `render ended with ${done.code}`);
    const names = (await readdir(out)).filter((name) => name.endsWith(".png")).sort();
    const left = names.length - MOST_PICTURES;
    return { pictures: names.slice(0, MOST_PICTURES), message: left > 0 ? `${left} more pictures are left out.` : "" };
  }

  dispose(): void {
    for (const one of [...this.open]) one.dispose();
  }
}
