// The requests of docs/formats/view.md to the server of the page, and the shapes of their answers.

import { Asker, RequestError } from "./asker";

export { RequestError, Superseded } from "./asker";

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

/** The way to the server of the page. */
export async function byHttp(path: string, query: URLSearchParams, signal: AbortSignal | null): Promise<Response> {
  try {
    return await fetch(`${path}?${query}`, { signal, credentials: "same-origin" });
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new RequestError("the server does not answer", null, "Is `pocketgpu view` still running?");
  }
}

/** Asks the server for all panels of the page. */
export const server = new Asker(byHttp);
export const calm = server.calm.bind(server);
export const askJson: typeof server.json = server.json.bind(server);
export const askBytes = server.bytes.bind(server);
export const askBlob = server.blob.bind(server);
export const download = server.download.bind(server);
