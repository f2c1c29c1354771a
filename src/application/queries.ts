import { visiblePart } from "../domain/access/ownership.ts";
import type { Principal } from "../domain/access/principal.ts";
import type { FailedReason } from "../domain/calls/outcome.ts";
import { Refusal } from "../domain/refusal.ts";
import type { Voice } from "../ports/speech.ts";
import type { AudioThread } from "../ports/telephony.ts";
import { voiceSample } from "./call-audio/voice-sample.ts";
import type { Dispatcher } from "./calls/dialling/dispatcher.ts";
import { readLog } from "./calls/log-pages.ts";
import type { Context } from "./context.ts";
import type { Lines } from "./instances/lines.ts";
import { listedVoices, type VoiceFilter } from "./listed-voices.ts";
import { nextPage } from "./next-page.ts";
import type {
  CallStatistics,
  EventPage,
  Figures,
  LogQuery,
  OpenNetwork,
  QueryUseCases,
  WaitLimit,
} from "./use-cases.ts";
import { PerUser } from "./user-limits/per-user.ts";
import { refuseDemo } from "./user-limits/refuse-demo.ts";
import { MAX_AT_ONCE } from "./user-limits/user-limits.ts";

type QueriesContext = Pick<
  Context,
  "access" | "counters" | "events" | "log" | "speech" | "speechScheduler" | "storage" | "system" | "telephony"
>;

/** Default number of events on a page. */
const PAGE_SIZE = 50;

/** The queries that span records. */
export class Queries implements QueryUseCases {
  readonly #context: QueriesContext;
  readonly #dispatcher: Dispatcher;
  readonly #lines: Lines;
  readonly #samples = new PerUser(MAX_AT_ONCE.samples);

  constructor(context: QueriesContext, dispatcher: Dispatcher, lines: Lines) {
    this.#context = context;
    this.#dispatcher = dispatcher;
    this.#lines = lines;
  }

  async events(principal: Principal, { instanceId, limit = PAGE_SIZE, cursor }: LogQuery = {}): Promise<EventPage> {
    const { events } = this.#context.storage;
    const { userId } = principal;
    const logFilter = visiblePart(principal, instanceId);
    return readLog(events, userId, { limit, cursor }, async (page) =>
      logFilter ? events.ofUser(userId, logFilter, page) : [],
    );
  }

  nextEvents(principal: Principal, query: LogQuery, waitLimit: WaitLimit): Promise<EventPage> {
    const read = (cursor?: string): Promise<EventPage> => this.events(principal, { ...query, cursor });
    return nextPage(this.#context, principal.userId, waitLimit, query.cursor, read);
  }

  async callSummary(principal: Principal): Promise<CallStatistics> {
    refuseDemo(principal, "a demo token cannot see the summary");
    return callSummary(this.#context, principal.userId);
  }

  async networks(principal: Principal): Promise<OpenNetwork[]> {
    refuseDemo(principal, "a demo token cannot create instances");
    const { access, telephony } = this.#context;
    const names = await access.networksOf(principal.userId);
    return names.map((name) => {
      const capabilities = telephony.get(name)?.capabilities;
      const { linking = "code", callerIds = null, receivesAudio = true } = capabilities ?? {};
      return { name, linking, receivesAudio, callerIds };
    });
  }

  async voices(filter?: VoiceFilter): Promise<readonly Voice[]> {
    return listedVoices(await this.#context.speech.voices(), filter);
  }

  async voiceSample(
    voiceId: string,
    userId?: string,
    { signal }: Pick<WaitLimit, "signal"> = {},
  ): Promise<Uint8Array<ArrayBuffer>> {
    if (userId === undefined) return voiceSample(this.#context, voiceId);
    const release = this.#samples.take(userId);
    if (!release) throw new Refusal("server_busy", "too many of your voice samples are being spoken; try again");
    return voiceSample(this.#context, voiceId, { userId, signal }).finally(release);
  }

  async ready(): Promise<boolean> {
    if (this.#dispatcher.isStopping) return false;
    return this.#context.storage.calls.oldestWaiting().then(
      () => true,
      () => false,
    );
  }

  audioThreads(): readonly AudioThread[] {
    return [...this.#context.telephony.values()].flatMap((network) => network.audioThreads?.() ?? []);
  }

  async figures(): Promise<Figures> {
    const { outcomes, created, turnStages, interruptions } = this.#context.counters;
    const calls = await this.#context.storage.calls.counts();
    const { liveCount: liveCalls } = this.#dispatcher;
    const { dialableCount: linesOnline } = this.#lines;
    return {
      calls,
      outcomes: Object.fromEntries(outcomes),
      created,
      turnStages,
      interruptions,
      liveCalls,
      linesOnline,
    };
  }
}

const DAY_MS = 86_400_000;
const SUMMARY_DAYS = 14;

/**
 * Results of a user's calls from the last 14 days. Each day is counted separately, so that other work continues in
 * between.
 */
export async function callSummary(
  { storage, system }: Pick<Context, "storage" | "system">,
  userId: string,
): Promise<CallStatistics> {
  const today = Math.floor(system.now() / DAY_MS) * DAY_MS;
  const days: CallStatistics["days"][number][] = [];
  const failures = new Map<FailedReason, number>();
  for (let dayStart = today - (SUMMARY_DAYS - 1) * DAY_MS; dayStart <= today; dayStart += DAY_MS) {
    const tally = await storage.calls.tally(userId, dayStart, dayStart + DAY_MS);
    days.push({
      day: new Date(dayStart).toISOString().slice(0, 10),
      completed: tally.completed,
      failed: tally.failed,
    });
    for (const [reason, calls] of Object.entries(tally.failures) as [FailedReason, number][])
      failures.set(reason, (failures.get(reason) ?? 0) + calls);
  }
  const byFrequency = [...failures].map(([reason, calls]) => ({ reason, calls }));
  return { days, failures: byFrequency.sort((a, b) => b.calls - a.calls || (a.reason < b.reason ? -1 : 1)) };
}
