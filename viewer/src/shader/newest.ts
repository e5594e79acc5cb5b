// Asks for what is wanted now, one request at a time. Who holds a key down wants many steps one after the other: each
// answer is shown, and what was wanted in between is left out, so that the page always moves.

export class Newest<Wanted, Answer> {
  private wanted: { value: Wanted } | null = null;
  private running = false;
  private stopped = false;

  constructor(
    private readonly ask: (wanted: Wanted, signal: AbortSignal) => Promise<Answer>,
    private readonly use: (answer: Answer, wanted: Wanted) => void,
    private readonly failed: (error: unknown) => void,
  ) {}

  private readonly controller = new AbortController();

  get busy(): boolean {
    return this.running;
  }

  want(value: Wanted): void {
    this.wanted = { value };
    if (!this.running && !this.stopped) void this.pump();
  }

  stop(): void {
    this.stopped = true;
    this.wanted = null;
    this.controller.abort();
  }

  private async pump(): Promise<void> {
    this.running = true;
    while (this.wanted && !this.stopped) {
      const { value } = this.wanted;
      this.wanted = null;
      try {
        const answer = await this.ask(value, this.controller.signal);
        if (!this.stopped) this.use(answer, value);
      } catch (error) {
        if (!this.stopped) this.failed(error);
      }
    }
    this.running = false;
  }
}
