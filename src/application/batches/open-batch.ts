import type { Batch, BatchMove, BatchTarget } from "../../domain/batches/batch.ts";
import { BreakerCount } from "../../domain/batches/batch-flow.ts";
import type { BatchLimit } from "../../domain/batches/target-wait.ts";
import type { CheckedAudio } from "../calls/creation/message-checks.ts";
import type { Context } from "../context.ts";
import { moveBatch } from "./batch-records.ts";

type OpenBatchContext = Pick<Context, "events" | "storage" | "system">;

/** Maximum time until a batch is checked again, ms, because the wall clock may be changed. */
const MAX_ALARM_MS = 60_000;

/** Time after which due targets are read again, ms: a retry that has become due in the meantime comes first. */
const MAX_DUE_AGE_MS = 1_000;

/** A batch whose calls this process places. */
export class OpenBatch {
  /** Number of its active calls, including those that are being stored. */
  active = 0;
  /** Positions of the targets whose calls are being stored. */
  readonly placingPositions = new Set<number>();
  /** True once a cancelled batch has no waiting target left. */
  isSwept = false;
  /** True after a write has failed: the batch and its calls are read again before the next step. */
  mustReconcile = false;
  readonly breaker: BreakerCount | undefined;
  readonly #context: OpenBatchContext;
  readonly #onAlarm: () => void;
  #batch: Batch;
  #backOffUntil = 0;
  #limit: BatchLimit | undefined;
  #dueTargets: BatchTarget[] = [];
  #dueReadAt = 0;
  #audio: CheckedAudio | undefined;
  #cancelAlarm = () => {};

  /** @param onAlarm called when it is time for the next step */
  constructor(context: OpenBatchContext, batch: Batch, onAlarm: () => void) {
    this.#context = context;
    this.#batch = batch;
    this.#onAlarm = onAlarm;
    this.breaker = batch.breaker && new BreakerCount(batch.breaker);
  }

  get batch(): Batch {
    return this.#batch;
  }

  get id(): string {
    return this.#batch.id;
  }

  /** The next of the due targets that were read a moment ago; undefined if there is none. */
  takeDueTarget(): BatchTarget | undefined {
    if (this.#context.system.monotonic() - this.#dueReadAt > MAX_DUE_AGE_MS) this.#dueTargets = [];
    return this.#dueTargets.shift();
  }

  /** Keeps due targets that have just been read. */
  keepDue(targets: readonly BatchTarget[]): void {
    this.#dueTargets = [...targets];
    this.#dueReadAt = this.#context.system.monotonic();
  }

  /** Puts back a target that was not called. */
  putBack(target: BatchTarget): void {
    this.#dueTargets.unshift(target);
  }

  /** Drops the due targets, which may have changed. */
  dropDue(): void {
    this.#dueTargets = [];
  }

  /** True if the batch is finished. */
  get isDone(): boolean {
    const { status } = this.#batch;
    const hasEnded = status === "DRAFT" || status === "COMPLETED" || (status === "CANCELLED" && this.isSwept);
    return hasEnded && this.active === 0 && !this.mustReconcile;
  }

  /** Remaining time without calls, after a fault or at a limit, ms; 0 if it may place calls. */
  get backOffMs(): number {
    return Math.max(0, this.#backOffUntil - this.#context.system.monotonic());
  }

  /** The limit that the batch is waiting for. */
  get limit(): BatchLimit | undefined {
    return this.backOffMs > 0 ? this.#limit : undefined;
  }

  /** Adopts the batch that a request has stored; false if this version is older. */
  adopt(batch: Batch): boolean {
    if (batch.version < this.#batch.version) return false;
    if (batch.status === "RUNNING" && this.#batch.status === "PAUSED") this.breaker?.reset();
    this.#batch = batch;
    this.dropDue();
    this.#backOffUntil = 0;
    return true;
  }

  /** Reads the batch again: another request has changed it. */
  async refresh(): Promise<void> {
    const batch = await this.#context.storage.batches.get(this.id);
    if (batch && batch.version >= this.#batch.version) this.#batch = batch;
  }

  /** Moves the batch, or reads it again if another request has moved it; false if the move is illegal. */
  async move(move: BatchMove, reason: string | null = null): Promise<boolean> {
    const movedBatch = await moveBatch(this.#context, this.#batch, move, reason);
    if (movedBatch === "illegal") return false;
    if (movedBatch) this.#batch = movedBatch;
    else await this.refresh();
    return true;
  }

  /** The audio file of its message, as it was checked; undefined for other messages. */
  async audio(): Promise<CheckedAudio | undefined> {
    const { message, id } = this.#batch;
    if (message.type !== "FIXED_AUDIO") return undefined;
    const audio = message.audio as CheckedAudio["message"];
    this.#audio ??= {
      message: audio,
      file: audio.audioId === undefined ? await this.#context.storage.batches.audio(id) : undefined,
    };
    return this.#audio;
  }

  /** Stops placing calls for `ms`. @param limit the cause, if it is a limit */
  backOff(ms: number, limit?: BatchLimit): void {
    this.#backOffUntil = this.#context.system.monotonic() + ms;
    this.#limit = limit;
    this.wakeAfter(ms);
  }

  /** Sets the alarm, replacing an earlier alarm: after this time (ms) or at the end of the batch. */
  wakeAfter(ms: number): void {
    const { system } = this.#context;
    this.#cancelAlarm();
    const endsInMs = (this.#batch.schedule.endAt ?? Number.POSITIVE_INFINITY) - system.now();
    const alarmMs = Math.min(ms, MAX_ALARM_MS, endsInMs > 0 ? endsInMs : ms);
    this.#cancelAlarm = system.after(Math.max(1, alarmMs), this.#onAlarm);
  }

  cancelAlarm(): void {
    this.#cancelAlarm();
  }
}
