import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { concatPcm, pcmToBytes } from "../../src/audio/samples/pcm.ts";
import { tone } from "../../src/audio/tones/tone.ts";
import { wavHeader } from "../../src/audio/wav/wav-header.ts";

/** Fault of one request. */
export type SpeechFault =
  /** Responds with this status instead of audio. */
  | { readonly status: number; readonly headers?: Record<string, string>; readonly body?: string | Uint8Array }
  /** Never responds; or stops after the first piece. */
  | "silent"
  | "stall"
  /** Declares more bytes than it sends, or cuts the connection midway or before the response. */
  | "truncate"
  | "drop"
  | "cut"
  /** Responds successfully with an empty body. */
  | "empty"
  /** Sends the first half, and the rest when this has resolved. */
  | { readonly pause: Promise<unknown> };

/** A received request. */
export interface SpeechRequest {
  readonly path: string;
  readonly authorization: string | undefined;
  readonly body: Readonly<Record<string, unknown>>;
}

/** A fake of the servers that respond to `POST /v1/audio/speech`, on loopback. */
export interface SpeechServer {
  /** Base URL with `/v1`. */
  readonly baseUrl: string;
  readonly requests: readonly SpeechRequest[];
  /** Number of requests whose response is in progress. */
  readonly openCount: number;
  /** Faults of the next requests, one each. */
  fail(...faults: SpeechFault[]): void;
  /** The content type of raw samples; without a rate by default, like most servers. */
  contentType: string;
  close(): Promise<void>;
}

const SAMPLE_RATE = 24_000;
/** Size of a piece, bytes: odd, so that every second piece starts within a sample. */
const PIECE_BYTES = 4801;
const PIECE_EVERY_MS = 2;
const LEADING_SILENCE_MS = 220;
const WORD_MS = 300;

/** Starts the fake. It "speaks" a tone for every word, after an initial silence like that of neural voices. */
export async function speechServer(): Promise<SpeechServer> {
  const requests: SpeechRequest[] = [];
  const faults: SpeechFault[] = [];
  let openCount = 0;

  const server = createServer(async (request, response) => {
    openCount++;
    response.once("close", () => {
      openCount--;
    });
    const body = JSON.parse(await textOf(request)) as Record<string, unknown>;
    requests.push({ path: request.url ?? "", authorization: request.headers.authorization, body });
    const fault = faults.shift();
    if (fault === "silent") return;
    if (fault === "cut") return void request.socket.destroy();
    if (typeof fault === "object" && "status" in fault) {
      response
        .writeHead(fault.status, { "content-type": "application/json", ...fault.headers })
        .end(fault.body ?? "{}");
      return;
    }
    await sendAudio(response, body, fault, subject.contentType);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));

  const subject: SpeechServer = {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests,
    get openCount() {
      return openCount;
    },
    fail: (...next) => void faults.push(...next),
    contentType: "audio/pcm",
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return subject;
}

async function sendAudio(
  response: ServerResponse,
  body: Record<string, unknown>,
  fault: Exclude<SpeechFault, { readonly status: number }> | undefined,
  contentType: string,
): Promise<void> {
  const isWav = body.response_format === "wav";
  const samples = fault === "empty" ? new Int16Array(0) : toneFor(String(body.input));
  const header = isWav ? wavHeader({ sampleRate: SAMPLE_RATE }) : new Uint8Array(0);
  const bytes = Buffer.concat([header, pcmToBytes(samples)]);
  response.writeHead(200, {
    "content-type": isWav ? "audio/wav" : contentType,
    ...(fault === "truncate" ? { "content-length": String(bytes.length * 2) } : {}),
  });
  response.flushHeaders();
  let pause = typeof fault === "object" ? fault.pause : undefined;
  for (let at = 0; at < bytes.length && !response.destroyed; at += PIECE_BYTES) {
    if (pause && at >= bytes.length / 2) {
      await pause;
      pause = undefined;
    }
    response.write(bytes.subarray(at, at + PIECE_BYTES));
    await new Promise((resolve) => setTimeout(resolve, PIECE_EVERY_MS));
    if (fault === "stall" && at > 0) return;
    if (fault === "drop" && at > bytes.length / 2) {
      response.destroy();
      return;
    }
  }
  if (fault === "truncate") response.destroy();
  else response.end();
}

function toneFor(text: string): Int16Array {
  const words = text.split(/\s+/).filter((word) => word !== "");
  const silence = new Int16Array((LEADING_SILENCE_MS * SAMPLE_RATE) / 1000);
  return concatPcm([silence, ...words.map((word) => tone(300 + (word.length % 10) * 50, WORD_MS, SAMPLE_RATE, 9000))]);
}

async function textOf(request: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  return Buffer.concat(pieces).toString();
}
