import { setTimeout as pause } from "node:timers/promises";
import { callees, type Script } from "../support/sip/far-end.ts";
import { BatchRecord, type BatchView } from "./batch-record.ts";
import { Chance } from "./chance.ts";
import type { InstanceRecord } from "./journal.ts";
import { messageOf } from "./messages.ts";
import { createInstance } from "./requests.ts";
import type { SequenceContext } from "./sequence-context.ts";

/** The batch's chance seed; calling clients have smaller ones. */
const NUMBER = 8;
const INSTANCES = 2;
const TARGETS = 40;
/** Pause before a failed request is retried, ms. */
const RETRY_MS = 20;
/** Interval between two reads of the batch, ms. */
const POLL_MS = 100;
/** Time for the batch to end when everything works, on a busy machine, ms. */
const END_MS = 60_000;
/** Number of a sequence's rounds before a batch is cancelled, if at all. */
const CANCEL_FROM = 4;

/** Reasons for another call, with and without those for a call that a fault ended before its INVITE. */
const RETRY_REASONS = [["busy"], ["busy", "interrupted", "unreachable"]] as const;

/** Behaviours of the targets' phones, likely ones first. */
const SCRIPTS: readonly Script[] = [
  ...[callees.answers, callees.answers, callees.answers, callees.answers],
  ...[callees.busy, { afterMs: 60 }, callees.rings],
];

/** A client with one batch, which it creates, starts, pauses, resumes and sometimes cancels. */
export class BatchClient {
  readonly #context: SequenceContext;
  readonly #instances: readonly InstanceRecord[];
  readonly record: BatchRecord;
  readonly #cancelRound: number;
  #chance: Chance;

  constructor(context: SequenceContext) {
    this.#context = context;
    const { seed, database, journal, phones } = context;
    const chance = new Chance(seed, NUMBER);
    this.#chance = chance;
    this.#instances = Array.from({ length: INSTANCES }, (_, n) =>
      journal.instance(`${database.name.toLowerCase()}-${seed}-batch-${n}`, "sip/rounds"),
    );
    const numbers = Array.from({ length: TARGETS }, (_, n) => `+1555${NUMBER}${String(n).padStart(6, "0")}`);
    for (const number of numbers) phones.add(number, chance.pick(SCRIPTS));
    const retry = { on: chance.pick(RETRY_REASONS), times: 4, afterMs: 1_000 };
    this.record = new BatchRecord(numbers, retry);
    this.#cancelRound = chance.boolean(0.25) ? chance.integer(CANCEL_FROM, 10) : Number.POSITIVE_INFINITY;
    journal.batch = this.record;
  }

  /** Works until the round has ended. */
  async work(hasEnded: () => boolean): Promise<void> {
    const { seed, journal } = this.#context;
    this.#chance = new Chance(seed, NUMBER, journal.epoch);
    while (!hasEnded()) {
      if (!(await this.#prepare())) await pause(RETRY_MS);
      else if (journal.epoch >= this.#cancelRound && this.#chance.boolean(0.3)) await this.#cancel();
      else if (this.#chance.boolean(0.2)) await this.#pauseFor(this.#chance.integer(0, 200));
      else {
        await pause(POLL_MS);
        await this.#read();
      }
    }
  }

  /** Finishes pending requests. Returns true if the batch continues, or has ended. */
  async finish(): Promise<boolean> {
    if (!(await this.#prepare())) return false;
    const batch = await this.#read();
    if (batch?.status !== "PAUSED") return batch !== undefined;
    return (await this.#step("resume")) === 200;
  }

  /** Waits without faults until the batch has ended. */
  async waitForEnd(): Promise<void> {
    const { journal, server } = this.#context;
    const deadline = performance.now() + END_MS;
    for (;;) {
      await this.finish();
      const batch = await this.#read();
      if (batch && (batch.status === "COMPLETED" || batch.status === "CANCELLED")) {
        const { CALLING = 0, WAITING = 0 } = batch.counts.by_status;
        if (CALLING + WAITING === 0) return;
      }
      if (!server.isAlive) return;
      if (performance.now() > deadline)
        return journal.reportViolation("every batch ends", this.record.id ?? "the batch", JSON.stringify(batch));
      await pause(POLL_MS);
    }
  }

  /** Creates the instances and the batch, and starts the batch, as far as possible now. */
  async #prepare(): Promise<boolean> {
    for (const instance of this.#instances)
      if (instance.id === undefined) await createInstance(this.#context, instance);
    if (this.#instances.some(({ id }) => id === undefined)) return false;
    if (this.record.id === undefined) await this.#create();
    if (this.record.id === undefined) return false;
    if (!this.record.isStarted) this.record.isStarted = (await this.#step("start")) === 200;
    return this.record.isStarted;
  }

  async #create(): Promise<void> {
    const { record } = this;
    const { server, journal } = this.#context;
    const response = await server.request("POST", "/v1/batches", {
      json: {
        name: "Rounds",
        instanceIds: this.#instances.map(({ id }) => id),
        message: { type: "FIXED_AUDIO", audio: { audioBase64: messageOf(100) } },
        targets: record.numbers.map((phoneNumber) => ({ phoneNumber })),
        retry: record.retry,
        gapMs: 0,
        breaker: false,
      },
      headers: { "idempotency-key": "batch" },
    });
    journal.note(`batch: ${response?.status ?? "no response"}`);
    if (response?.status !== 201) return;
    const batch = response.json<BatchView>();
    record.id = batch.id;
    if (batch.counts.targets !== record.numbers.length)
      journal.reportViolation(
        "a confirmed write is stored",
        batch.id,
        `it was created with ${batch.counts.targets} of ${record.numbers.length} targets`,
      );
  }

  async #pauseFor(ms: number): Promise<void> {
    const { record } = this;
    if ((await this.#step("pause")) !== 200) return;
    const from = Date.now();
    await pause(ms);
    if (this.#chance.boolean(0.5)) await this.#read();
    const pauseTimes = { from, to: Date.now() };
    record.pauses.push(pauseTimes);
    while ((await this.#step("resume")) === 503) await pause(RETRY_MS);
  }

  async #cancel(): Promise<void> {
    const { record } = this;
    record.isCancelRequested = true;
    const liveCalls = this.#chance.pick(["finish", "end"]);
    if ((await this.#step("cancel", { liveCalls })) !== 200) return;
    record.cancelledAt ??= Date.now();
  }

  async #step(step: "start" | "pause" | "resume" | "cancel", json?: unknown): Promise<number | undefined> {
    const { server, journal } = this.#context;
    const path = `/v1/batches/${this.record.id}/${step}`;
    const response = await server.request("POST", path, json === undefined ? {} : { json });
    journal.note(`${step} the batch: ${response?.status ?? "no response"}`);
    if (response?.status === 200) this.record.recordStatus(journal, response.json<BatchView>());
    return response?.status;
  }

  async #read(): Promise<BatchView | undefined> {
    const { server, journal } = this.#context;
    const response = await server.request("GET", `/v1/batches/${this.record.id}`);
    if (response?.status === 404)
      journal.reportViolation("a confirmed write is stored", this.record.id!, "GET returned 404");
    if (response?.status !== 200) return undefined;
    const batch = response.json<BatchView>();
    this.record.recordStatus(journal, batch);
    return batch;
  }
}
