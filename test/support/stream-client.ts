import type { IncomingMessage } from "node:http";
import { WebSocket } from "ws";
import { until } from "./server-client.ts";
import type { Sound } from "./server-sound.ts";

/** A text message from the server. */
export interface StreamMessage {
  readonly type: "call_event" | "transcript" | "error";
  readonly event?: string;
  readonly timestamp?: string;
  readonly code?: string;
  readonly detail?: string;
  readonly [field: string]: unknown;
}

/** End of a stream. */
export interface StreamClosed {
  readonly code: number;
  readonly reason: string;
}

/** Thrown by {@link openStream} for a response other than 101. */
export class StreamRefused extends Error {
  override readonly name = "StreamRefused";
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;

  constructor(status: number, headers: IncomingMessage["headers"], body: string) {
    super(`the stream was refused with ${status}: ${body.slice(0, 500)}`);
    this.status = status;
    this.headers = headers;
    this.body = body;
  }

  /** Problem document. */
  get problem(): { readonly code: string; readonly detail: string; readonly errors?: readonly object[] } {
    return JSON.parse(this.body);
  }
}

/** Options of {@link openStream}. */
export interface OpenStreamOptions {
  /** Sent as a bearer token; left out if the query has a ticket. */
  readonly token?: string | undefined;
  /** `encoding`, `sample_rate`, `audio`, `ticket`. */
  readonly query?: Readonly<Record<string, string | number>>;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * Opens the stream of a call.
 * @param base URL of the server, base path included, as `http://…`
 * @throws {StreamRefused}
 */
export async function openStream(
  base: string,
  callId: string,
  { token, query = {}, headers = {} }: OpenStreamOptions = {},
): Promise<StreamClient> {
  const search = new URLSearchParams(query as Record<string, string>).toString();
  const url = `${base.replace(/^http/, "ws")}/v1/calls/${callId}/stream${search && `?${search}`}`;
  return connectStream(url, token === undefined ? headers : { authorization: `Bearer ${token}`, ...headers });
}

/** Opens a stream by its whole address. @throws {StreamRefused} */
export function connectStream(url: string, headers: Readonly<Record<string, string>> = {}): Promise<StreamClient> {
  return connect(url, headers, (ws) => new StreamClient(ws));
}

/**
 * Opens a WebSocket.
 * @param listen creates the client of the socket, before the first message can arrive
 * @throws {StreamRefused}
 */
export async function connect<Client>(
  url: string,
  headers: Readonly<Record<string, string>>,
  listen: (ws: WebSocket) => Client,
): Promise<Client> {
  const ws = new WebSocket(url, { headers: { ...headers }, perMessageDeflate: false });
  const client = listen(ws);
  await new Promise<void>((resolve, reject) => {
    ws.once("open", resolve);
    ws.once("error", reject);
    ws.once("unexpected-response", (_, response: IncomingMessage) => {
      let body = "";
      response.setEncoding("utf8");
      response.on("data", (piece) => {
        body += piece;
      });
      response.on("end", () => reject(new StreamRefused(response.statusCode ?? 0, response.headers, body)));
    });
  });
  return client;
}

/** A client of a stream that records everything it receives. */
export class StreamClient {
  readonly ws: WebSocket;
  /** The text messages so far. */
  readonly messages: StreamMessage[] = [];
  /** The binary messages so far. */
  readonly frames: Buffer[] = [];
  #closeEvent: StreamClosed | undefined;
  #probeCount = 0;

  constructor(ws: WebSocket) {
    this.ws = ws;
    ws.on("message", (data: Buffer, isBinary: boolean) => {
      if (isBinary) this.frames.push(data);
      else this.messages.push(JSON.parse(data.toString()));
    });
    ws.on("close", (code: number, reason: Buffer) => {
      this.#closeEvent = { code, reason: reason.toString() };
    });
    ws.on("error", () => {}); // `close` follows
  }

  /** Sends audio; resolves when it has been handed to the operating system. */
  write(audio: Int16Array | Uint8Array): Promise<void> {
    const bytes = new Uint8Array(audio.buffer, audio.byteOffset, audio.byteLength);
    return new Promise((resolve, reject) => this.ws.send(bytes, (error) => (error ? reject(error) : resolve())));
  }

  /** Sends audio repeatedly in pieces of this many bytes. */
  async writePieces(audio: Int16Array | Uint8Array, sizes: readonly number[]): Promise<void> {
    const bytes = new Uint8Array(audio.buffer, audio.byteOffset, audio.byteLength);
    let last: Promise<void> | undefined;
    for (let at = 0, i = 0; at < bytes.length; i++) {
      const size = sizes[i % sizes.length]!;
      last = this.write(bytes.subarray(at, at + size));
      at += size;
    }
    await last;
  }

  /** Sends a text message; an object as JSON. */
  sendMessage(message: object | string): void {
    this.ws.send(typeof message === "string" ? message : JSON.stringify(message));
  }

  /** Resolves when the server has received everything sent so far. */
  async waitUntilReceived(): Promise<void> {
    const type = `probe-${++this.#probeCount}`;
    this.sendMessage({ type });
    await this.message(({ detail }) => detail?.includes(`"${type}"`) === true, "the server to receive everything");
  }

  /** The call events so far. */
  get events(): StreamMessage[] {
    return this.messages.filter(({ type }) => type === "call_event");
  }

  /** The names of the call events so far. */
  get eventNames(): string[] {
    return this.events.map(({ event }) => event ?? "");
  }

  /** Waits for a matching text message, including past ones. */
  message(
    isAccepted: (message: StreamMessage) => boolean,
    description: string = "a message",
    withinMs: number = 15_000,
  ): Promise<StreamMessage> {
    return until(
      () => this.messages.find(isAccepted),
      (message) => message !== undefined || this.#closeEvent !== undefined,
      withinMs,
      description,
    ).then((message) => {
      if (message) return message;
      const closeText = JSON.stringify(this.#closeEvent);
      throw new Error(
        `the stream closed (${closeText}) before ${description}; received: ${JSON.stringify(this.messages)}`,
      );
    });
  }

  /** Waits for a call event of this name, including past ones. */
  event(name: string, withinMs?: number): Promise<StreamMessage> {
    return this.message(({ event }) => event === name, `the event ${name}`, withinMs);
  }

  /** Waits for a message of the type `error`. */
  error(code: string, withinMs?: number): Promise<StreamMessage> {
    return this.message(
      (received) => received.type === "error" && received.code === code,
      `the error ${code}`,
      withinMs,
    );
  }

  /** Callee's audio so far, if it is PCM. */
  sound(sampleRate: number): Sound {
    const bytes = Buffer.concat(this.frames);
    return { sampleRate, samples: Int16Array.from({ length: bytes.length >> 1 }, (_, i) => bytes.readInt16LE(2 * i)) };
  }

  /** Waits for the end of the connection. */
  async closed(withinMs: number = 15_000): Promise<StreamClosed> {
    const closeEvent = await until(
      () => this.#closeEvent,
      (entry) => entry !== undefined,
      withinMs,
      "the stream to be closed",
    );
    return closeEvent!;
  }

  /** Sends a close frame; without a code it is empty. */
  async close(code?: number): Promise<StreamClosed> {
    if (code === undefined) this.ws.close();
    else this.ws.close(code);
    return this.closed();
  }

  /** Breaks the connection without a close frame. */
  kill(): void {
    this.ws.terminate();
  }

  /** Stops reading until {@link resumeReading}; pings stay unanswered too. */
  stopReading(): void {
    this.ws.pause();
  }

  resumeReading(): void {
    this.ws.resume();
  }
}
