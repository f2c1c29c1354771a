import type { CreateBatchInput } from "../../../src/domain/batches/batch-input.ts";
import type { Instance } from "../../../src/domain/instances/instance.ts";
import type { ScriptedLeg } from "../../../src/testing/scripted-telephony.ts";
import { World } from "../../support/application.ts";

/** Numbers of the targets. */
export const CALLEE_NUMBERS = ["+12025550101", "+12025550102", "+12025550103"];

/** Input for a batch to all of them that starts immediately. */
export function batchOf(instanceIds: readonly string[], fields: Partial<CreateBatchInput> = {}): CreateBatchInput {
  return {
    name: "Reminders",
    instanceIds,
    message: { type: "FIXED_TTS", tts: { text: "Hello {{name}}, see you soon", voiceId: "en-US-1" } },
    targets: CALLEE_NUMBERS.map((phoneNumber, index) => ({ phoneNumber, variables: { name: `Ada ${index}` } })),
    start: true,
    ...fields,
  };
}

/** Callees who answer as soon as their phone rings, unless they are listed as busy. */
export class Callees {
  readonly #world: World;
  readonly #handledLegs = new Set<ScriptedLeg>();
  /** Number of busy attempts, by phone number. */
  readonly busyAttempts = new Map<string, number>();
  /** Numbers that were dialled, in order. */
  readonly dialledNumbers: string[] = [];

  constructor(world: World) {
    this.#world = world;
  }

  /** Lets time pass. */
  async wait(seconds: number): Promise<void> {
    for (let second = 0; second < seconds; second++) {
      await this.#world.system.settle();
      for (const leg of this.#world.network.legs) this.#handle(leg);
      await this.#world.system.advance(1_000);
    }
  }

  #handle(leg: ScriptedLeg): void {
    if (this.#handledLegs.has(leg)) return;
    this.#handledLegs.add(leg);
    this.dialledNumbers.push(leg.to);
    const remainingAttempts = this.busyAttempts.get(leg.to) ?? 0;
    this.busyAttempts.set(leg.to, remainingAttempts - 1);
    if (remainingAttempts > 0) leg.end("busy");
    else {
      leg.placed();
      leg.answer();
    }
  }
}

/** Starts an application whose callees answer. */
export async function startWithCallees(
  options: ConstructorParameters<typeof World>[0] = {},
): Promise<{ world: World; callees: Callees; instance: Instance }> {
  const world = await World.start(options);
  return { world, callees: new Callees(world), instance: await world.activeInstance() };
}
