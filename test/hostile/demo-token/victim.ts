import { readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { type HttpResponse, type RequestOptions, send } from "../../support/server-http.ts";
import { toneWav } from "../../support/server-sound.ts";

const fileOf = (name: string): Buffer => readFileSync(new URL(`../../fixtures/mp3/${name}`, import.meta.url));
/** Audio files of calls, and one invalid file. */
const FILES: readonly string[] = [fileOf("tone-16000.mp3"), toneWav({ ms: 500 })].map((file) =>
  file.toString("base64"),
);
/** Number of calls of the warm-up, and the duration of each, ms. */
const WARM_UP_CALLS = 4;
const WARM_UP_CALL_MS = 4_000;
/** Duration of {@link Victim.warmUp} on an idle machine, ms. */
export const WARM_UP_MS: number = WARM_UP_CALLS * WARM_UP_CALL_MS;
const INVALID_AUDIO = "A".repeat(2_000_000);

/** A failed request of the other user. */
export interface Failure {
  readonly request: string;
  readonly cause: string;
}

/** A user who keeps working: lists, audible calls, and a reader that waits for their events. */
export class Victim {
  readonly failures: Failure[] = [];
  /** Time of each response, ms, without waits. */
  readonly durations: number[] = [];
  calls = 0;
  /** Ids of the calls it placed. */
  readonly callIds: string[] = [];
  readonly #url: string;
  readonly #token: string;
  readonly #instance: string;

  constructor(url: string, token: string, instance: string) {
    this.#url = url;
    this.#token = token;
    this.#instance = instance;
  }

  /** Places calls with long texts: the first ones make the server compile much of its speech engine. */
  async warmUp(): Promise<void> {
    const target = { phoneNumber: "+12025550100" };
    for (let n = 0; n < WARM_UP_CALLS; n++) {
      const tts = { text: `Text ${n}. ${"These are many words. ".repeat(150)}`, voiceId: "en-US-1" };
      const creation = await this.#request("POST", "/v1/calls", {
        instanceId: this.#instance,
        type: "FIXED_TTS",
        target,
        tts,
      });
      await pause(WARM_UP_CALL_MS);
      if (creation) await this.#request("DELETE", `/v1/calls/${creation.json<{ id: string }>().id}`);
    }
  }

  /** Works until the signal fires. */
  async work(signal: AbortSignal): Promise<void> {
    await Promise.all([
      this.#browse(signal),
      this.#uploadInvalidFile(signal),
      this.#call(signal),
      this.#readEvents(signal),
    ]);
  }

  /** Uploads an invalid file occasionally. */
  async #uploadInvalidFile(signal: AbortSignal): Promise<void> {
    const target = { phoneNumber: "+12025550100" };
    const body = { instanceId: this.#instance, type: "FIXED_AUDIO", target, audio: { audioBase64: INVALID_AUDIO } };
    while (!signal.aborted) {
      await this.#request("POST", "/v1/calls", body, {}, 400);
      await pause(5_000);
    }
  }

  async #browse(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      for (const path of [
        "/v1/instances",
        "/v1/calls?limit=20&expand=outcome",
        "/v1/voices",
        `/v1/instances/${this.#instance}`,
      ])
        await this.#request("GET", path);
      await pause(500);
    }
  }

  /** Places calls in succession; each is heard to its end. */
  async #call(signal: AbortSignal): Promise<void> {
    const target = { phoneNumber: "+12025550100" };
    while (!signal.aborted) {
      // Each text is new, so that none is cached.
      const tts = { text: `Hello there, this is message ${this.callIds.length}.`, voiceId: "en-US-1" };
      const message =
        this.callIds.length % 3 === 1
          ? { type: "FIXED_AUDIO", audio: { audioBase64: FILES[this.callIds.length % 2] } }
          : { type: "FIXED_TTS", tts };
      const body = { instanceId: this.#instance, target, ...message };
      const creation = await this.#request("POST", "/v1/calls", body);
      if (!creation) continue;
      const { id } = creation.json<{ id: string }>();
      this.callIds.push(id);
      const endedCall = await this.#request("GET", `/v1/calls/${id}?expand=outcome`, undefined, { prefer: "wait=30" });
      const { status, outcome } =
        endedCall?.json<{ status: string; outcome?: { reason: string; heard_ratio: number } }>() ?? {};
      if (status === "COMPLETED" && outcome?.reason === "message_played" && outcome.heard_ratio === 1) this.calls++;
      else this.failures.push({ request: `call ${id}`, cause: `${status} ${JSON.stringify(outcome)}` });
    }
  }

  async #readEvents(signal: AbortSignal): Promise<void> {
    for (let cursor = "latest"; !signal.aborted; ) {
      const page = await this.#request("GET", `/v1/events?cursor=${cursor}`, undefined, { prefer: "wait=5" });
      if (page && page.headers["preference-applied"] === undefined)
        this.failures.push({ request: "GET /v1/events", cause: "it did not wait" });
      cursor = page?.headers["next-cursor"] ?? cursor;
    }
  }

  async #request(
    method: string,
    path: string,
    body?: object,
    headers: RequestOptions["headers"] = {},
    expected?: number,
  ): Promise<HttpResponse | undefined> {
    const startedAt = performance.now();
    try {
      const response = await send(method, this.#url + path, {
        headers: {
          authorization: `Bearer ${this.#token}`,
          ...(body !== undefined && { "content-type": "application/json" }),
          ...headers,
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
        timeoutMs: 40_000,
      });
      if (headers.prefer === undefined) this.durations.push(performance.now() - startedAt);
      if (expected === undefined ? response.status < 300 : response.status === expected) return response;
      this.failures.push({ request: `${method} ${path}`, cause: `${response.status} ${response.text.slice(0, 300)}` });
    } catch (fault) {
      this.failures.push({ request: `${method} ${path}`, cause: String(fault) });
    }
    await pause(200);
    return undefined;
  }
}
