import { setTimeout as pause } from "node:timers/promises";
import { type Answer, type Sending, send } from "../../support/server-http.ts";

/** A request of the other user that failed. */
export interface Failure {
  readonly request: string;
  readonly why: string;
}

/** A user who goes on working: lists, calls that are heard, and a reader that waits for their events. */
export class Victim {
  readonly failures: Failure[] = [];
  /** Time of each response, ms; waits are not among them. */
  readonly took: number[] = [];
  calls = 0;
  /** Ids of the calls it placed. */
  readonly placed: string[] = [];
  readonly #url: string;
  readonly #token: string;
  readonly #instance: string;

  constructor(url: string, token: string, instance: string) {
    this.#url = url;
    this.#token = token;
    this.#instance = instance;
  }

  /** Works until the signal fires. */
  async work(signal: AbortSignal): Promise<void> {
    await Promise.all([this.#browse(signal), this.#call(signal), this.#follow(signal)]);
  }

  async #browse(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      for (const path of [
        "/v1/instances",
        "/v1/calls?limit=20&expand=outcome",
        "/v1/voices",
        `/v1/instances/${this.#instance}`,
      ])
        await this.#ask("GET", path);
      await pause(500);
    }
  }

  /** Places one call after the other; each is heard to its end. */
  async #call(signal: AbortSignal): Promise<void> {
    const target = { phoneNumber: "+12025550100" };
    while (!signal.aborted) {
      const body = {
        instanceId: this.#instance,
        type: "FIXED_TTS",
        target,
        tts: { text: "Hello there.", voiceId: "en-US-1" },
      };
      const created = await this.#ask("POST", "/v1/calls", body);
      if (!created) continue;
      const { id } = created.json<{ id: string }>();
      this.placed.push(id);
      const ended = await this.#ask("GET", `/v1/calls/${id}?expand=outcome`, undefined, { prefer: "wait=30" });
      const { status, outcome } =
        ended?.json<{ status: string; outcome?: { reason: string; heard_ratio: number } }>() ?? {};
      if (status === "COMPLETED" && outcome?.reason === "message_played" && outcome.heard_ratio === 1) this.calls++;
      else this.failures.push({ request: `call ${id}`, why: `${status} ${JSON.stringify(outcome)}` });
    }
  }

  async #follow(signal: AbortSignal): Promise<void> {
    for (let cursor = "latest"; !signal.aborted; ) {
      const page = await this.#ask("GET", `/v1/events?cursor=${cursor}`, undefined, { prefer: "wait=5" });
      if (page && page.headers["preference-applied"] === undefined)
        this.failures.push({ request: "GET /v1/events", why: "it did not wait" });
      cursor = page?.headers["next-cursor"] ?? cursor;
    }
  }

  async #ask(
    method: string,
    path: string,
    body?: object,
    headers: Sending["headers"] = {},
  ): Promise<Answer | undefined> {
    const from = performance.now();
    try {
      const answer = await send(method, this.#url + path, {
        headers: {
          authorization: `Bearer ${this.#token}`,
          ...(body !== undefined && { "content-type": "application/json" }),
          ...headers,
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
        timeoutMs: 40_000,
      });
      if (headers.prefer === undefined) this.took.push(performance.now() - from);
      if (answer.status < 300) return answer;
      this.failures.push({ request: `${method} ${path}`, why: `${answer.status} ${answer.text.slice(0, 300)}` });
    } catch (fault) {
      this.failures.push({ request: `${method} ${path}`, why: String(fault) });
    }
    await pause(200);
    return undefined;
  }
}
