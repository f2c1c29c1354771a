import type { Leg, TransferOutcome } from "../../ports/telephony.ts";
import type { PlacedCall, TestNetwork } from "../telephony-network.ts";
import type { ContractTransfer } from "./options.ts";
import { expectInOrder } from "./order.ts";
import type { TelephonyTheme } from "./theme.ts";

/** Tests of blind transfers. */
export function transfersContract({ test, expect, options }: TelephonyTheme): void {
  const { numbers, patienceMs, transfer: transferOption = { skip: "the network cannot transfer calls" } } = options;
  const { to, refusing } =
    "skip" in transferOption ? { to: "", refusing: transferOption } : (transferOption satisfies ContractTransfer);
  const { signal } = new AbortController();

  async function connectedCall(network: TestNetwork): Promise<PlacedCall> {
    const call = await network.call(await network.linkedLine(), numbers.answers);
    await call.events.next("connected", patienceMs);
    return call;
  }

  /** The outcome; rejects if it takes too long, or the leg cannot transfer. */
  async function outcomeOf(network: TestNetwork, leg: Leg, number: string): Promise<TransferOutcome> {
    let outcome: TransferOutcome | undefined;
    let fault: unknown;
    const transfer = leg.transfer?.(number, signal);
    if (transfer === undefined) throw new Error("the leg has no transfer");
    transfer.then(
      (value) => {
        outcome = value;
      },
      (error: unknown) => {
        fault = error;
      },
    );
    await network.until(() => outcome !== undefined || fault !== undefined, "the outcome of a transfer");
    if (outcome === undefined) throw fault;
    return outcome;
  }

  test("a leg can transfer if the capabilities declare it", async (network) => {
    const { leg } = await connectedCall(network);
    expect(leg.transfer !== undefined).toBe(network.subject.telephony.capabilities.transfers === true);
  });

  test(
    "a transfer that the other number answers is accepted, and the leg ends once",
    async (network) => {
      const { leg, events } = await connectedCall(network);
      const { type } = await outcomeOf(network, leg, to);
      expect(type).toBe("accepted");
      await leg.hangUp();
      await events.over;
      expectInOrder(expect, events.types);
    },
    transferOption,
  );

  test(
    "a transfer that the other number refuses fails with the reason, and the call continues",
    async (network) => {
      const { leg, events, recorder } = await connectedCall(network);
      const outcome = await outcomeOf(network, leg, refusing as string);
      expect(outcome.type).toBe("failed");
      expect((outcome.detail ?? "").length).toBeGreaterThanOrEqual(4);
      expect(events.types.includes("ended")).toBe(false);
      const frames = recorder.frames.length;
      await network.until(() => recorder.frames.length > frames, "audio after the transfer");
    },
    refusing,
  );

  test(
    "a transfer is rejected before the answer, after the end, and if its target is not a number",
    async (network) => {
      const line = await network.linkedLine();
      const { leg, events } = await network.call(line, numbers.answers);
      const fails = async (number: string): Promise<boolean> =>
        (await leg.transfer?.(number, signal).then(
          () => false,
          () => true,
        )) === true;
      expect(await fails(to)).toBe(true);
      await events.next("connected", patienceMs);
      for (const number of ["", "12", "+1202555\r\nX: y", "sip:a@b"]) expect(await fails(number)).toBe(true);
      await leg.hangUp();
      await events.over;
      expect(await fails(to)).toBe(true);
    },
    transferOption,
  );
}
