// Findings and costs of a frame's events: sparse, and asked for after the tree is there.

import { parseAddress } from "../shared/address";
import type { Asker } from "../shared/asker";
import { unpack } from "../shared/packed";

export const SEVERITIES = ["error", "warning", "note"] as const;
export type Severity = (typeof SEVERITIES)[number];

export interface Finding {
  /** The place that it is about. */
  address: string;
  rule: string;
  severity: Severity;
  confidence: string;
  message: string;
  title: string;
  explanation: string;
  hint: string;
  source: string;
  /** How often, in this frame. */
  count: number;
}

export const COSTS = ["vertices", "primitives", "fragments"] as const;
export type Cost = (typeof COSTS)[number];
/** Numbers by event. */
export type CostTable = Record<Cost, Map<number, number>>;

export async function readFindings(asker: Asker, frame: number, signal: AbortSignal): Promise<Finding[]> {
  for (;;) {
    const answer = await asker.json<{ findings?: Finding[] }>("/api/findings", "findings", { frame }, signal);
    // The server looks for them in slices, so that what panels ask comes between.
    if (answer.findings) return answer.findings;
  }
}

export async function readCosts(asker: Asker, frame: number, signal: AbortSignal): Promise<CostTable> {
  const { columns } = unpack<{ frame: number }>(await asker.bytes("/api/costs", "costs", { frame }, signal));
  const events = columns.find((one) => one.name === "event")?.values ?? new Uint32Array(0);
  const table = (name: Cost): Map<number, number> => {
    const values = columns.find((one) => one.name === name)?.values;
    const found = new Map<number, number>();
    events.forEach((event, index) => found.set(event, values?.[index] ?? 0));
    return found;
  };
  return { vertices: table("vertices"), primitives: table("primitives"), fragments: table("fragments") };
}

/** The worst severity of some findings. */
export function worst(findings: Finding[]): Severity {
  return SEVERITIES.find((severity) => findings.some((one) => one.severity === severity)) ?? "note";
}

/** "12", "3.4k", "12k", "1.5M": short enough for a row. */
export function short(count: number): string {
  if (count < 1000) return String(count);
  for (const [unit, size] of [["M", 1e6], ["k", 1e3]] as const) {
    if (count < size) continue;
    const value = count / size;
    return `${value < 10 ? value.toFixed(1) : Math.round(value)}${unit}`;
  }
  return String(count);
}

/** Whether a finding is about the whole frame. */
export function ofFrame({ address }: Finding): boolean {
  const parsed = parseAddress(address);
  return !parsed || (parsed.draw === undefined && parsed.event === undefined && parsed.pass === undefined);
}
