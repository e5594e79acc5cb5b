// The requests of docs/formats/view.md, and the shapes of their answers.

export interface Capture {
  name: string;
  console: string;
  frames: number;
  rest: boolean;
  version: string;
  /** Whether it is a program that runs. */
  live?: boolean;
}

export interface EventsAnswer {
  frame: number;
  passes: { address: string; target: string }[];
  columns: string[];
  rows: [number, number | null, number | null, string, string][];
}

export interface PictureInfo {
  name: string;
  kind: string;
  title: string;
  width: number;
  height: number;
  /** Null where no address names a pixel of it. */
  addresses: PixelAddresses | null;
}

/** The pixel x,y is `first` plus `turn` times x,y at the first of `places`; the other places mean the same. */
export interface PixelAddresses {
  places: string[];
  first: [number, number];
  turn: [[number, number], [number, number]];
}

export interface PixelAnswer {
  /** Null where nothing can be said about the pixel. */
  address: string | null;
  values: { name: string; value: unknown }[];
}

/** What a line of an answer's text is about: a register, or a texel. */
export interface Reference {
  line: number;
  at: string;
  register?: string;
  texture?: string;
  part?: string;
  x?: number;
  y?: number;
}

export interface WhyAnswer {
  address?: string;
  /** What the answer is about, if that is not its address. */
  note?: string;
  because?: string;
  conclusion?: string[];
  proved?: boolean;
  text?: string;
  /** Runs of programs that the answer tells of: addresses that the Shader panel steps through. */
  programs?: { program: string; address: string }[];
  links?: Reference[];
}

export interface RegisterChange {
  register: string;
  old: string;
  new: string;
  fields: { name: string; old: string; new: string }[];
}

export interface StateAnswer {
  summary: { name: string; text: string }[];
  changes: RegisterChange[];
  /** Why the answer is not whole. */
  missing?: string;
}

export interface WordLine {
  at?: string;
  list?: number;
  position?: number;
  address?: string;
  word?: string;
  what?: string;
  changed?: boolean;
  effects?: string[];
  register?: { id: string; name: string; old?: string; new?: string };
  fields?: Record<string, string>;
  uniform?: { unit: string; register: string; value: unknown };
}

/** An error that the server answers with, or that the connection has. */
export class RequestError extends Error {
  constructor(
    message: string,
    readonly location: string | null = null,
    readonly hint: string | null = null,
  ) {
    super(message);
  }
}

/** Another request of the same panel took the place of this one: nothing to show. */
export class Superseded extends Error {}

// The server tells the pages of one browser apart by it.
const TAB = Array.from(crypto.getRandomValues(new Uint8Array(6)), (byte) => byte.toString(36)).join("");

// Requests may arrive in another order than they were sent: the server answers the newest of a panel.
let turn = 0;

function url(path: string, panel: string, values: Record<string, string | number>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) query.set(name, String(value));
  query.set("tab", TAB);
  query.set("panel", panel);
  turn += 1;
  query.set("turn", String(turn));
  return `${path}?${query}`;
}

let open = 0;
const POLL_MS = 30;
const MOST_POLLS = 60;

/** Wait until the page has no request open for a moment; not for long, as there is no answer that must come first. */
export async function calm(): Promise<void> {
  let quiet = 0;
  for (let poll = 0; poll < MOST_POLLS && quiet < 2; poll += 1) {
    await new Promise((done) => setTimeout(done, POLL_MS));
    quiet = open ? 0 : quiet + 1;
  }
}

async function ask(
  path: string,
  panel: string,
  values: Record<string, string | number>,
  signal?: AbortSignal,
): Promise<Response> {
  let response: Response;
  open += 1;
  try {
    response = await fetch(url(path, panel, values), { signal: signal ?? null, credentials: "same-origin" });
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new RequestError("the server does not answer", null, "Is `pocketgpu view` still running?");
  } finally {
    open -= 1;
  }
  if (response.ok) return response;
  if (response.status === 409) throw new Superseded();
  let message = `the server answers with status ${response.status}`;
  let location: string | null = null;
  let hint: string | null = null;
  try {
    const { error } = await response.json();
    message = String(error.message);
    location = error.location == null ? null : String(error.location);
    hint = error.hint == null ? null : String(error.hint);
  } catch {
    // Requests that are not let in are answered with plain text.
    if (response.status === 403) hint = "Open the page by the link that `pocketgpu view` has printed.";
    if (response.status === 503) hint = "Too many requests wait. Try again in a moment.";
  }
  throw new RequestError(message, location, hint);
}

export async function askJson<T>(
  path: string,
  panel: string,
  values: Record<string, string | number> = {},
  signal?: AbortSignal,
): Promise<T> {
  return (await (await ask(path, panel, values, signal)).json()) as T;
}

export async function askBytes(
  path: string,
  panel: string,
  values: Record<string, string | number>,
  signal?: AbortSignal,
): Promise<Uint8ClampedArray<ArrayBuffer>> {
  return new Uint8ClampedArray(await (await ask(path, panel, values, signal)).arrayBuffer());
}

export async function askBlob(
  path: string,
  panel: string,
  values: Record<string, string | number>,
  signal?: AbortSignal,
): Promise<Blob> {
  return (await ask(path, panel, values, signal)).blob();
}

/** Ask for a file, and let the browser keep it. */
export async function download(path: string, panel: string, values: Record<string, string | number>): Promise<void> {
  const response = await ask(path, panel, values);
  const name = /filename="([^"]+)"/.exec(response.headers.get("content-disposition") ?? "")?.[1] ?? "page.html";
  const link = document.createElement("a");
  link.href = URL.createObjectURL(await response.blob());
  link.download = name;
  link.click();
  // The browser reads it soon after the click.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
