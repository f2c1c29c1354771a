import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type WebSocket, WebSocketServer } from "ws";
import { decodeMulaw } from "../../src/audio/samples/g711-companding.ts";
import { pcmFromBytes, rms } from "../../src/audio/samples/pcm.ts";
import { closeServer, type Understand } from "./openai-server.ts";

/** Observations of a connection. */
export interface DeepgramRecord {
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly authorization: string | undefined;
  /** Text messages, by their type. */
  readonly controls: string[];
  /** Length of the received audio, s. */
  seconds: number;
  isOpen: boolean;
}

/** A fake of Deepgram's live transcription, on loopback; it analyses real audio. Written from the public reference. */
export interface DeepgramServer {
  readonly baseUrl: string;
  readonly connections: readonly DeepgramRecord[];
  /** Cuts the next connections after this many seconds of audio, one entry each. */
  cutAfter(...seconds: number[]): void;
  close(): Promise<void>;
}

export interface DeepgramServerOptions {
  readonly understand: Understand;
  readonly apiKey: string;
  /** Idle timeout of the connection, ms. Default: 10,000. */
  readonly quietMs?: number;
}

const QUIET_RMS = 200;
const STEP_SECONDS = 0.02;
/** Silence that ends an utterance, and interval of partial texts, s. */
const ENDPOINT_SECONDS = 0.3;
const INTERIM_SECONDS = 0.4;

