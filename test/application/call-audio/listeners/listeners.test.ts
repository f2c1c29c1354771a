import { describe, expect, test } from "vitest";
import {
  BUFFER_MS,
  type CallListening,
  type ListenItem,
} from "../../../../src/application/call-audio/listeners/listen-items.ts";
import { tone } from "../../../../src/audio/tones/tone.ts";
import type { Call } from "../../../../src/domain/calls/call.ts";
import { ALICE, BOB, MS_PER_CHARACTER, World } from "../../../support/application.ts";

const RATE = 8_000;
/** A message of ten seconds, played as a tone of 440 Hz. */
const LONG_TEXT = "x".repeat(10_000 / MS_PER_CHARACTER);

/** Reads a listener's items as fast as possible. */
function read(listening: CallListening) {
  const items: ListenItem[] = [];
  const done = (async () => {
    for await (const item of listening) items.push(item);
  })();
  return {
    items,
    done,
    /** Types of the items, with consecutive audio as one. */
    get itemTypes(): string[] {
      return items.map(({ type }) => type).filter((type, index, all) => type !== "audio" || all[index - 1] !== "audio");
    },
    /** The samples of one side: 0 the callee, 1 the outbound audio. */
    side(channel: 0 | 1): Int16Array {
      return Int16Array.from(
        items.flatMap((item) => (item.type === "audio" ? [...item.samples.filter((_, i) => i % 2 === channel)] : [])),
      );
    },
  };
}

/** The samples without leading and trailing silence. */
const trimSilence = (samples: Int16Array): Int16Array =>
  samples.subarray(
    samples.findIndex((sample) => sample !== 0),
    samples.findLastIndex((sample) => sample !== 0) + 1,
  );

const listen = (world: World, { id }: Pick<Call, "id">, principal = ALICE) => world.app.calls.listen(principal, id);

/** Timeline events about listeners. */
async function listenerEvents(world: World, call: Call) {
  const events = await world.context.storage.events.ofCall(call.id, {});
  return events.filter(({ type }) => type.startsWith("listening")).map(({ type, data }) => [type, data]);
}

/** A call whose phone rings. The storage accepts neither its answer nor its failure. */
async function unstorableCall() {
  const world = await World.start();
  const call = await world.call(await world.activeInstance(), LONG_TEXT);
  const leg = world.leg(call);
  leg.placed();
  await world.system.settle();
  world.storage.before = (operation) => {
    if (operation === "calls.update") throw new Error("a constraint failed");
  };
  return { world, call, leg };
}

