import { expect, test } from "vitest";
import { describeEach, ON_NODE, useServer } from "../support/server.ts";
import { loudPart, phaseJump, toneShare, toneWav } from "../support/server-sound.ts";

// The same code detects a machine on every runtime; test/server/calls.test.ts plays audio on all of them.
describeEach([ON_NODE], (target) => {
  // A very short greeting is not a machine's.
  const server = useServer(target, { env: { RINGPORT_SIMULATOR_TIME_SCALE: "1" } });

  test.concurrent("a machine gets the entire message after its beep, or is hung up on", async () => {
    const client = await server.as("ada");
    const callMachine = async (ms: number, onMachine: string) => {
      const { id } = await client.call((await client.activeInstance()).id, {
        type: "FIXED_AUDIO",
        target: { phoneNumber: "+12025550105" },
        audio: { audioBase64: toneWav({ ms }).toString("base64") },
        onMachine,
      });
      return { outcome: (await client.waitForCall(id)).outcome, heard: await client.heard(id) };
    };
    const [messageCall, endedCall] = await Promise.all([
      callMachine(1_500, "leave_message"),
      callMachine(9_000, "hang_up"),
    ]);
    expect(endedCall.outcome).toMatchObject({ reason: "machine_hung_up", answered_by: "machine" });
    const expectedOutcome = { reason: "message_played", answered_by: "machine", heard_ms: 1_500, heard_ratio: 1 };
    expect(messageCall.outcome).toMatchObject(expectedOutcome);
    const { samples, sampleRate } = messageCall.heard;
    // The beep ends 4.4 s after the answer.
    const recordedPart = { sampleRate, samples: samples.subarray(4.4 * sampleRate) };
    const { from, to } = loudPart(recordedPart);
    const message = { sampleRate, samples: recordedPart.samples.subarray(from, to) };
    expect(Math.abs((message.samples.length * 1_000) / sampleRate - 1_500)).toBeLessThanOrEqual(20);
    expect(toneShare(message, 1_000)).toBeGreaterThanOrEqual(0.99);
    expect(phaseJump(message, 1_000)).toBeLessThan(0.1);
  });
});
