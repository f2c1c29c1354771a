import { setTimeout as pause } from "node:timers/promises";
import type { CallView } from "../support/server-client.ts";
import { callees, type Script } from "../support/sip/far-end.ts";
import { Chance } from "./chance.ts";
import type { CallRecord, InstanceRecord, Network } from "./journal.ts";
import { createCall, createInstance, deleteInstance, endCall, linkInstance, readCall } from "./requests.ts";
import type { SequenceContext } from "./sequence-context.ts";

/** Pause before a failed request is retried, ms. */
const RETRY_MS = 20;
/** Interval between two reads of a call, ms. */
const POLL_MS = 15;
/** Maximum time for which a call is followed, ms. */
const MAX_WATCH_MS = 500;

/** Behaviours of a number's phone, likely ones first. */
const SCRIPTS: readonly Script[] = [
  callees.answers,
  callees.answers,
  callees.answers,
  { afterMs: 60 },
  callees.busy,
  callees.rings,
];

/** A client that places calls from its instance, ends them, deletes the instance and creates another one. */
export class CallingClient {
  readonly #context: SequenceContext;
  readonly #number: number;
  readonly #network: Network;
  #chance: Chance;
  #instanceCount = 0;
  #callCount = 0;
  #instance: InstanceRecord | undefined;
  /** A call with a key, whose creation got no response. */
  #unconfirmedCall: CallRecord | undefined;

  /** @param number the client's number, below 10 */
  constructor(context: SequenceContext, number: number, network: Network) {
    this.#context = context;
    this.#number = number;
    this.#network = network;
    this.#chance = new Chance(context.seed, number);
  }

  /** Works until the round has ended. @param canDelete true to delete its instance as soon as possible */
  async work(hasEnded: () => boolean, canDelete: boolean): Promise<void> {
    const { seed, journal } = this.#context;
    this.#chance = new Chance(seed, this.#number, journal.epoch);
    while (!hasEnded()) {
      const instance = await this.#prepare();
      if (!instance) await pause(RETRY_MS);
      else if (instance.deletes.length > 0) await this.#repeatDeletion(instance);
      else if (this.#chance.boolean(canDelete ? 0.4 : this.#network === "sip/rounds" ? 0.04 : 0.15))
        await this.#delete(instance);
      else if (this.#unconfirmedCall) await this.#repeat(this.#unconfirmedCall);
      else await this.#call(instance, hasEnded);
    }
  }

  /** Finishes pending work without faults. Returns true if all of it is done. */
  async finish(): Promise<boolean> {
    const instance = this.#instance;
    if (instance?.deletes.length === 0) await this.#prepare(); // an instance without a line never dials
    if (this.#unconfirmedCall) await this.#repeat(this.#unconfirmedCall);
    if (instance?.id !== undefined && instance.deletes.length > 0) await this.#repeatDeletion(instance);
    return this.#unconfirmedCall === undefined && (this.#instance?.deletes.length ?? 0) === 0;
  }

  /** Places one more call, to a phone that answers; returns undefined while its instance cannot place calls. */
  async lastCall(): Promise<CallRecord | undefined> {
    const instance = await this.#prepare();
    if (!instance?.isLinked && this.#network !== "sip/rounds") return undefined;
    if (!instance) return undefined;
    const call = this.#newCall(instance, callees.answers, true);
    await createCall(this.#context, call);
    return call;
  }

  /** Creates and links the instance, as far as possible now. */
  async #prepare(): Promise<InstanceRecord | undefined> {
    const { seed, database, journal } = this.#context;
    this.#instance ??= journal.instance(
      `${database.name.toLowerCase()}-${seed}-${this.#number}-${this.#instanceCount++}`,
      this.#network,
    );
    const instance = this.#instance;
    if (instance.id === undefined) await createInstance(this.#context, instance);
    if (instance.id === undefined) return undefined;
    if (this.#network !== "sip/rounds" && !instance.isLinked && instance.deletes.length === 0)
      await linkInstance(this.#context, instance);
    return instance;
  }

  async #delete(instance: InstanceRecord): Promise<void> {
    // A call that is created at the same time.
    const lateCall = this.#chance.boolean(0.5) ? this.#newCall(instance, callees.answers, false) : undefined;
    const delayMs = this.#chance.integer(0, 3);
    const deletion = this.#repeatDeletion(instance);
    if (lateCall) {
      await pause(delayMs);
      await createCall(this.#context, lateCall);
    }
    await deletion;
  }

  async #repeatDeletion(instance: InstanceRecord): Promise<void> {
    if (!(await deleteInstance(this.#context, instance))) return pause(RETRY_MS);
    this.#instance = this.#unconfirmedCall = undefined;
  }

  /** Requests the same call again. */
  async #repeat(call: CallRecord): Promise<void> {
    await createCall(this.#context, call);
    const { status } = call.posts.at(-1)!;
    if (status === undefined || status === 503 || status === 409) await pause(RETRY_MS);
    else this.#unconfirmedCall = undefined;
  }

  async #call(instance: InstanceRecord, hasEnded: () => boolean): Promise<void> {
    const chance = this.#chance;
    const call = this.#newCall(instance, chance.pick(SCRIPTS), chance.boolean(0.5));
    const isRepeated = call.key !== undefined && chance.boolean(0.2);
    const endCount = chance.boolean(0.5) ? chance.integer(1, 2) : 0;
    const endsAfterMs = chance.boolean(0.3) ? 0 : chance.integer(0, 200);
    await Promise.all([createCall(this.#context, call), isRepeated && createCall(this.#context, call)]);
    if (call.id === undefined) {
      const status = call.posts.at(-1)?.status;
      if (call.key !== undefined && (status === undefined || status === 503)) this.#unconfirmedCall = call;
      return pause(RETRY_MS);
    }
    const placedAt = performance.now();
    let view: CallView | undefined;
    while (!hasEnded() && performance.now() - placedAt < MAX_WATCH_MS && view?.ended_at == null) {
      if (endCount > 0 && call.deletes.length === 0 && performance.now() - placedAt >= endsAfterMs)
        await Promise.all(Array.from({ length: endCount }, () => endCall(this.#context, call)));
      view = await readCall(this.#context, call);
      if (view?.ended_at == null) await pause(POLL_MS);
    }
  }

  #newCall(instance: InstanceRecord, script: Script, withKey: boolean): CallRecord {
    const { journal, phones } = this.#context;
    const number = `+1555${this.#number}${String(this.#callCount++).padStart(6, "0")}`;
    phones.add(number, script);
    const key = withKey ? `call-${number}` : undefined;
    return journal.call({ number, instance, script, messageMs: this.#chance.pick([100, 100, 600]), key });
  }
}
