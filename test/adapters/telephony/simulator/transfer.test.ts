import { afterEach, describe, expect, test } from "vitest";
import type { TransferOutcome } from "../../../../src/ports/telephony.ts";
import { SimulatedNetwork } from "./network.ts";

let network: SimulatedNetwork;
afterEach(() => network?.close());

/** The outcome of a transfer to a number, with its duration, ms; undefined if it takes longer than `ms`. */
async function timedTransfer(to: string, ms: number): Promise<[TransferOutcome | undefined, number]> {
  network = await SimulatedNetwork.create();
  const { leg } = await network.call("+12025550100");
  await network.system.advance(1_500);
  const start = network.system.monotonic();
  let outcome: TransferOutcome | undefined;
  let elapsedMs = Number.NaN;
  void leg.transfer?.(to, new AbortController().signal).then((value) => {
    outcome = value;
    elapsedMs = network.system.monotonic() - start;
  });
  await network.system.advance(ms);
  return [outcome, elapsedMs];
}

describe("a transfer of a simulated call", () => {
  test.for([
    ["+12025550100", { type: "accepted", detail: "simulator: answered" }, 1_000],
    ["+12025550110", { type: "accepted", detail: "simulator: answered" }, 10_000],
    ["+12025550101", { type: "failed", detail: "simulator: busy" }, 200],
    ["+12025550103", { type: "failed", detail: "simulator: declined" }, 1_000],
    ["+12025550108", { type: "failed", detail: "simulator: no such number" }, 200],
    ["+12025550102", { type: "failed", detail: "simulator: no answer" }, 60_000],
  ] as const)("to %s ends by that number's plan", async ([to, outcome, ms]) => {
    expect(await timedTransfer(to, 70_000)).toEqual([outcome, ms]);
  });

  test("ends with the call, and leaves no timer", async () => {
    network = await SimulatedNetwork.create();
    const { leg, log } = await network.call("+12025550100");
    await network.system.advance(1_500);
    const { signal } = new AbortController();
    const transfer = expect(leg.transfer?.("+12025550110", signal)).rejects.toThrow("ended during the transfer");
    await expect(leg.transfer?.("+12025550110", signal)).rejects.toThrow("already being transferred");
    await leg.hangUp();
    await transfer;
    expect(log.at(-1)?.[0]).toBe("ended released");
    expect(network.system.waiting).toBe(0);
  });

  test("stops waiting when its signal is aborted", async () => {
    network = await SimulatedNetwork.create();
    const { leg } = await network.call("+12025550100");
    await network.system.advance(1_500);
    const scope = new AbortController();
    const transfer = expect(leg.transfer?.("+12025550110", scope.signal)).rejects.toThrow("aborted");
    scope.abort(new Error("aborted"));
    await transfer;
  });
});
