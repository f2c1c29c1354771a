import { DialError } from "../../ports/telephony.ts";
import { CountingSource } from "../telephony-network.ts";
import type { TelephonyTheme } from "./theme.ts";

/** More than the audio that any adapter may send ahead, ms. */
const AHEAD_MS = 500;

/** Tests of a line whose host's deadlines have passed. */
export function deadlinesContract({ test, expect, options }: TelephonyTheme): void {
  const { numbers, patienceMs } = options;

  test("no call is placed after the dial deadline; it rejects with line_lost", async (network) => {
    const { line, host } = await network.link();
    host.deadlines.dial = -Infinity;
    const error = await network.call(line, numbers.answers).catch((error: unknown) => error);
    expect(error instanceof DialError ? error.release : error).toBe("line_lost");
    host.deadlines.dial = Infinity;
    const { leg, events } = await network.call(line, numbers.answers);
    await events.next("connected", patienceMs);
    await leg.hangUp();
  });

  test("no audio leaves after the send deadline, but a hang-up does", async (network) => {
    const { line, host } = await network.link();
    const source = new CountingSource();
    const { leg, events } = await network.call(line, numbers.answers, source);
    await events.next("connected", patienceMs);
    const counts = () => [source.frames, leg.statistics?.()?.packetsSent];
    host.deadlines.send = -Infinity;
    await network.sleep(AHEAD_MS);
    const before = counts();
    await network.sleep(10 * leg.frameMs);
    expect(counts()).toEqual(before);
    host.deadlines.send = Infinity;
    await network.until(() => source.frames > (before[0] ?? 0) + 5, "audio after the deadline was moved");
    host.deadlines.send = -Infinity;
    await leg.hangUp();
    await events.over;
    expect(events.cause).toBe("released");
  });
}
