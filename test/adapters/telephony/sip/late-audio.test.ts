import { expect, onTestFinished, test } from "vitest";
import { callees } from "../../../support/sip/far-end.ts";
import { Scene } from "./scene.ts";

const NUMBER = "+12025550100";
const WAIT = { timeout: 15_000, interval: 20 };

test("while the audio of live calls is late, new calls wait for their line", async () => {
  const scene = await Scene.open({}, { callees: { "*": callees.answers } }, "thread");
  const isOverloaded = () => scene.telephony.audioThreads?.().map((thread) => thread.isOverloaded);
  const liveCall = await scene.call(NUMBER);
  await liveCall.events.next("connected", 5_000);
  expect(isOverloaded()).toEqual([false]);
  const stalls = setInterval(() => {
    for (const end = performance.now() + 80; performance.now() < end; );
  }, 1);
  onTestFinished(() => clearInterval(stalls));
  await expect.poll(isOverloaded, WAIT).toEqual([true]);
  await expect(scene.call(NUMBER)).rejects.toMatchObject({
    release: "line_lost",
    retryAfterMs: 2_000,
    message: expect.stringMatching(/^the audio of calls over SIP is \d+ ms late/),
  });
  clearInterval(stalls);
  await liveCall.leg.hangUp();
  await expect.poll(isOverloaded, WAIT).toEqual([false]);
  const nextCall = await scene.call(NUMBER);
  await nextCall.events.next("connected", 5_000);
  await nextCall.leg.hangUp();
});
