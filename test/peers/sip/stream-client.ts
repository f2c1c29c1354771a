import { WebSocket } from "ws";
import { concatPcm, pcmFromBytes, pcmToBytes } from "../../../src/audio/samples/pcm.ts";
import { until } from "../../support/server-client.ts";
import type { Sound } from "../../support/server-sound.ts";

/** A `call_event`, as received. */
export interface ReceivedEvent {
  readonly type: string;
  readonly event: string;
  readonly timestamp: string;
  readonly digit?: string;
  readonly name?: string;
  readonly heard_ms?: number;
  readonly reason?: string;
}

const RATE = 16_000;
/** Size of a message, bytes: odd, so that samples are cut in two. */
const PIECE_BYTES = 1_001;

/** A client that is attached to the stream of a call, and gets the callee's audio. */
export class StreamClient {
  readonly events: ReceivedEvent[] = [];
  /** Close code of the connection. */
  readonly closed: Promise<number>;
  readonly #socket: WebSocket;
  readonly #audio: Int16Array[] = [];

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.on("message", (data: Buffer, binary: boolean) => {
      if (binary) {
        this.#audio.push(pcmFromBytes(data));
        return;
      }
      this.events.push(JSON.parse(data.toString()) as ReceivedEvent);
    });
    this.closed = new Promise((resolve) => socket.once("close", resolve));
  }

  /** Attaches to a call. @param url URL of the server */
  static async attach(url: string, callId: string): Promise<StreamClient> {
    const path = `/v1/calls/${callId}/stream?audio=callee&encoding=pcm_s16le&sample_rate=${RATE}`;
    const socket = new WebSocket(`${url.replace("http", "ws")}${path}`, { headers: { authorization: "Bearer any" } });
    const client = new StreamClient(socket);
    await new Promise((resolve, reject) => socket.once("open", resolve).once("error", reject));
    return client;
  }

  /** Callee's audio so far. */
  get audio(): Sound {
    return { sampleRate: RATE, samples: concatPcm(this.#audio) };
  }

  /** Streams PCM at 16 kHz at once. */
  speak(samples: Int16Array): void {
    const bytes = pcmToBytes(samples);
    for (let offset = 0; offset < bytes.length; offset += PIECE_BYTES)
      this.#socket.send(bytes.subarray(offset, offset + PIECE_BYTES));
  }

  sendMessage(message: { readonly type: string; readonly name?: string; readonly digits?: string }): void {
    this.#socket.send(JSON.stringify(message));
  }

  close(code: number): void {
    this.#socket.close(code);
  }

  /** Waits for an event. */
  async event(name: string, withinMs = 15_000): Promise<ReceivedEvent> {
    return (await until(
      () => this.events.find(({ event }) => event === name),
      (event) => event !== undefined,
      withinMs,
      `the event ${name}, after ${this.events.map(({ event }) => event)}`,
    ))!;
  }

  /** Time of an event, ms since 1970. */
  timeOf(name: string): number {
    return Date.parse(this.events.find(({ event }) => event === name)?.timestamp ?? "");
  }
}
