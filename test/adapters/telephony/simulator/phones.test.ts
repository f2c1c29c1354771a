import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { concatPcm } from "../../../../src/audio/samples/pcm.ts";
import { DtmfDetector } from "../../../../src/audio/tones/dtmf.ts";
import { tone, toneShare } from "../../../../src/audio/tones/tone.ts";
import { FakePhone } from "./fake-phone.ts";
import { type PlacedCall, SimulatedNetwork } from "./network.ts";
import { heardBy } from "./scan.ts";

/** A number that is busy unless a phone is open. */
const NUMBER = "+12025550101";
const RATE = 16_000;

let network: SimulatedNetwork;
beforeEach(async () => {
  network = await SimulatedNetwork.create();
});
afterEach(() => network.close());

const openPhone = (number = NUMBER, userId?: string): FakePhone => new FakePhone(network.simulator, number, userId);

/** The types of a call's events so far. */
async function eventTypes({ log }: PlacedCall): Promise<string[]> {
  await network.system.advance(0);
  return log.map(([type]) => type);
}

/** Places a call that is answered on a phone. */
async function answeredCall(sound?: Int16Array): Promise<{ call: PlacedCall; phone: FakePhone }> {
  const phone = openPhone();
  const call = await network.call(NUMBER, sound);
  phone.send({ type: "answer", call_id: call.callId });
  return { call, phone };
}

/** Advances time while the phone's microphone picks up a sound. */
async function speakInto(phone: FakePhone, sound: Int16Array): Promise<void> {
  for (let offset = 0; offset + 320 <= sound.length; offset += 320) {
    phone.speak(sound.subarray(offset, offset + 320));
    await network.system.advance(20);
  }
}

describe("a number with an open phone", () => {
  test("rings on the phone, and shows the caller ID", async () => {
    const phone = openPhone();
    const call = await network.call(NUMBER);
    await network.system.advance(5_000);
    expect(await eventTypes(call)).toEqual(["placed", "alerting"]);
    expect(phone.messages).toEqual([
      { type: "ready", number: NUMBER },
      {
        type: "ringing",
        call_id: call.callId,
        from: { phone_number: expect.stringMatching(/^\+1202555\d{4}$/), display_name: null, withheld: false },
        instance: { id: "inst_1", name: "Front desk" },
        sample_rate: RATE,
      },
    ]);
  });

  test.each([
    [
      { phoneNumber: "+15550001111", displayName: "Anna" },
      { phone_number: "+15550001111", display_name: "Anna", withheld: false },
    ],
    [
      { phoneNumber: "+15550001111", withheld: true },
      { phone_number: null, display_name: null, withheld: true },
    ],
  ])("shows the caller ID %j", async (from, expectedFrom) => {
    const phone = openPhone();
    const options = { callId: "call_1", ringTimeoutMs: 60_000, from };
    await network.line.dial(NUMBER, options, new AbortController().signal);
    expect(phone.messages[1]).toMatchObject({ type: "ringing", from: expectedFrom });
  });

  test("follows its plan for another user's calls", async () => {
    const phone = openPhone(NUMBER, "usr_2");
    const call = await network.call(NUMBER);
    await network.system.advance(1_000);
    expect(await eventTypes(call)).toEqual(["placed", "ended busy"]);
    expect(phone.log).toEqual(["ready"]);
  });

  test("follows its plan again after the phone closes", async () => {
    openPhone().leave();
    const call = await network.call(NUMBER);
    await network.system.advance(1_000);
    expect(await eventTypes(call)).toEqual(["placed", "ended busy"]);
  });

  test("is busy while a call rings or is answered", async () => {
    const { phone } = await answeredCall();
    expect(await eventTypes(await network.call(NUMBER))).toEqual(["placed", "ended busy"]);
    expect(phone.log).toEqual(["ready", "ringing", "answered"]);
    const otherPhone = openPhone("+12025550100");
    const ringingCall = await network.call("+12025550100");
    expect(await eventTypes(await network.call("+12025550100"))).toEqual(["placed", "ended busy"]);
    await ringingCall.leg.hangUp();
    expect(await eventTypes(await network.call("+12025550100"))).toEqual(["placed", "alerting"]);
    expect(otherPhone.log).toEqual(["ready", "ringing", "ended released", "ringing"]);
  });
});

