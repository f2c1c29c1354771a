import { setTimeout as pause } from "node:timers/promises";
import type { CallView } from "../support/server-client.ts";
import { callees, type Script } from "../support/sip/far-end.ts";
import { Chance } from "./chance.ts";
import type { CallRecord, InstanceRecord, Network } from "./journal.ts";
import { createCall, createInstance, deleteInstance, endCall, linkInstance, readCall } from "./requests.ts";
import type { Stage } from "./stage.ts";

/** Pause before a failed request is retried, ms. */
const AGAIN_MS = 20;
/** Interval between two reads of a call, ms. */
const LOOK_MS = 15;
/** Maximum time for which a call is followed, ms. */
const FOLLOWED_MS = 500;

/** Behaviours of a number's phone, likely ones first. */
const SCRIPTS: readonly Script[] = [
  callees.answers,
  callees.answers,
  callees.answers,
  { afterMs: 60 },
  callees.busy,
  callees.rings,
];

/** One client: places calls from its instance, ends them, deletes the instance and creates another one. */
export class Desk {
  readonly #stage: Stage;
  readonly #number: number;
  readonly #network: Network;
  #chance: Chance;
  #instances = 0;
  #calls = 0;
  #instance: InstanceRecord | undefined;
  /** A call with a key, whose creation got no response. */
  #open: CallRecord | undefined;

  /** @param number below 10 */
  constructor(stage: Stage, number: number, network: Network) {
    this.#stage = stage;
    this.#number = number;
    this.#network = network;
    this.#chance = new Chance(stage.seed, number);
  }

  /** Works until the round has ended. @param deletes true to delete its instance as soon as possible */
  async work(hasEnded: () => boolean, deletes: boolean): Promise<void> {
    const { seed, journal } = this.#stage;
    this.#chance = new Chance(seed, this.#number, journal.epoch);
    while (!hasEnded()) {
      const instance = await this.#ready();
      if (!instance) await pause(AGAIN_MS);
      else if (instance.deletes.length > 0) await this.#goOnDeleting(instance);
      else if (this.#chance.happens(deletes ? 0.4 : this.#network === "sip/rounds" ? 0.04 : 0.15))
        await this.#delete(instance);
      else if (this.#open) await this.#again(this.#open);
      else await this.#call(instance, hasEnded);
    }
  }

  /** Finishes pending work without faults. Returns true if all of it is done. */
  async finish(): Promise<boolean> {
    const instance = this.#instance;
    if (instance?.deletes.length === 0) await this.#ready(); // an instance without a line never takes the next call
    if (this.#open) await this.#again(this.#open);
    if (instance?.id !== undefined && instance.deletes.length > 0) await this.#goOnDeleting(instance);
    return this.#open === undefined && (this.#instance?.deletes.length ?? 0) === 0;
  }

  /** Places one more call, to a phone that answers; undefined while its instance cannot. */
  async lastCall(): Promise<CallRecord | undefined> {
    const instance = await this.#ready();
    if (!instance?.linked && this.#network !== "sip/rounds") return undefined;
    if (!instance) return undefined;
    const call = this.#newCall(instance, callees.answers, true);
    await createCall(this.#stage, call);
    return call;
  }

  /** Creates and links the instance, as far as possible now. */
  async #ready(): Promise<InstanceRecord | undefined> {
    const { seed, place, journal } = this.#stage;
    this.#instance ??= journal.instance(
      `${place.name.toLowerCase()}-${seed}-${this.#number}-${this.#instances++}`,
      this.#network,
    );
    const instance = this.#instance;
    if (instance.id === undefined) await createInstance(this.#stage, instance);
    if (instance.id === undefined) return undefined;
    if (this.#network !== "sip/rounds" && !instance.linked && instance.deletes.length === 0)
      await linkInstance(this.#stage, instance);
    return instance;
  }

  async #delete(instance: InstanceRecord): Promise<void> {
    // A call that is created at the same time.
    const late = this.#chance.happens(0.5) ? this.#newCall(instance, callees.answers, false) : undefined;
    const lateBy = this.#chance.whole(0, 3);
    const deleting = this.#goOnDeleting(instance);
    if (late) {
      await pause(lateBy);
      await createCall(this.#stage, late);
    }
    await deleting;
  }

  async #goOnDeleting(instance: InstanceRecord): Promise<void> {
    if (!(await deleteInstance(this.#stage, instance))) return pause(AGAIN_MS);
    this.#instance = this.#open = undefined;
  }

  /** Requests the same call again. */
  async #again(call: CallRecord): Promise<void> {
    await createCall(this.#stage, call);
    const { status } = call.posts.at(-1)!;
    if (status === undefined || status === 503 || status === 409) await pause(AGAIN_MS);
    else this.#open = undefined;
  }

  async #call(instance: InstanceRecord, hasEnded: () => boolean): Promise<void> {
    const chance = this.#chance;
    const call = this.#newCall(instance, chance.pick(SCRIPTS), chance.happens(0.5));
    const twice = call.key !== undefined && chance.happens(0.2);
    const ends = chance.happens(0.5) ? chance.whole(1, 2) : 0;
    const endsAfterMs = chance.happens(0.3) ? 0 : chance.whole(0, 200);
    await Promise.all([createCall(this.#stage, call), twice && createCall(this.#stage, call)]);
    if (call.id === undefined) {
      const status = call.posts.at(-1)?.status;
      if (call.key !== undefined && (status === undefined || status === 503)) this.#open = call;
      return pause(AGAIN_MS);
    }
    const placedAt = performance.now();
    let view: CallView | undefined;
    while (!hasEnded() && performance.now() - placedAt < FOLLOWED_MS && view?.ended_at == null) {
      if (ends > 0 && call.deletes.length === 0 && performance.now() - placedAt >= endsAfterMs)
        await Promise.all(Array.from({ length: ends }, () => endCall(this.#stage, call)));
      view = await readCall(this.#stage, call);
      if (view?.ended_at == null) await pause(LOOK_MS);
    }
  }

  #newCall(instance: InstanceRecord, script: Script, keyed: boolean): CallRecord {
    const { journal, phones } = this.#stage;
    const number = `+1555${this.#number}${String(this.#calls++).padStart(6, "0")}`;
    phones.add(number, script);
    const key = keyed ? `call-${number}` : undefined;
    return journal.call({ number, instance, script, messageMs: this.#chance.pick([100, 100, 600]), key });
  }
}
