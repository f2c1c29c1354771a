import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { tone, toneShare } from "../../../../src/audio/tones/tone.ts";
import { FakePhone } from "./fake-phone.ts";
import { type PlacedCall, SimulatedNetwork } from "./network.ts";

const NUMBER = "+12025550101";
const RATE = 16_000;

let network: SimulatedNetwork;
beforeEach(async () => {
  network = await SimulatedNetwork.create();
});
afterEach(() => network.close());

const openPhone = (number = NUMBER): FakePhone => new FakePhone(network.simulator, number);

/** The latest event of a call. */
async function lastEvent({ log }: PlacedCall): Promise<string | undefined> {
  await network.system.advance(0);
  return log.at(-1)?.[0];
}

/** Places a call that is answered on a phone. */
async function answeredCall(sound?: Int16Array): Promise<{ call: PlacedCall; phone: FakePhone }> {
  const phone = openPhone();
  const call = await network.call(NUMBER, sound);
  phone.send({ type: "answer", call_id: call.callId });
  return { call, phone };
}

describe("a transfer to or from a phone", () => {
  test("rings on the other number's phone, and fails if the phone declines", async () => {
    const phone = openPhone();
    const call = await network.call("+12025550100");
    await network.system.advance(1_500);
    const transfer = call.leg.transfer?.(NUMBER, new AbortController().signal);
    expect(phone.log).toEqual(["ready", "ringing"]);
    phone.send({ type: "decline", call_id: call.callId });
    expect(await transfer).toEqual({ type: "failed", detail: "simulator: declined" });
    expect(phone.log.at(-1)).toBe("ended declined");
    expect(await lastEvent(call)).toBe("connected");
  });

  test("connects two phones until one hangs up", async () => {
    const { call, phone } = await answeredCall(tone(440, 5_000, RATE, 10_000));
    const otherPhone = openPhone("+12025550148");
    const transfer = call.leg.transfer?.("+12025550148", new AbortController().signal);
    otherPhone.send({ type: "answer", call_id: call.callId });
    expect(await transfer).toEqual({ type: "accepted", detail: "simulator: answered" });
    await call.leg.hangUp();
    expect(await lastEvent(call)).toBe("ended released");
    const before = phone.frames.length;
    for (let frame = 0; frame < 50; frame++) {
      phone.speak(tone(1_000, 20, RATE, 10_000));
      otherPhone.speak(tone(700, 20, RATE, 10_000));
      await network.system.advance(20);
    }
    expect(toneShare(otherPhone.heard.subarray(2_560), 1_000, RATE)).toBeGreaterThan(0.99);
    expect(toneShare(phone.heard.subarray(320 * before + 2_560), 700, RATE)).toBeGreaterThan(0.99);
    otherPhone.send({ type: "hang_up", call_id: call.callId });
    expect([phone.log.at(-1), otherPhone.log.at(-1)]).toEqual(["ended released", "ended callee_hung_up"]);
    expect(network.simulator.clock.size).toBe(0);
    expect(await lastEvent(await network.call(NUMBER))).toBe("alerting");
  });

  test("connects a phone with a number's script, until the phone is closed", async () => {
    const { call, phone } = await answeredCall();
    const transfer = call.leg.transfer?.("+12025550105", new AbortController().signal);
    await network.system.advance(1_100);
    expect(await transfer).toMatchObject({ type: "accepted" });
    await call.leg.hangUp();
    await network.system.advance(4_600); // a greeting of 4 s, then a beep
    expect(toneShare(phone.heard.subarray(-320 * 20, -320 * 10), 1_000, RATE)).toBeGreaterThan(0.9);
    phone.leave();
    expect(network.simulator.clock.size).toBe(0);
    expect(network.system.waiting).toBe(0);
  });

  test("ends with the call: the other number's phone stops ringing", async () => {
    const { call, phone } = await answeredCall();
    const otherPhone = openPhone("+12025550148");
    const transfer = expect(call.leg.transfer?.("+12025550148", new AbortController().signal)).rejects.toThrow("ended");
    phone.send({ type: "hang_up", call_id: call.callId });
    await transfer;
    expect(otherPhone.log).toEqual(["ready", "ringing", "ended released"]);
  });
});
