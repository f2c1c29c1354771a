import type { Call } from "../domain/call.ts";
import type { FailedReason } from "../domain/outcome.ts";
import type { Context } from "./context.ts";
import type { Lines } from "./lines.ts";
import { failCall } from "./stored-calls.ts";

const BATCH = 100;
const LOOK_AGAIN_MS = 5_000;

/** Fails calls that have waited for their instance too long. One timer, armed for the oldest waiting call. */
export class QueueTimeout {
  readonly #context: Context;
  readonly #lines: Lines;
  #cancel: (() => void) | undefined;
  /** When the timer fires, where there is one. */
  #armedFor = 0;
  #stopped = false;

  constructor(context: Context, lines: Lines) {
    this.#context = context;
    this.#lines = lines;
  }

  async start(): Promise<void> {
    await this.#arm(0);
  }

  /** A call waits: it was created, or its claim was given back. */
  waits(call: Call): void {
    const at = call.createdAt + this.#context.timings.queueTimeoutMs;
    if (!this.#cancel || at < this.#armedFor) this.#armAt(at);
  }

  stop(): void {
    this.#stopped = true;
    this.#cancel?.();
    this.#cancel = undefined;
  }

  async #arm(notBefore: number): Promise<void> {
    const oldest = await this.#context.storage.calls.oldestWaiting();
    if (oldest !== undefined) this.#armAt(Math.max(notBefore, oldest + this.#context.timings.queueTimeoutMs));
  }

  #armAt(at: number): void {
    if (this.#stopped) return;
    this.#cancel?.();
    this.#armedFor = at;
    this.#cancel = this.#context.system.after(Math.max(0, at - this.#context.system.now()), () => void this.#expire());
  }

  async #expire(): Promise<void> {
    const { system, timings, storage, log } = this.#context;
    this.#cancel = undefined;
    try {
      const createdBefore = system.now() - timings.queueTimeoutMs;
      let left = 0;
      let waiting: Call[] = [];
      do {
        waiting = await storage.calls.waitingSince(createdBefore, BATCH, waiting.at(-1));
        for (const call of waiting) if (!(await this.#fail(call))) left++;
      } while (waiting.length === BATCH);
      await this.#arm(system.now() + (left > 0 ? LOOK_AGAIN_MS : 1));
    } catch (error) {
      log.warn({ err: error }, "waiting calls could not be looked through; trying again");
      this.#armAt(system.now() + LOOK_AGAIN_MS);
    }
  }

  /** Answers whether the call was failed; one that waits behind another call of a line that takes calls stays. */
  async #fail(call: Call): Promise<boolean> {
    const instance = await this.#context.storage.instances.get(call.instanceId);
    if (!instance || instance.status === "DELETED") return failCall(this.#context, call, "instance_deleted", null);
    const keeper = this.#lines.find(instance.id);
    if (keeper?.canDial && !keeper.full) return false;
    const said = keeper?.full?.reason ?? this.#lines.connection(instance).reason;
    const [reason, detail]: [FailedReason, string] =
      instance.status === "CREATED"
        ? ["instance_not_linked", (keeper?.linksByItself && said) || "no phone number was linked in time"]
        : ["instance_offline", said ?? "the line was offline"];
    return failCall(this.#context, call, reason, detail);
  }
}
