import type { Principal } from "../domain/principal.ts";
import type { Voice } from "../ports/speech.ts";
import type { Context } from "./context.ts";
import type { Dispatcher } from "./dispatcher.ts";
import type { Lines } from "./lines.ts";
import { readLog } from "./log-pages.ts";
import type { EventPage, Figures, LogQuery, QueryUseCases } from "./use-cases.ts";
import { voiceSample } from "./voice-sample.ts";

/** Events of a page whose length is not given. */
const PAGE = 50;

/** Reads that belong to no single record. */
export class Queries implements QueryUseCases {
  readonly #context: Context;
  readonly #dispatcher: Dispatcher;
  readonly #lines: Lines;

  constructor(context: Context, dispatcher: Dispatcher, lines: Lines) {
    this.#context = context;
    this.#dispatcher = dispatcher;
    this.#lines = lines;
  }

  async events(principal: Principal, { instanceId, limit = PAGE, cursor }: LogQuery = {}): Promise<EventPage> {
    const { events } = this.#context.storage;
    const { userId, demoInstanceId } = principal;
    const visible = demoInstanceId === undefined || (instanceId ?? demoInstanceId) === demoInstanceId;
    return readLog(events, userId, { limit, cursor }, async (page) =>
      visible ? events.ofUser(userId, { instanceId: demoInstanceId ?? instanceId }, page) : [],
    );
  }

  voices(): Promise<readonly Voice[]> {
    return this.#context.speech.voices();
  }

  voiceSample(voiceId: string): Promise<Uint8Array<ArrayBuffer>> {
    return voiceSample(this.#context, voiceId);
  }

  async ready(): Promise<boolean> {
    if (this.#dispatcher.stopping) return false;
    return this.#context.storage.calls.oldestWaiting().then(
      () => true,
      () => false,
    );
  }

  async figures(): Promise<Figures> {
    const { outcomes, created } = this.#context.tally;
    const calls = await this.#context.storage.calls.counts();
    return { calls, outcomes, created, liveCalls: this.#dispatcher.live, linesOnline: this.#lines.dialable };
  }
}
