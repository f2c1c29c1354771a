import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import type { Ringport } from "../../../src/ringport.ts";
import { loudPart, phaseJump, readWav, type Sound, toneShare, toneWav } from "../../support/server-sound.ts";
import { withTools } from "../tools.ts";
import { type Baresip, NUMBERS, startBaresip } from "./baresip.ts";
import { makeCertificates } from "./certificates.ts";
import { monoOf } from "./sound.ts";
import { Stage } from "./stage.ts";
import { ADA, startTrunkLine } from "./trunk-line.ts";

const SENT_HZ = 440;
/** The softphone's audio. */
const PEER_HZ = 1_000;
const MESSAGE_MS = 4_000;
/** Compared sample by sample in real time: retried on a stalled machine. */
const REAL_TIME = { retry: 2 };
const msOf = ({ samples, sampleRate }: Sound): number => (samples.length * 1_000) / sampleRate;

describe.each(["thread", "worker"] as const)("with audio in a %s,", (media) => {
  withTools("a recorded call to a softphone", ["baresip", "openssl", "sox"], () => {
    const stage = new Stage();
    let softphone: Baresip;
    let ringport: Ringport;
    let instanceId: string;

    beforeAll(async () => {
      softphone = await startBaresip(stage, makeCertificates(stage.folder("keys")));
      const trunk = { server: `sip:127.0.0.1:${softphone.port}` };
      ({ ringport, instanceId } = await startTrunkLine(stage, { trunk, media }));
    });

    /** One channel of a WAV file, read with sox. */
    function channel(file: string, number: 1 | 2): Sound {
      const mono = file.replace(".wav", `-${number}.wav`);
      execFileSync("sox", ["-D", file, mono, "remix", String(number)]);
      return readWav(readFileSync(mono));
    }

    test("has the softphone's inbound audio left and its outbound audio right", REAL_TIME, async () => {
      const call = await ringport.calls.create(ADA, {
        instanceId,
        type: "FIXED_AUDIO",
        target: { phoneNumber: NUMBERS.pcmu },
        audio: { audioBase64: toneWav({ hz: SENT_HZ, ms: MESSAGE_MS, sampleRate: 8_000 }).toString("base64") },
        recording: true,
      });
      const { outcome, recordedMs } = await ringport.calls.wait(ADA, call.id);
      expect(outcome?.reason).toBe("message_played");

      const pieces: Uint8Array[] = [];
      for await (const piece of (await ringport.calls.recording(ADA, call.id)).bytes()) pieces.push(piece);
      const file = join(stage.folder("recording"), "recording.wav");
      writeFileSync(file, Buffer.concat(pieces));
      const [left, right] = [channel(file, 1), channel(file, 2)];
      expect(right.samples.length).toBe(left.samples.length);
      expect(Math.abs(msOf(left) - (recordedMs ?? 0))).toBeLessThan(1);
      expect(Math.abs(msOf(left) - (outcome?.durationMs ?? 0))).toBeLessThanOrEqual(250);

      // Left: the whole message from the answer on, without a gap, as in the softphone's own recording.
      const { from, to } = loudPart(left, 500);
      expect(Math.abs(((to - from) * 1_000) / left.sampleRate - MESSAGE_MS)).toBeLessThanOrEqual(5);
      const messagePart = { ...left, samples: left.samples.subarray(from, to) };
      expect(toneShare(messagePart, SENT_HZ)).toBeGreaterThan(0.99);
      expect(phaseJump(messagePart, SENT_HZ)).toBeLessThan(0.5);
      const { sound } = await monoOf(await softphone.heardFile(), left.sampleRate);
      const softphonePart = loudPart(sound, 500);
      expect(Math.abs(softphonePart.to - softphonePart.from - (to - from)) / left.sampleRate).toBeLessThan(0.025);

      // Right channel: the softphone's sound until the end, and none of our audio. It settles in its first second.
      const calleePart = { ...right, samples: right.samples.subarray(loudPart(right, 500).from + right.sampleRate) };
      expect(msOf(calleePart)).toBeGreaterThan(2_000);
      expect(toneShare(calleePart, PEER_HZ)).toBeGreaterThan(0.95);
      expect(toneShare(calleePart, SENT_HZ)).toBeLessThan(0.01);
    });
  });
});