describe("a call to a phone", () => {
  test("carries audio both ways, and is recorded", async () => {
    const { call, phone } = await answeredCall(tone(440, 3_000, RATE, 10_000));
    await speakInto(phone, tone(1_000, 1_000, RATE, 10_000));
    expect(await eventTypes(call)).toEqual(["placed", "alerting", "answered", "connected"]);
    expect(toneShare(phone.heard, 440, RATE)).toBeGreaterThan(0.99);
    expect(phone.heard.length).toBe(51 * 320);
    expect(toneShare(call.between(100, 1_000), 1_000, RATE)).toBeGreaterThan(0.99);
    expect(call.between(0, 40).every((sample) => sample === 0)).toBe(true);
    await call.leg.hangUp();
    expect(await heardBy(network.simulator, call.callId)).toEqual(phone.heard);
  });

  test.each([
    [20, 20],
    [60, 30],
    [100, 30],
  ])("plays pieces of %i ms without gaps, even if some are %i ms late", async (ms, lateMs) => {
    const { call, phone } = await answeredCall();
    for (let delay = 0, piece = 0; piece < 20; piece++) {
      const previousDelay = delay;
      delay = piece % 3 === 1 ? lateMs : 0;
      await network.system.advance(ms + delay - previousDelay);
      phone.speak(new Int16Array((RATE * ms) / 1_000).fill(1_000));
    }
    const heard = concatPcm(call.frames);
    const first = heard.indexOf(1_000);
    expect(first).toBeGreaterThanOrEqual(0);
    expect(heard.subarray(first).every((sample) => sample === 1_000)).toBe(true);
  });

  test("plays silence while the microphone sends no audio", async () => {
    const { call } = await answeredCall();
    await network.system.advance(1_000);
    expect(call.frames.length).toBe(51);
    expect(call.between(0, 1_000).every((sample) => sample === 0)).toBe(true);
  });

  test("uses the network's sample rate", async () => {
    await network.close();
    network = await SimulatedNetwork.create({ sampleRate: 8_000 });
    const { phone } = await answeredCall(tone(440, 1_000, 8_000, 10_000));
    await network.system.advance(500);
    expect(phone.messages[1]).toMatchObject({ sample_rate: 8_000 });
    expect(phone.frames[0]?.length).toBe(160);
    expect(toneShare(phone.heard, 440, 8_000)).toBeGreaterThan(0.99);
  });

  test("plays keys as tones, in order", async () => {
    const { call, phone } = await answeredCall();
    for (const digit of "15#A") phone.send({ type: "digit", call_id: call.callId, digit });
    await network.system.advance(1_000);
    const heard: string[] = [];
    const detector = new DtmfDetector(RATE, (digit) => heard.push(digit));
    detector.push(call.between(0, 1_000));
    expect(heard.join("")).toBe("15#A");
  });

  test("drops keys that arrive too fast, within constant memory", async () => {
    const { call, phone } = await answeredCall();
    for (let key = 0; key < 100; key++) phone.send({ type: "digit", call_id: call.callId, digit: "5" });
    await network.system.advance(25_000);
    let heard = 0;
    const detector = new DtmfDetector(RATE, () => heard++);
    detector.push(call.between(0, 25_000));
    expect(heard).toBe(32);
  });

  test("plays silence while the microphone is muted", async () => {
    const { call, phone } = await answeredCall();
    phone.send({ type: "muted", call_id: call.callId, muted: true });
    await speakInto(phone, tone(1_000, 500, RATE, 10_000));
    expect(call.between(0, 500).every((sample) => sample === 0)).toBe(true);
    phone.send({ type: "muted", call_id: call.callId, muted: false });
    await speakInto(phone, tone(1_000, 500, RATE, 10_000));
    expect(toneShare(call.between(620, 1_000), 1_000, RATE)).toBeGreaterThan(0.99);
  });

  test("ends when the phone hangs up", async () => {
    const { call, phone } = await answeredCall();
    phone.send({ type: "hang_up", call_id: call.callId });
    expect((await eventTypes(call)).at(-1)).toBe("ended callee_hung_up");
    expect(phone.log.at(-1)).toBe("ended callee_hung_up");
  });

  test("ends when the caller hangs up", async () => {
    const { call, phone } = await answeredCall();
    await call.leg.hangUp();
    expect(phone.log.at(-1)).toBe("ended released");
    await network.system.advance(1_000);
    expect(phone.frames.length).toBe(1);
  });

  test("ends for the phone when the caller's line drops", async () => {
    const { phone } = await answeredCall();
    await network.call("+12025550111");
    await network.system.advance(4_000);
    expect(phone.log.at(-1)).toBe("ended line_lost");
  });

  test.each([
    [1001, "simulator: the page of the phone was closed"],
    [1006, "simulator: the connection to the phone was lost"],
    [1009, "simulator: a message from the phone was too large"],
    [4001, "simulator: the token or the session of the phone has ended"],
  ])("ends when its connection closes with %i", async (code, detail) => {
    const { call, phone } = await answeredCall();
    phone.leave(code);
    await network.system.advance(0);
    expect(call.events.all.at(-1)).toEqual({ type: "ended", cause: "callee_hung_up", detail });
  });

  test("is declined by the phone", async () => {
    const [phone, otherPhone] = [openPhone(), openPhone()];
    const call = await network.call(NUMBER);
    phone.send({ type: "decline", call_id: call.callId });
    expect(await eventTypes(call)).toEqual(["placed", "alerting", "ended declined"]);
    for (const { log } of [phone, otherPhone]) expect(log).toEqual(["ready", "ringing", "ended declined"]);
  });
});