describe("a listener of a live call", () => {
  test("gets both sides from the first sample on, and then the end", async () => {
    const world = await World.start();
    const call = await world.call(await world.activeInstance(), "Hello");
    const reader = read(await listen(world, call));
    const leg = world.leg(call);
    const words = tone(1_000, 200, RATE, 9_000);
    leg.placed();
    await world.system.settle();
    leg.say(words);
    leg.answer();
    await world.system.advance(2_000);
    await reader.done;
    expect(reader.itemTypes).toEqual(["waiting", "started", "audio", "call_ended"]);
    expect(reader.items[1]).toEqual({ type: "started", sampleRate: RATE });
    expect(reader.items.at(-1)).toEqual({ type: "call_ended", status: "COMPLETED", reason: "message_played" });
    expect(trimSilence(reader.side(0))).toEqual(trimSilence(words));
    expect(trimSilence(reader.side(1))).toEqual(trimSilence(leg.heard));
    await world.stop();
  });

  test("may join and leave during the call, which the timeline records", async () => {
    const world = await World.start();
    const { call, leg } = await world.answeredCall(await world.activeInstance(), LONG_TEXT);
    await world.system.advance(1_000);
    const listening = await listen(world, call, { ...ALICE, tokenId: "tok_1" });
    const reader = read(listening);
    leg.say(tone(1_000, 500, RATE, 9_000));
    await world.system.advance(1_000);
    listening.close();
    await reader.done;
    await world.system.settle();
    expect(reader.itemTypes).toEqual(["started", "audio"]);
    expect(reader.side(0).length).toBe(reader.side(1).length);
    const listened_ms = reader.side(0).length / (RATE / 1_000);
    expect(listened_ms).toBeGreaterThanOrEqual(960);
    const viewer = { user_id: ALICE.userId, token_id: "tok_1" };
    expect(await listenerEvents(world, call)).toEqual([
      ["listening_started", viewer],
      ["listening_ended", { ...viewer, listened_ms }],
    ]);
    await world.system.advance(20_000);
    expect(await world.storedCall(call)).toMatchObject({ status: "COMPLETED", outcome: { heardRatio: 1 } });
    await world.stop();
  });

  test("hears outbound audio immediately while the callee's side sends none", async () => {
    const world = await World.start();
    const { call, leg } = await world.answeredCall(await world.activeInstance(), LONG_TEXT);
    await world.system.advance(1_000);
    const reader = read(await listen(world, call));
    await world.system.advance(500);
    leg.talkative = false;
    const before = reader.side(1).length;
    await world.system.advance(500);
    expect(reader.side(1).length - before).toBeGreaterThanOrEqual((400 * RATE) / 1_000);
    await world.stop();
  });

  test("hears the call to its last sample, although the other side is silent", async () => {
    const world = await World.start();
    const call = await world.call(await world.activeInstance(), LONG_TEXT);
    const reader = read(await listen(world, call));
    const leg = world.leg(call);
    leg.placed();
    await world.system.settle();
    leg.answer();
    await world.system.advance(1_000);
    leg.talkative = false;
    await world.system.advance(40);
    leg.end("callee_hung_up");
    await world.system.settle();
    await reader.done;
    expect(reader.side(1).length).toBe(leg.heard.length);
    expect(trimSilence(reader.side(1))).toEqual(trimSilence(leg.heard));
    await world.stop();
  });

  test("is not recorded if it never reads", async () => {
    const world = await World.start();
    const { call } = await world.answeredCall(await world.activeInstance(), LONG_TEXT);
    const listening = await listen(world, call);
    await world.system.advance(1_000);
    listening.close();
    await world.system.settle();
    expect(await listenerEvents(world, call)).toEqual([]);
    await world.stop();
  });

  test("loses the oldest audio, and is notified, if it reads too late", async () => {
    const world = await World.start();
    const { call } = await world.answeredCall(await world.activeInstance(), LONG_TEXT);
    const listening = await listen(world, call);
    await world.system.advance(BUFFER_MS + 2_000);
    const reader = read(listening);
    await world.system.settle();
    const [started, gap] = reader.items;
    expect([started?.type, gap?.type]).toEqual(["started", "gap"]);
    const { lostMs } = gap as { lostMs: number };
    expect(lostMs).toBeGreaterThanOrEqual(1_900);
    expect(lostMs).toBeLessThanOrEqual(2_100);
    expect(reader.side(1).length).toBe((BUFFER_MS * RATE) / 1_000);
    listening.close();
    await world.stop();
  });

  test("keeps waiting while the call is requeued", async () => {
    const world = await World.start();
    const instance = await world.activeInstance();
    const call = await world.call(instance, "Hello");
    const reader = read(await listen(world, call));
    world.leg(call).end("line_lost");
    await world.system.settle();
    await world.system.advance(5_000);
    const leg = world.leg(call);
    leg.placed();
    leg.answer();
    await world.system.advance(3_000);
    await reader.done;
    expect(reader.itemTypes).toEqual(["waiting", "started", "audio", "call_ended"]);
    await world.stop();
  });

  test("gets the end of an unanswered call", async () => {
    const world = await World.start();
    const call = await world.call(await world.activeInstance());
    const reader = read(await listen(world, call));
    const leg = world.leg(call);
    leg.placed();
    leg.end("busy");
    await reader.done;
    expect(reader.items).toEqual([
      { type: "waiting", status: "QUEUED" },
      { type: "call_ended", status: "FAILED", reason: "busy" },
    ]);
    await world.stop();
  });

  test("gets the end of an interrupted call, even if it cannot be stored", async () => {
    const { world, call, leg } = await unstorableCall();
    const reader = read(await listen(world, call));
    leg.answer();
    await world.system.settle();
    await reader.done;
    expect(reader.itemTypes[0]).toBe("waiting");
    expect(reader.items.at(-1)).toEqual({ type: "call_ended", status: "FAILED", reason: "internal_error" });
    await world.stop();
  });

  test("gets the end of a call that the server's stop interrupts", async () => {
    const world = await World.start();
    const { call } = await world.answeredCall(await world.activeInstance(), LONG_TEXT);
    const reader = read(await listen(world, call));
    const done = expect(reader.done).resolves.toBeUndefined();
    await world.system.advance(500);
    await world.stop();
    await done;
    expect(reader.items.at(-1)).toEqual({ type: "call_ended", status: "FAILED", reason: "interrupted" });
  });
});