/** Starts the fake. */
export async function deepgramServer(options: DeepgramServerOptions): Promise<DeepgramServer> {
  const connections: DeepgramRecord[] = [];
  const cuts: number[] = [];
  const server = createServer((request, response) => {
    const isAuthorized = request.headers.authorization === `Token ${options.apiKey}`;
    response.writeHead(isAuthorized ? 400 : 401, { "content-type": "application/json" });
    response.end(JSON.stringify(isAuthorized ? {} : { err_code: "INVALID_AUTH", err_msg: "Invalid credentials." }));
  });
  const sockets = new WebSocketServer({ noServer: true, perMessageDeflate: false });
  server.on("upgrade", (request, socket, head) => {
    const url = new URL(request.url ?? "/", "http://fake.test");
    if (request.headers.authorization !== `Token ${options.apiKey}` || !/^\/v[12]\/listen$/.test(url.pathname)) {
      socket.end("HTTP/1.1 401 Unauthorized\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
      return;
    }
    sockets.handleUpgrade(request, socket, head, (client) => {
      const record: DeepgramRecord = {
        path: url.pathname,
        query: Object.fromEntries(url.searchParams),
        authorization: request.headers.authorization,
        controls: [],
        seconds: 0,
        isOpen: true,
      };
      connections.push(record);
      new Conversation(client, record, options, cuts.shift() ?? Infinity);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    connections,
    cutAfter: (...seconds) => void cuts.push(...seconds),
    close: () => closeServer(server, sockets),
  };
}

/** One connection: finds utterances in the audio by their energy, and reports them as `/v1` or `/v2` does. */
class Conversation {
  readonly #socket: WebSocket;
  readonly #record: DeepgramRecord;
  readonly #understand: Understand;
  readonly #rate: number;
  readonly #isFlux: boolean;
  readonly #step: number;
  #remainder = new Int16Array(0);
  #samples: number[] = [];
  /** All times in seconds since the first sample. */
  #now = 0;
  #startedAt: number | undefined;
  #voicedAt = 0;
  #reportedAt = 0;
  #turnIndex = 0;

  constructor(
    socket: WebSocket,
    record: DeepgramRecord,
    { understand, quietMs = 10_000 }: DeepgramServerOptions,
    cutAt: number,
  ) {
    this.#socket = socket;
    this.#record = record;
    this.#understand = understand;
    this.#rate = Number(record.query.sample_rate);
    this.#isFlux = record.path === "/v2/listen";
    this.#step = this.#rate * STEP_SECONDS;
    const silenceTimer = setTimeout(() => socket.close(1011, "NET-0001"), quietMs);
    let work = Promise.resolve();
    const bytesPerSecond = this.#rate * (record.query.encoding === "mulaw" ? 1 : 2);
    let receivedBytes = 0;
    let isCut = false;
    socket.on("message", (data, isBinary) => {
      silenceTimer.refresh();
      if (isCut) return;
      if (isBinary && receivedBytes >= cutAt) {
        isCut = true; // audio already received is dropped too
        return socket.terminate();
      }
      if (isBinary) receivedBytes += (data as Buffer).length / bytesPerSecond;
      work = work.then(() => (isBinary ? this.#receive(data as Buffer) : this.#control(String(data))));
    });
    socket.on("close", () => {
      clearTimeout(silenceTimer);
      record.isOpen = false;
    });
    if (this.#isFlux) this.#send({ type: "Connected", request_id: "r", sequence_id: 0 });
  }

  async #receive(bytes: Buffer): Promise<void> {
    const samples = this.#record.query.encoding === "mulaw" ? decodeMulaw(bytes) : pcmFromBytes(bytes);
    this.#record.seconds += samples.length / this.#rate;
    const all = new Int16Array(this.#remainder.length + samples.length);
    all.set(this.#remainder);
    all.set(samples, this.#remainder.length);
    let at = 0;
    for (; at + this.#step <= all.length; at += this.#step) await this.#analyze(all.subarray(at, at + this.#step));
    this.#remainder = all.slice(at);
  }

  async #analyze(step: Int16Array): Promise<void> {
    const isVoice = rms(step) > QUIET_RMS;
    if (isVoice && this.#startedAt === undefined) {
      this.#startedAt = this.#now;
      this.#reportedAt = this.#now;
      if (this.#isFlux) this.#sendTurnInfo("StartOfTurn", "");
    }
    this.#samples.push(...step);
    this.#now += STEP_SECONDS;
    if (isVoice) this.#voicedAt = this.#now;
    if (this.#startedAt !== undefined && this.#now - this.#voicedAt > ENDPOINT_SECONDS) await this.#end();
    else if (this.#now - this.#reportedAt > INTERIM_SECONDS) {
      this.#reportedAt = this.#now;
      if (this.#startedAt === undefined) this.#endOfSpeech();
      else await this.#sendResult(false);
    }
  }

  async #control(text: string): Promise<void> {
    const { type } = JSON.parse(text) as { type: string };
    this.#record.controls.push(type);
    if (type === "Finalize" && this.#startedAt !== undefined) await this.#end();
    if (type !== "CloseStream") return;
    if (this.#startedAt !== undefined) await this.#end();
    if (!this.#isFlux) this.#send({ type: "Metadata", request_id: "r", duration: this.#now, channels: 1 });
    this.#socket.close(1000);
  }

  async #end(): Promise<void> {
    await this.#sendResult(true);
    this.#startedAt = undefined;
    this.#samples = [];
    this.#reportedAt = this.#now;
    this.#turnIndex++;
  }

  #endOfSpeech(): void {
    if (this.#isFlux) this.#sendTurnInfo("Update", "");
    else this.#results("", true, true);
    this.#samples = [];
  }

  async #sendResult(isFinal: boolean): Promise<void> {
    const text = await this.#understand(Int16Array.from(this.#samples), this.#rate);
    if (this.#isFlux) this.#sendTurnInfo(isFinal ? "EndOfTurn" : "Update", text);
    else this.#results(text, isFinal, isFinal);
  }

  #results(transcript: string, is_final: boolean, speech_final: boolean): void {
    const start = this.#now - this.#samples.length / this.#rate;
    const words = transcript.split(" ").filter((word) => word !== "");
    const from = this.#startedAt ?? start;
    const wordSeconds = (this.#voicedAt - from) / Math.max(1, words.length);
    this.#send({
      type: "Results",
      channel_index: [0, 1],
      start,
      duration: this.#now - start,
      is_final,
      speech_final,
      channel: {
        alternatives: [
          {
            transcript,
            confidence: transcript === "" ? 0 : 0.9,
            words: words.map((word, i) => ({
              word,
              start: from + i * wordSeconds,
              end: from + (i + 1) * wordSeconds,
              confidence: 0.9,
            })),
          },
        ],
      },
    });
  }

  #sendTurnInfo(event: string, transcript: string): void {
    const words = transcript.split(" ").filter((word) => word !== "");
    this.#send({
      type: "TurnInfo",
      event,
      turn_index: this.#turnIndex,
      audio_window_start: this.#now - this.#samples.length / this.#rate,
      audio_window_end: this.#now,
      transcript,
      words: words.map((word) => ({ word, confidence: 0.8 })),
      end_of_turn_confidence: event === "EndOfTurn" ? 0.9 : 0.1,
    });
  }

  #send(message: object): void {
    this.#socket.send(JSON.stringify(message));
  }
}