describe("several phones with one number", () => {
  test("all ring, and the first answer wins", async () => {
    const [phone, otherPhone] = [openPhone(), openPhone()];
    const call = await network.call(NUMBER, tone(440, 1_000, RATE, 10_000));
    otherPhone.send({ type: "answer", call_id: call.callId });
    phone.send({ type: "answer", call_id: call.callId });
    await speakInto(phone, tone(1_000, 200, RATE, 10_000));
    expect(otherPhone.log).toEqual(["ready", "ringing", "answered"]);
    expect(phone.log).toEqual(["ready", "ringing", "ended answered_elsewhere", "error no_such_call"]);
    expect(phone.frames).toEqual([]);
    expect(call.between(0, 200).every((sample) => sample === 0)).toBe(true);
    phone.leave();
    expect((await eventTypes(call)).at(-1)).toBe("connected");
  });

  test("keep a call ringing after all are closed; a phone opened later rings too", async () => {
    const [phone, otherPhone] = [openPhone(), openPhone()];
    const call = await network.call(NUMBER);
    phone.leave();
    otherPhone.leave(1006);
    await network.system.advance(5_000);
    expect(await eventTypes(call)).toEqual(["placed", "alerting"]);
    const newPhone = openPhone();
    newPhone.send({ type: "answer", call_id: call.callId });
    expect(newPhone.log).toEqual(["ready", "ringing", "answered"]);
    expect((await eventTypes(call)).at(-1)).toBe("connected");
  });

  test("are refused before they open if there are too many", () => {
    const connect = (userId: string) => network.simulator.pages.phone(userId, NUMBER);
    const connections = Array.from({ length: 16 }, () => connect("usr_1"));
    expect(() => connect("usr_1")).toThrow("too many phones are connected");
    for (let n = 0; n < 240; n++) connections.push(connect(`usr_${2 + Math.floor(n / 16)}`));
    expect(() => connect("usr_99")).toThrow("too many phones are connected");
    // A phone that was never opened, or closes twice, frees its place once.
    const socket = { send() {}, bufferedAmount: 0, drained: async () => {}, close() {} };
    connections[0]!.close?.(socket, 1006, "");
    connections[0]!.close?.(socket, 1006, "");
    connect("usr_1");
    expect(() => connect("usr_1")).toThrow("too many phones are connected");
  });

  test("are at most eight for each user", () => {
    const phones = Array.from({ length: 8 }, (_, i) => openPhone(`+1202555014${i % 4}`));
    const ninth = openPhone();
    expect(ninth.serverClose).toEqual({ code: 4029, reason: "you have 8 phones open: close one of them" });
    expect(ninth.log).toEqual([]);
    expect(openPhone(NUMBER, "usr_2").log).toEqual(["ready"]);
    phones[0]!.leave();
    expect(openPhone().log).toEqual(["ready"]);
  });
});

describe("a page that reads too slowly", () => {
  test("gets the latest 200 ms when it reads again, and no more", async () => {
    const { phone } = await answeredCall(Int16Array.from({ length: 320 * 200 }, (_, i) => Math.floor(i / 320)));
    phone.unreadBytes = 1 << 20;
    await network.system.advance(2_000);
    expect(phone.frames.length).toBe(1);
    phone.unreadBytes = 0;
    await network.system.advance(20);
    expect(phone.frames.map((frame) => frame[0])).toEqual([0, 91, 92, 93, 94, 95, 96, 97, 98, 99, 100, 101]);
  });

  test("is disconnected instead of being sent more messages", async () => {
    const { call, phone } = await answeredCall();
    phone.unreadBytes = 1 << 20;
    phone.send("nonsense");
    expect(phone.serverClose?.code).toBe(4009);
    await network.system.advance(0);
    const detail = "simulator: the phone was disconnected: too many messages are queued for the page";
    expect(call.events.all.at(-1)).toEqual({ type: "ended", cause: "callee_hung_up", detail });
  });

  test("answers no call if the answer disconnects it", async () => {
    const phone = openPhone();
    const call = await network.call(NUMBER);
    phone.unreadBytes = 1 << 20;
    phone.send({ type: "answer", call_id: call.callId });
    expect(phone.serverClose?.code).toBe(4009);
    await network.system.advance(1_000);
    expect(await eventTypes(call)).toEqual(["placed", "alerting", "ended callee_hung_up"]);
    expect([call.requestedFrames, network.simulator.clock.size]).toEqual([0, 0]);
    expect(await network.simulator.pages?.artefact?.(call.callId, "heard.wav")).toBe(undefined);
  });
});

test("a closed simulator ends its calls, closes its phones and opens no new ones", async () => {
  const { call, phone } = await answeredCall();
  await network.simulator.close();
  expect((await eventTypes(call)).at(-1)).toBe("ended released");
  expect(phone.serverClose?.code).toBe(1001);
  expect(openPhone().serverClose?.code).toBe(1001);
});
