import { expect, test } from "vitest";
import { ALICE, BOB, World } from "../../../support/application.ts";
import { SlowSpeech, SPOKEN_MS } from "../../../support/slow-speech.ts";

const sentence = (n: number) => `This is sentence number ${n} of a text that somebody has written. `;
const longText = (n: number) => sentence(n).repeat(80).slice(0, 4_060);
/** Six sentences: more than one slice. */
const SHORT_TEXT = Array.from({ length: 6 }, (_, n) => sentence(n))
  .join("")
  .trim();

/** The longest silence between the beginning and the last sound, ms. */
function longestSilence(heard: Int16Array): number {
  let [longestRun, run] = [0, 0];
  for (const sample of heard) {
    if (sample === 0) run++;
    else {
      longestRun = Math.max(longestRun, run);
      run = 0;
    }
  }
  return longestRun / 8;
}

/** Alice's instances each speak a long text; then Bob's callee, who answers immediately, gets a short one. */
async function speakShortBesideLong(count: number, { answered }: { answered: boolean }) {
  let engine: SlowSpeech | undefined;
  const world = await World.start({
    speech: (system) => {
      engine = new SlowSpeech(system);
      return engine;
    },
  });
  const aliceInstances = [];
  for (let n = 0; n < count; n++) aliceInstances.push(await world.activeInstance(ALICE));
  const bobsInstance = await world.activeInstance(BOB);
  world.network.onDial = (leg) => {
    leg.placed();
    if (answered || leg.instanceId === bobsInstance.id) leg.answer();
  };
  for (const [n, instance] of aliceInstances.entries()) await world.create(instance, longText(n));
  await world.system.advance(100);
  const requestedAt = world.system.now();
  const call = await world.call(bobsInstance, SHORT_TEXT, BOB);
  while ((await world.storedCall(call)).endedAt === null) await world.system.advance(1_000);
  const storedCall = await world.storedCall(call);
  const timeline = await world.timeline(call);
  const leg = world.leg(call);
  const dialledMs = (timeline.find(({ type }) => type === "ringing")?.timestamp ?? Infinity) - requestedAt;
  await world.stop();
  return { world, engine: engine as unknown as SlowSpeech, storedCall, timeline, dialledMs, leg };
}

test.each([
  [24, false],
  [8, true],
])(
  "a user's %i long texts do not silence another user's callee (answered: %s)",
  { timeout: 30_000 },
  async (count, isAnswered) => {
    const { engine, storedCall, timeline, dialledMs, leg } = await speakShortBesideLong(count, {
      answered: isAnswered,
    });
    expect(storedCall.outcome).toMatchObject({ reason: "message_played", heardRatio: 1 });
    expect(storedCall.outcome?.heardMs).toBe(SHORT_TEXT.length * SPOKEN_MS);
    expect(longestSilence(leg.heard)).toBeLessThan(200);
    expect(dialledMs).toBeLessThan(5_000);
    expect(timeline.map(({ type }) => type)).not.toContain("message_delayed");
    expect(engine.maxBusyCount).toBeLessThanOrEqual(2);
  },
);

test("a text is spoken in slices of complete sentences, every word once", async () => {
  const { engine } = await speakShortBesideLong(0, { answered: false });
  expect(engine.receivedTexts.join("").replace(/\s+/g, " ").trim()).toBe(SHORT_TEXT);
  expect(engine.receivedTexts.length).toBeGreaterThan(1);
  for (const slice of engine.receivedTexts) {
    expect(slice.length).toBeLessThanOrEqual(300);
    expect(slice.trim()).toMatch(/^This .*written\.$/);
  }
});
