// The requests about a program that runs, and the shapes of their answers: docs/formats/view.md, "live".

import { askJson } from "../shared/api";

export interface LiveStatus {
  state: "running" | "standing" | "ended";
  frame: number;
  presents: number;
  /** Frames in a second, of late. */
  fps: number;
  /** Why it ended or stands. */
  note: string;
  /** The address of the frame that is shown, in the recording. */
  at: string;
  /** Grows with each recording that is put on the desk. */
  recording: number;
  screens: { name: string; width: number; height: number }[];
}

export interface LiveControl {
  name: string;
  span: "held" | "lasting" | "once";
  text: boolean;
  values: { name: string; low: number; high: number; whole: boolean }[];
}

export interface LiveDisplay {
  name: string;
  width: number;
  height: number;
  touched: boolean;
}

export interface LiveControls {
  keys: string[];
  keyboard: { code: string; does: string }[];
  gamepad: string[];
  sticks: string[];
  others: LiveControl[];
  displays: LiveDisplay[];
  rate: number;
}

export interface LiveAnswer extends LiveStatus {
  controls: LiveControls;
  text: string;
}

export type Command = "run" | "pause" | "step" | "back" | "restart" | "do";

/** Tell the program's run something; the answer is the state after it. */
export function command(name: Command, values: Record<string, string | number> = {}): Promise<LiveStatus> {
  // Commands never take each other's place: each has a panel of its own.
  return askJson<LiveStatus>(`/api/live/${name}`, "", values);
}
