// Events that are no draws have no reason. What they are and what they touch is told instead.

import { parseAddress } from "../shared/address";
import { askJson, RequestError, type WhyAnswer } from "../shared/api";
import { store } from "../events/store";

interface EventAnswer {
  address: string;
  title: string;
  facts?: Record<string, unknown>;
  writes?: { address: string; size: number }[];
  reads?: { address: string; size: number }[];
}

/** Whether an address names an event that draws nothing: it has no reason. False as well if that is not known. */
function drawsNothing(at: string): boolean {
  const parsed = parseAddress(at);
  return parsed?.event !== undefined && !parsed.pixel && !parsed.rest && store.tree.isDraw(at) === false;
}

/** The answer of `why`, or a description of the event or pass where there is none to be had. */
export async function explain(at: string, signal: AbortSignal): Promise<WhyAnswer> {
  await store.needFor(at);
  signal.throwIfAborted();
  if (drawsNothing(at)) return describe(await askJson<EventAnswer>("/api/event", "why", { at }, signal));
  try {
    return await askJson<WhyAnswer>("/api/why", "why", { at }, signal);
  } catch (error) {
    const parsed = parseAddress(at);
    if (!(error instanceof RequestError) || !parsed || parsed.pixel || parsed.rest) throw error;
    if (parsed.event !== undefined) {
      try {
        return describe(await askJson<EventAnswer>("/api/event", "why", { at }, signal));
      } catch (other) {
        // There is no such event: what was said first is the reason.
        throw other instanceof RequestError ? error : other;
      }
    }
    const row = parsed.pass === undefined ? null : store.tree.row(store.tree.rowOf(at));
    if (row?.address !== at) throw error;
    return { address: at, because: `pass to ${row.title}`, text: "Ask about one of its draws, or about a pixel." };
  }
}

/** An event as an answer: its title, then its facts and the memory that it touches. */
export function describe(event: EventAnswer): WhyAnswer {
  const lines = Object.entries(event.facts ?? {}).map(
    ([name, value]) => `${name}: ${typeof value === "string" ? value : JSON.stringify(value)}`,
  );
  for (const name of ["writes", "reads"] as const) {
    const spans = event[name] ?? [];
    if (spans.length) lines.push(name, ...spans.map(({ address, size }) => `  ${address}+0x${size.toString(16)}`));
  }
  return { address: event.address, because: event.title, text: lines.join("\n") };
}
