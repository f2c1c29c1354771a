import { DialError, type ReleaseCause } from "../../ports/telephony.ts";
import type { Skip } from "./options.ts";
import { expectInOrder } from "./order.ts";
import type { TelephonyTheme } from "./theme.ts";

/** Tests of the events of a call, and of every way to end it. */
export function callsContract({ test, expect, options }: TelephonyTheme): void {
  const { numbers, patienceMs } = options;

  /** Defines the test of a number whose call is not answered. */
  function testRefusal(title: string, number: string | Skip, cause: ReleaseCause): void {
    test(
      title,
      async (network) => {
        const line = await network.linkedLine();
        try {
          const { events } = await network.call(line, number as string);
          await events.next("ended", patienceMs);
          await events.over;
          expect(events.cause).toBe(cause);
          expect(events.types.includes("answered")).toBe(false);
          expectInOrder(expect, events.types);
        } catch (fault) {
          if (!(fault instanceof DialError)) throw fault;
          expect(fault.release).toBe(cause); // the network refused at once
        }
      },
      number,
    );
  }

  test("a line that is not linked, or closed, refuses to dial", async (network) => {
    const { line } = await network.open();
    if (options.linking !== "operator") expect(await network.refusal(line, numbers.answers)).toBe("DialError");
    await line.close();
    expect(await network.refusal(line, numbers.answers)).toBe("DialError");
  });

  test("a call is placed, answered, connected and ended in this order", async (network) => {
    const line = await network.linkedLine();
    const { leg, events } = await network.call(line, numbers.answers);
    await events.next("connected", patienceMs);
    await leg.hangUp();
    await events.over;
    expectInOrder(expect, events.types);
    expect(events.types.includes("answered")).toBe(true);
    expect(events.cause).toBe("released");
  });

  testRefusal("a busy number ends the call with busy", numbers.busy, "busy");
  testRefusal("a callee that declines ends the call with declined", numbers.declines, "declined");
  testRefusal("a number that does not exist ends the call with number_invalid", numbers.unknown, "number_invalid");

  test(
    "a callee's hang-up ends the call as callee_hung_up",
    async (network) => {
      const line = await network.linkedLine();
      const { leg, events } = await network.call(line, numbers.hangsUp as string);
      await events.next("ended", 2 * patienceMs);
      await leg.hangUp();
      await events.over;
      expectInOrder(expect, events.types);
      expect(events.types.includes("connected")).toBe(true);
      expect(events.cause).toBe("callee_hung_up");
    },
    numbers.hangsUp,
  );

  test("hanging up twice ends the call once", async (network) => {
    const line = await network.linkedLine();
    const { leg, events } = await network.call(line, numbers.answers);
    await events.next("connected", patienceMs);
    await Promise.all([leg.hangUp(), leg.hangUp()]);
    await leg.hangUp();
    await events.over;
    expectInOrder(expect, events.types);
  });

  test(
    "hanging up a ringing call ends it unanswered",
    async (network) => {
      const line = await network.linkedLine();
      const { leg, events } = await network.call(line, numbers.rings as string);
      await events.next("alerting", patienceMs);
      if (leg.progress) expect(leg.progress()).toEqual({ reached: true, detail: null });
      await leg.hangUp();
      await events.over;
      expectInOrder(expect, events.types);
      expect(events.cause).toBe("released");
      expect(events.types.includes("answered")).toBe(false);
    },
    numbers.rings,
  );

  test("hanging up at once, or at the moment of the answer, ends the call once", async (network) => {
    const line = await network.linkedLine();
    const firstCall = await network.call(line, numbers.answers);
    await firstCall.leg.hangUp();
    await firstCall.events.over;
    expectInOrder(expect, firstCall.events.types);
    const { leg, events } = await network.call(line, numbers.answers);
    await events.next("answered", patienceMs);
    await leg.hangUp();
    await events.over;
    expectInOrder(expect, events.types);
    expect(events.cause).toBe("released");
  });

  test("an aborted signal hangs up before dialling, during it and after it", async (network) => {
    const line = await network.linkedLine();
    expect(["DialError", "released"].includes(await network.endAfterAbort(line, numbers.answers, "before"))).toBe(true);
    expect(["DialError", "released"].includes(await network.endAfterAbort(line, numbers.answers, "dialling"))).toBe(
      true,
    );
    expect(await network.endAfterAbort(line, numbers.answers, "connected")).toBe("released");
  });

  test("a second call does not disturb the first", async (network) => {
    const line = await network.linkedLine();
    const first = await network.call(line, numbers.answers);
    await first.events.next("connected", patienceMs);
    await network.call(line, numbers.answers).then(
      ({ leg }) => leg.hangUp(),
      (fault: unknown) => expect(fault instanceof DialError).toBe(true),
    );
    expect(first.events.types.includes("ended")).toBe(false);
    const frames = first.recorder.frames.length;
    await network.until(() => first.recorder.frames.length > frames, "audio of the first call");
  });

  test("closing or unlinking a line ends its call", async (network) => {
    for (const end of ["close", "unlink"] as const) {
      const line = await network.linkedLine();
      const { events } = await network.call(line, numbers.answers);
      await events.next("connected", patienceMs);
      await line[end]();
      await events.next("ended", patienceMs);
      await events.over;
      expectInOrder(expect, events.types);
    }
  });
}
