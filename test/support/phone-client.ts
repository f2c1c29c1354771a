import type { WebSocket } from "ws";
import type { PhoneCommand, PhoneMessage } from "../../adapters/telephony/simulator/phones/phone-message.ts";
import type { Client } from "./server-client.ts";
import { until } from "./server-client.ts";
import type { Sound } from "./server-sound.ts";
import { connect, type StreamClosed } from "./stream-client.ts";

type MessageOf<Type extends PhoneMessage["type"]> = Extract<PhoneMessage, { readonly type: Type }>;

/** A phone of the simulator over a real WebSocket. */
export class PhoneClient {
  readonly ws: WebSocket;
  readonly messages: PhoneMessage[] = [];
  readonly frames: Buffer[] = [];
  #closeEvent: StreamClosed | undefined;

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

  send(command: PhoneCommand): void {
    this.ws.send(JSON.stringify(command));
  }

  /**
   * Speaks in real time: a 20 ms frame every 20 ms, until the samples end, the connection closes or the signal fires.
   */
  async speak(samples: Int16Array, sampleRate: number, signal?: AbortSignal): Promise<void> {
    const length = sampleRate / 50;
    const start = performance.now();
    for (let at = 0, frame = 0; at + length <= samples.length; at += length, frame++) {
      if (this.#closeEvent !== undefined || signal?.aborted) return;
      await new Promise((resolve) => setTimeout(resolve, Math.max(0, start + 20 * frame - performance.now())));
      this.ws.send(new Uint8Array(samples.buffer, samples.byteOffset + 2 * at, 2 * length));
    }
  }

  /** Waits for a message of this type, including past ones. */
  async message<Type extends PhoneMessage["type"]>(type: Type): Promise<MessageOf<Type>> {
    const matchingMessage = await until(
      () => this.messages.find((message): message is MessageOf<Type> => message.type === type),
      (message) => message !== undefined || this.#closeEvent !== undefined,
      15_000,
      `the message ${type}`,
    );
    if (matchingMessage) return matchingMessage;
    throw new Error(`the phone closed (${JSON.stringify(this.#closeEvent)}) before the message ${type}`);
  }

  /** All audio heard so far. */
  sound(sampleRate: number): Sound {
    const bytes = Buffer.concat(this.frames);
    return { sampleRate, samples: Int16Array.from({ length: bytes.length >> 1 }, (_, i) => bytes.readInt16LE(2 * i)) };
  }

  /** Waits for the end of the connection. */
  async closed(): Promise<StreamClosed> {
    const closeEvent = await until(
      () => this.#closeEvent,
      (entry) => entry !== undefined,
      15_000,
      "the phone to be closed",
    );
    return closeEvent!;
  }
}

/** Opens a phone with this number, and waits until it can be called. @throws {StreamRefused} */
export async function openPhone(base: string, { token }: Client, number: string): Promise<PhoneClient> {
  const url = `${base.replace(/^http/, "ws")}/simulator/phones/${number}`;
  const phone = await connect(url, { authorization: `Bearer ${token}` }, (ws) => new PhoneClient(ws));
  await phone.message("ready");
  return phone;
}
