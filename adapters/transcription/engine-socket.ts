import { WebSocket } from "ws";
import { causeOf } from "../engine-http/fault-text.ts";
import { isLasting, refusalText } from "./engine-fault.ts";

const MOST_MESSAGE_BYTES = 1 << 20;
/** More than this that the network has not taken: the connection is no good any more. */
const MOST_UNSENT_BYTES = 1 << 20;
const MOST_BODY_CHARACTERS = 2_000;

/** What becomes of a connection. Told at most once: opened; then messages; then lost. */
export interface SocketListener {
  opened(): void;
  message(text: string): void;
  /** @param lasting another try would end the same way */
  lost(why: string, lasting: boolean): void;
}

/** One connection to an engine, from the attempt to the end. */
export class EngineSocket {
  readonly #socket: WebSocket;
  readonly #late: ReturnType<typeof setTimeout>;
  #open = false;
  #over = false;
  #why = "";

  constructor(url: URL, headers: Readonly<Record<string, string>>, openWithinMs: number, listener: SocketListener) {
    this.#socket = new WebSocket(url, {
      headers: { ...headers },
      perMessageDeflate: false,
      maxPayload: MOST_MESSAGE_BYTES,
    });
    this.#late = setTimeout(() => this.#drop(`did not answer within ${openWithinMs} ms`), openWithinMs);
    this.#socket.on("open", () => {
      clearTimeout(this.#late);
      if (this.#over) return;
      this.#open = true;
      listener.opened();
    });
    this.#socket.on("message", (data, isBinary) => {
      if (!this.#over && !isBinary) listener.message(String(data));
    });
    this.#socket.on("error", (error) => {
      this.#why ||= `failed: ${causeOf(error)}`;
    });
    this.#socket.on("close", (code, reason) => {
      clearTimeout(this.#late);
      if (this.#over) return;
      this.#over = true;
      const said = String(reason).slice(0, 200);
      if (this.#open) listener.lost(this.#why || `closed the connection with ${code}${said ? ` ${said}` : ""}`, false);
      else
        void whyRefused(url, headers, openWithinMs).then((refusal) =>
          refusal
            ? listener.lost(refusal.why, refusal.lasting)
            : listener.lost(this.#why || `closed with ${code}`, false),
        );
    });
  }

  send(message: string | Uint8Array): void {
    if (this.#over || !this.#open) return;
    this.#socket.send(message);
    if (this.#socket.bufferedAmount > MOST_UNSENT_BYTES) this.#drop("does not take what is sent to it");
  }

  /** It is no good any more: it will be told as lost. */
  #drop(why: string): void {
    this.#why ||= why;
    this.#socket.terminate();
  }

  /** As {@link #drop}, by its user. */
  fail(why: string): void {
    this.#drop(why);
  }

  /** Ends it; nothing more is told. */
  close(): void {
    clearTimeout(this.#late);
    this.#over = true;
    if (this.#open) this.#socket.close(1000);
    else this.#socket.terminate();
  }
}

/** A failed upgrade does not say why on every runtime; the same question over plain HTTP does. */
async function whyRefused(
  url: URL,
  headers: Readonly<Record<string, string>>,
  withinMs: number,
): Promise<{ why: string; lasting: boolean } | undefined> {
  const address = new URL(url);
  address.protocol = url.protocol === "wss:" ? "https:" : "http:";
  try {
    const response = await fetch(address, { headers, redirect: "manual", signal: AbortSignal.timeout(withinMs) });
    const { status } = response;
    // Without an upgrade it may well say that it wants one; that is no reason.
    if (status < 400 || status === 400 || status === 405 || status === 426) {
      await response.body?.cancel();
      return undefined;
    }
    const body = (await response.text()).slice(0, MOST_BODY_CHARACTERS);
    return { why: refusalText(status, body), lasting: isLasting(status) };
  } catch {
    return undefined;
  }
}
