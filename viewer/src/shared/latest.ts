// One question at a time: a new one aborts the one before, and late answers are dropped.

import { RequestError, Superseded } from "./asker";

export type Asking = "idle" | "asking" | "slow";

/**
 * How often a question is asked again after another request of the panel took its place on the server. Requests may
 * arrive in another order than they were sent: then one that was already given up wins over the one that is wanted.
 */
const TRIES = 4;

/** How long an answer may take before the panel says that it waits. */
const PATIENCE_MS = 150;

export class Latest {
  state: Asking = "idle";
  error: RequestError | null = null;
  private controller: AbortController | null = null;

  /** `changed` is called whenever `state` or `error` changes. */
  constructor(private readonly changed: () => void) {}

  /** Ask, and hand the answer to `use`, unless something else was asked meanwhile. */
  async ask<T>(question: (signal: AbortSignal) => Promise<T>, use: (answer: T) => void): Promise<void> {
    this.controller?.abort();
    const controller = new AbortController();
    this.controller = controller;
    this.set("asking", this.error);
    const timer = setTimeout(() => {
      if (this.controller === controller) this.set("slow", this.error);
    }, PATIENCE_MS);
    try {
      const answer = await this.insist(question, controller);
      if (this.controller !== controller) return;
      this.error = null;
      use(answer);
      this.set("idle", null);
    } catch (error) {
      if (this.controller !== controller) return;
      if (error instanceof Superseded || (error instanceof DOMException && error.name === "AbortError")) {
        this.set("idle", this.error);
      } else {
        this.set("idle", error instanceof RequestError ? error : new RequestError(String(error)));
      }
    } finally {
      clearTimeout(timer);
      if (this.controller === controller) this.controller = null;
    }
  }

  private async insist<T>(question: (signal: AbortSignal) => Promise<T>, controller: AbortController): Promise<T> {
    for (let left = TRIES; ; left -= 1) {
      try {
        return await question(controller.signal);
      } catch (error) {
        if (!(error instanceof Superseded) || this.controller !== controller || left <= 1) throw error;
      }
    }
  }

  /** Drop the question that is open. */
  stop(): void {
    this.controller?.abort();
    this.controller = null;
    this.set("idle", null);
  }

  private set(state: Asking, error: RequestError | null): void {
    this.state = state;
    this.error = error;
    this.changed();
  }
}
