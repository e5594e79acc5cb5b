// Requests and their answers, whichever way they go: to the server of the page, or to the kernel of a notebook.

/** Carries a request. path: such as "/api/why". It fails with a RequestError, or an AbortError if the signal says so. */
export type Transport = (path: string, query: URLSearchParams, signal: AbortSignal | null) => Promise<Response>;

export type Values = Record<string, string | number>;

/** An error that a request is answered with, or that its carrier has. */
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

const POLL_MS = 30;
const MOST_POLLS = 60;
/** Statuses, as of HTTP. */
const OVERTAKEN = 409;
const FORBIDDEN = 403;
const BUSY = 503;

/** Asks for those who show the answers. One of them is a tab for who answers: that tells pages of a browser apart. */
export class Asker {
  /** A name that nobody else has. */
  readonly tab = Array.from(crypto.getRandomValues(new Uint8Array(6)), (byte) => byte.toString(36)).join("");
  /** Requests may arrive in another order than they were sent: the newest of a panel is answered. */
  private turn = 0;
  private open = 0;

  constructor(private readonly transport: Transport) {}

  /** Wait until no request is open for a moment; not for long, as there is no answer that must come first. */
  async calm(): Promise<void> {
    let quiet = 0;
    for (let poll = 0; poll < MOST_POLLS && quiet < 2; poll += 1) {
      await new Promise((done) => setTimeout(done, POLL_MS));
      quiet = this.open ? 0 : quiet + 1;
    }
  }

  async json<T>(path: string, panel: string, values: Values = {}, signal?: AbortSignal): Promise<T> {
    return (await (await this.ask(path, panel, values, signal)).json()) as T;
  }

  async bytes(path: string, panel: string, values: Values, signal?: AbortSignal): Promise<Uint8ClampedArray<ArrayBuffer>> {
    return new Uint8ClampedArray(await (await this.ask(path, panel, values, signal)).arrayBuffer());
  }

  async blob(path: string, panel: string, values: Values, signal?: AbortSignal): Promise<Blob> {
    return (await this.ask(path, panel, values, signal)).blob();
  }

  /** Ask for a file, and let the browser keep it. */
  async download(path: string, panel: string, values: Values): Promise<void> {
    const response = await this.ask(path, panel, values);
    const name = /filename="([^"]+)"/.exec(response.headers.get("content-disposition") ?? "")?.[1] ?? "page.html";
    const link = document.createElement("a");
    link.href = URL.createObjectURL(await response.blob());
    link.download = name;
    link.click();
    // The browser reads it soon after the click.
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
  }

  private async ask(path: string, panel: string, values: Values, signal?: AbortSignal): Promise<Response> {
    let response: Response;
    this.open += 1;
    try {
      response = await this.transport(path, this.query(panel, values), signal ?? null);
    } finally {
      this.open -= 1;
    }
    if (response.ok) return response;
    if (response.status === OVERTAKEN) throw new Superseded();
    throw await errorOf(response);
  }

  private query(panel: string, values: Values): URLSearchParams {
    const query = new URLSearchParams();
    for (const [name, value] of Object.entries(values)) query.set(name, String(value));
    this.turn += 1;
    query.set("tab", this.tab);
    query.set("panel", panel);
    query.set("turn", String(this.turn));
    return query;
  }
}

async function errorOf(response: Response): Promise<RequestError> {
  try {
    const { error } = await response.json();
    const text = (value: unknown): string | null => (value == null ? null : String(value));
    return new RequestError(String(error.message), text(error.location), text(error.hint));
  } catch {
    // Requests that are not let in are answered with plain text.
    let hint: string | null = null;
    if (response.status === FORBIDDEN) hint = "Open the page by the link that `pocketgpu view` has printed.";
    if (response.status === BUSY) hint = "Too many requests wait. Try again in a moment.";
    return new RequestError(`the server answers with status ${response.status}`, null, hint);
  }
}