describe("listening is refused", () => {
  test("to all but the owner, and to another instance's demo token", async () => {
    const world = await World.start();
    const instance = await world.activeInstance();
    const { call } = await world.answeredCall(instance, LONG_TEXT);
    await expect(listen(world, call, BOB)).rejects.toMatchObject({ code: "call_not_found" });
    const otherDemoToken = { ...ALICE, demoInstanceId: (await world.newInstance()).id };
    await expect(listen(world, call, otherDemoToken)).rejects.toMatchObject({ code: "call_not_found" });
    (await listen(world, call, { ...ALICE, demoInstanceId: instance.id })).close();
    await world.stop();
  });

  test("after the end of the call", async () => {
    const world = await World.start();
    const { call, leg } = await world.answeredCall(await world.activeInstance(), LONG_TEXT);
    leg.end("callee_hung_up");
    await world.system.settle();
    await expect(listen(world, call)).rejects.toMatchObject({ code: "call_ended", message: "the call is COMPLETED" });
    await world.stop();
  });

  test("for an interrupted call that is still stored as active", async () => {
    const { world, call, leg } = await unstorableCall();
    leg.answer();
    await world.system.settle();
    expect(await world.storedCall(call)).toMatchObject({ status: "RINGING" });
    await expect(listen(world, call)).rejects.toMatchObject({
      code: "call_ended",
      message: "the call was interrupted",
    });
    await world.stop();
  });

  test("to the fifth listener, until another one leaves", async () => {
    const world = await World.start();
    const { call } = await world.answeredCall(await world.activeInstance(), LONG_TEXT);
    const listenings = await Promise.all([1, 2, 3, 4].map(() => listen(world, call)));
    await expect(listen(world, call)).rejects.toMatchObject({ code: "too_many_listeners", limit: 4 });
    listenings[0]?.close();
    (await listen(world, call)).close();
    await world.stop();
  });
});

describe("a call with listeners that never read", () => {
  /** The audio that the callee hears in a call with this many listeners. */
  async function heardByCallee(listeners: number): Promise<Int16Array> {
    const world = await World.start();
    const { call, leg } = await world.answeredCall(await world.activeInstance(), LONG_TEXT);
    for (let i = 0; i < listeners; i++) await listen(world, call);
    leg.say(tone(1_000, 5_000, RATE, 9_000));
    await world.system.advance(20_000);
    expect(await world.storedCall(call)).toMatchObject({
      status: "COMPLETED",
      outcome: { heardMs: 10_000, heardRatio: 1 },
    });
    await world.stop();
    return leg.heard;
  }

  test("sounds the same to its callee", async () => {
    expect(await heardByCallee(4)).toEqual(await heardByCallee(0));
  });
});
