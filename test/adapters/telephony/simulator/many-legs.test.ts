import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { simulator } from "../../../../adapters/telephony/simulator/index.ts";
import { LegEvents, TestLineHost } from "../../../../src/testing/telephony-host.ts";
import { until } from "../../../../src/testing/waiting.ts";
import { heardBy, scan } from "./scan.ts";

/** Number of frames in each call: about a second and a half. */
const FRAMES = 74;

const hash = (samples: Int16Array): string =>
  createHash("sha256")
    .update(new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength))
    .digest("hex");

test("200 simultaneous calls carry exactly their own audio, in both directions", async () => {
  const telephony = simulator({ timeScale: 0.1, maxInstanceSpoolBytes: 2 ** 30 });
  const host = new TestLineHost();
  const line = await telephony.open(
    { id: "inst_1", userId: "usr_1", name: "Many" },
    host,
    new AbortController().signal,
  );
  await line.link();
  await scan(telephony, (await host.reports.next("code", 1_000)).code.payload);
  await host.reports.next("online", 1_000);

  const calls = Array.from({ length: 200 }, async (_, number) => {
    const callId = `call_${number}`;
    const leg = await line.dial("+12025550107", { callId, ringTimeoutMs: 60_000 }, new AbortController().signal);
    const sentHash = createHash("sha256");
    const receivedHash = createHash("sha256");
    let frames = 0;
    let inboundFrames = 0;
    let sample = number;
    leg.connectMedia(
      {
        read(frame) {
          for (let i = 0; i < frame.length; i++) {
            sample = (Math.imul(sample, 1_103_515_245) + 12_345) | 0;
            frame[i] = sample >> 16;
          }
          sentHash.update(new Uint8Array(frame.buffer));
          frames++;
          return frame.length;
        },
      },
      {
        write(frame) {
          if (inboundFrames++ < 50) receivedHash.update(new Uint8Array(frame.buffer));
        },
      },
    );
    const events = new LegEvents(leg);
    await events.next("connected", 5_000);
    await until(10_000, `${FRAMES} frames of ${callId}`, () => frames >= FRAMES);
    await leg.hangUp();
    await events.over;
    const heard = await heardBy(telephony, callId);
    return {
      types: events.types.join(" "),
      isUnchanged: hash(heard) === sentHash.digest("hex") && heard.length === frames * 320,
      frames,
      hasAllFrames: frames === inboundFrames,
      received: receivedHash.digest("hex"),
    };
  });
  const results = await Promise.all(calls);
  await telephony.close();
  expect(new Set(results.map(({ types }) => types))).toEqual(new Set(["placed alerting answered connected ended"]));
  expect(results.every(({ isUnchanged, hasAllFrames }) => isUnchanged && hasAllFrames)).toBe(true);
  expect(new Set(results.map(({ received }) => received)).size).toBe(1);
}, 30_000);
