import { WebSocket } from "ws";
import { causeOf, isPermanent, refusalText } from "./fault-text.ts";

const MAX_MESSAGE_BYTES = 1 << 20;
/** Maximum number of unsent bytes; beyond that, the connection is considered stalled. */
const MAX_UNSENT_BYTES = 1 << 20;
const MAX_BODY_LENGTH = 2_000;
const MAX_REASON_LENGTH = 200;

/** Events of a connection: `opened` at most once, then messages, then `lost` at most once. */
interface SocketListener {
  opened(): void;
  message(text: string): void;
  /**
   * @param problem completes a sentence such as "the transcription server …"
   * @param isPermanent true if another attempt would fail in the same way
   */
  lost(problem: string, isPermanent: boolean): void;
}

/** Options of an {@link EngineSocket}. */
interface EngineSocketOptions {
  readonly headers: Readonly<Record<string, string>>;
  /** Time limit for the attempt, ms. */
  readonly connectMs: number;
  /** Prefix of the server's settings, such as `RINGPORT_TRANSCRIPTION`. */
  readonly settings: string;
}

/** One connection to an engine, from the attempt until it closes. */
export class EngineSocket {
  readonly #socket: WebSocket;
  readonly #connectTimer: ReturnType<typeof setTimeout>;
  #isOpen = false;
  #isClosed = false;
  #problem = "";

  constructor(url: URL, options: EngineSocketOptions, listener: SocketListener) {
    const { headers, connectMs } = options;
    this.#socket = new WebSocket(url, {
      headers: { ...headers },
      perMessageDeflate: false,
      maxPayload: MAX_MESSAGE_BYTES,
    });
    this.#connectTimer = setTimeout(() => this.drop(`did not respond within ${connectMs} ms`), connectMs);
    this.#socket.on("open", () => {
      clearTimeout(this.#connectTimer);
      if (this.#isClosed) return;
      this.#isOpen = true;
      listener.opened();
    });
    this.#socket.on("message", (data, isBinary) => {
      if (!this.#isClosed && !isBinary) listener.message(String(data));
    });
    this.#socket.on("error", (error) => {
      this.#problem ||= `failed: ${causeOf(error)}`;
    });
    this.#socket.on("close", (code, bytes) => {
      clearTimeout(this.#connectTimer);
      if (this.#isClosed) return;
      this.#isClosed = true;
      const reason = String(bytes).slice(0, MAX_REASON_LENGTH);
      if (this.#isOpen)
        listener.lost(this.#problem || `closed the connection with ${code}${reason ? ` ${reason}` : ""}`, false);
      else
        void refusalOf(url, options).then((refusal) =>
          refusal
            ? listener.lost(refusal.problem, refusal.isPermanent)
            : listener.lost(this.#problem || `closed with ${code}`, false),
        );
    });
  }

  send(message: string | Uint8Array): void {
    if (this.#isClosed || !this.#isOpen) return;
    this.#socket.send(message);
    if (this.#socket.bufferedAmount > MAX_UNSENT_BYTES) this.drop("reads too slowly");
  }

  /** Drops the connection and reports it as lost. */
  drop(problem: string): void {
    this.#problem ||= problem;
    this.#socket.terminate();
  }

  /** Closes the connection; no further reports follow. */
  close(): void {
    clearTimeout(this.#connectTimer);
    this.#isClosed = true;
    if (this.#isOpen) this.#socket.close(1000);
    else this.#socket.terminate();
  }
}

/** The reason for a failed upgrade, which some runtimes do not report; the same request over plain HTTP reveals it. */
async function refusalOf(
  url: URL,
  { headers, connectMs, settings }: EngineSocketOptions,
): Promise<{ problem: string; isPermanent: boolean } | undefined> {
  const address = new URL(url);
  address.protocol = url.protocol === "wss:" ? "https:" : "http:";
  try {
    const response = await fetch(address, { headers, redirect: "manual", signal: AbortSignal.timeout(connectMs) });
    const { status } = response;
    // These statuses may only mean that the upgrade is missing, which is not the reason.
    if (status < 400 || status === 400 || status === 405 || status === 426) {
      await response.body?.cancel();
      return undefined;
    }
    const body = (await response.text()).slice(0, MAX_BODY_LENGTH);
    return { problem: refusalText(status, body, settings), isPermanent: isPermanent(status) };
  } catch {
    return undefined;
  }
}

/** The URL of a WebSocket under a base URL, which may start with http, https, ws or wss. Throws a TypeError. */
export function socketUrl(baseUrl: string | URL, path: string): URL {
  const url = new URL(`${String(baseUrl).replace(/\/+$/, "")}${path}`);
  const isSecure = url.protocol === "https:" || url.protocol === "wss:";
  if (!isSecure && url.protocol !== "http:" && url.protocol !== "ws:")
    throw new TypeError(`"${url.protocol}" is not a protocol of a WebSocket server; use https or wss`);
  url.protocol = isSecure ? "wss:" : "ws:";
  return url;
}
