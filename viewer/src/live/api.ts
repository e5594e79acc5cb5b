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
  /** What can be done about it; empty if there is nothing to say. */
  advice: string;
  /** The address of the frame that is shown, in the recording. */
  at: string;
  /** Grows with each recording that is put on the desk. */
  recording: number;
  /** The first frame to which it goes back soon; null: it cannot go back. */
  reach: number | null;
  /** The frame from which on a recording is wanted. */
  marked: number | null;
  /** The program's frames that the recording on the desk has: from, and how many there were at its end. */
  recorded: [number, number] | null;
  screens: LiveScreen[];
}

/** A picture, as large as it was sent, and which of its rows a message has. */
export interface LiveScreen {
  name: string;
  width: number;
  height: number;
  first?: number;
  rows?: number;
}

export interface LiveControl {
  name: string;
  span: "held" | "lasting" | "once";
  text: boolean;
  values: { name: string; low: number; high: number; whole: boolean; start: number }[];
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
  /** What the console had to tell, such as a service that is not there. */
  events: string[];
}

export type Command = "run" | "pause" | "step" | "back" | "restart" | "do" | "mark";

/** Tell the program's run something; the answer is the state after it. */
export function command(name: Command, values: Record<string, string | number> = {}): Promise<LiveStatus> {
  // Commands never take each other's place: each has a panel of its own.
  return askJson<LiveStatus>(`/api/live/${name}`, "", values);
}
