import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import process from "node:process";
import { pcmToBytes } from "../../../src/audio/samples/pcm.ts";
import { tone } from "../../../src/audio/tones/tone.ts";
import { isProgram } from "../harness/programs.ts";

/** Durations of one turn's parts at the provider, ms by the server's clock. */
export interface ProviderTurn {
  transcriptionMs: number;
  chatMs: number;
  /** Time to the first byte of the audio. */
  speechMs: number;
  /** Time at which that byte was passed to the socket. */
  speechAt: number;
}

/** A provider of transcription, completions and speech that responds immediately, on loopback. */
export interface Provider {
  /** Base URL with `/v1`. */
  readonly baseUrl: string;
  /** Figures of each turn, by the number in its texts. */
  readonly turns: ReadonlyMap<number, ProviderTurn>;
  close(): Promise<void>;
}

/** Rate of the speech, Hz: the usual one of such servers. */
const SPEECH_RATE = 24_000;
/** Length of a spoken reply, ms. */
const REPLY_MS = 3_000;

/** The number of a text's turn; 0 for the start of a call. */
export function numberIn(text: string): number {
  return Number(/number (\d+)/.exec(text)?.[1] ?? 0);
}

/** Starts the provider. */
export async function startProvider(): Promise<Provider> {
  const turns = new Map<number, ProviderTurn>();
  const speech = Buffer.from(pcmToBytes(tone(440, REPLY_MS, SPEECH_RATE, 8_000)));
  let count = 0;

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    const receivedAt = performance.now();
    if (request.url === "/v1/audio/transcriptions") {
      const number = ++count;
      const text = `Yes, that is right, number ${number}.`;
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ text }));
      turns.set(number, { transcriptionMs: performance.now() - receivedAt, chatMs: 0, speechMs: 0, speechAt: 0 });
      return;
    }
    const body = JSON.parse(Buffer.concat(pieces).toString()) as { input?: string; messages?: { content: string }[] };
    const number = numberIn(body.input ?? body.messages?.at(-1)?.content ?? "");
    const turn = turns.get(number);
    if (request.url === "/v1/chat/completions") {
      const delta = { content: `Thank you, number ${number}.` };
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta }] })}\n\n`);
      response.end(
        `data: ${JSON.stringify({ choices: [{ index: 0, delta: {}, finish_reason: "stop" }] })}\n\ndata: [DONE]\n\n`,
      );
      if (turn) turn.chatMs = performance.now() - receivedAt;
      return;
    }
    response.writeHead(200, { "content-type": `audio/pcm;rate=${SPEECH_RATE}` });
    if (turn) turn.speechAt = performance.now();
    if (turn) turn.speechMs = turn.speechAt - receivedAt;
    response.end(speech);
  }

  const server = createServer((request, response) => {
    respond(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    turns,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

// In a separate process it prints its address, and ends when its standard input is closed.
if (isProgram(import.meta.url)) {
  console.log((await startProvider()).baseUrl);
  process.stdin.resume().on("end", () => process.exit(0));
}
