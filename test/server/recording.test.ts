import { describe, expect, test } from "vitest";
import { describeEach, ON_NODE, ON_OTHER_RUNTIMES, ON_POSTGRES, useServer } from "../support/server.ts";
import { expected, until } from "../support/server-client.ts";
import { channels, keysIn, mediaOf, recordingOf } from "../support/server-recordings.ts";
import { loudness, toneShare, toneWav } from "../support/server-sound.ts";

const TONE = { hz: 1_000, ms: 2_500 };
/** Presses 1 2 3 4 # half a second after it has answered. */
const PRESSES_KEYS = { phoneNumber: "+12025550107" };
/** Longer than any test waits for it. */
const LONG_AUDIO = {
  type: "FIXED_AUDIO",
  audio: { audioBase64: toneWav({ ms: 20_000 }).toString("base64") },
  recording: true,
};

describeEach([ON_NODE, ...ON_OTHER_RUNTIMES, ON_POSTGRES], (target) => {
  const server = useServer(target, { env: { RINGPORT_SIMULATOR_TIME_SCALE: "1" } });

  describe("a server killed with -9 in the middle of a recorded call", () => {
    test("the recording survives up to the last second", async () => {
      const client = await server.as("ada");
      const { id: instance } = await client.activeInstance();
      const { id } = await client.call(instance, { ...LONG_AUDIO, target: PRESSES_KEYS });
      await client.waitForCall(id, ["IN_PROGRESS"]);
      const growingRecording = await until(
        () => client.get(recordingOf(id)),
        ({ status, body }) => status === 200 && body.length > 2.5 * 64_000,
        20_000,
        "two and a half seconds to be recorded",
      );
      expect(growingRecording.headers["accept-ranges"]).toBe("none");
      expect(loudness(channels(growingRecording.body).left)).toBeGreaterThan(5_000);
      await server.kill9();
      await server.start();

      const call = await client.readCall(id);
      expect(call.outcome?.reason).toBe("interrupted");
      const { left, right, ms } = channels(expected(200, await client.get(recordingOf(id))).body);
      expect(ms).toBeGreaterThan(channels(growingRecording.body).ms - 1_100);
      expect(await mediaOf(client, id)).toMatchObject({ recording: { duration_ms: Math.round(ms) } });
      expect(toneShare(left, TONE.hz)).toBeGreaterThan(0.99);
      expect(keysIn(right).keys).toMatch(/^1234/);
    });
  });
});
