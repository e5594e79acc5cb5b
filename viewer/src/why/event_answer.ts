// Events that are no draws have no reason. What they are and what they touch is told instead.

import { parseAddress, placeOfText } from "../shared/address";
import type { WhyAnswer } from "../shared/api";
import { RequestError } from "../shared/asker";
import type { Session } from "../shared/session";

interface EventAnswer {
  address: string;
  title: string;
  facts?: Record<string, unknown>;
  writes?: { address: string; size: number }[];
  reads?: { address: string; size: number }[];
}

/** Whether an address names an event that draws nothing: it has no reason. False as well if that is not known. */
function drawsNothing({ store }: Session, at: string): boolean {
  const parsed = parseAddress(at);
  return parsed?.event !== undefined && !parsed.pixel && !parsed.rest && store.tree.isDraw(at) === false;
}

/** The answer of `why`, or a description of the event or pass where there is none to be had. */
export async function explain(session: Session, at: string, signal: AbortSignal): Promise<WhyAnswer> {
  const { asker, store } = session;
  await store.needFor(at);
  signal.throwIfAborted();
  if (drawsNothing(session, at)) return describe(await asker.json<EventAnswer>("/api/event", "why", { at }, signal));
  try {
    return await asker.json<WhyAnswer>("/api/why", "why", { at }, signal);
  } catch (error) {
    const parsed = parseAddress(at);
    if (error instanceof RequestError && parsed?.rest?.some((part) => part.startsWith("v"))) return aroundVertex(session, at, signal);
    if (!(error instanceof RequestError) || !parsed || parsed.pixel || parsed.rest) throw error;
    if (parsed.event !== undefined) {
      try {
        return describe(await asker.json<EventAnswer>("/api/event", "why", { at }, signal));
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

/** What is known of the draw that a vertex belongs to: it has no reason of its own. */
async function aroundVertex(session: Session, at: string, signal: AbortSignal): Promise<WhyAnswer> {
  const around = await explain(session, placeOfText(at), signal);
  const note = `Shader steps through the program of this vertex, Mesh has its values. This is about all of ${around.address}:`;
  return { ...around, address: at, note };
}

/** An event as an answer: its title, then its facts and the memory that it touches. */
export function describe(event: EventAnswer): WhyAnswer {
  const lines = Object.entries(event.facts ?? {}).flatMap(([name, value]) => factLines(name, value));
  for (const name of ["writes", "reads"] as const) {
    const spans = event[name] ?? [];
    if (spans.length) lines.push(name, ...spans.map(({ address, size }) => `  ${address}+0x${size.toString(16)}`));
  }
  return { address: event.address, because: event.title, text: lines.join("\n") };
}

/** A fact as lines: parts of it are below its name. */
function factLines(name: string, value: unknown, lead = ""): string[] {
  if (typeof value !== "object" || value === null) return [`${lead}${name}: ${String(value)}`];
  const parts = Object.entries(value);
  if (Array.isArray(value) && value.every((one) => typeof one !== "object")) return [`${lead}${name}: ${value.join(", ")}`];
  return [`${lead}${name}`, ...parts.flatMap(([part, inside]) => factLines(part, inside, `${lead}  `))];
}
