import { beforeAll, describe, expect, test } from "vitest";
import type { Trunk } from "../../../adapters/telephony/sip/config/trunk-config.ts";
import { concatPcm } from "../../../src/audio/samples/pcm.ts";
import { DtmfDetector } from "../../../src/audio/tones/dtmf.ts";
import { until } from "../../support/server-client.ts";
import { phaseJumps, toneShare } from "../../support/server-sound.ts";
import { type Baresip, startBaresip } from "../sip/baresip.ts";
import { openTrunk } from "../sip/caller.ts";
import { type Certificates, makeCertificates } from "../sip/certificates.ts";
import { monoOf, SENT_HZ } from "../sip/sound.ts";
import { Stage } from "../sip/stage.ts";
import { CALLEES, type Pbx, PEER_HZ } from "./pbx.ts";
import { recipe } from "./recipe.ts";

/** Tests of sequential calls through a PBX of this name. */
export function pbxTests(
  name: string,
  start: (stage: Stage, keys: Certificates, phonePort: number) => Promise<Pbx>,
): void {
  describe(`a call through ${name}`, () => {
    const stage = new Stage();
    let keys: Certificates;
    let phone: Baresip;
    let pbx: Pbx;
    beforeAll(async () => {
      keys = makeCertificates(stage.folder("keys"));
      phone = await startBaresip(stage, keys, PEER_HZ, "0-0");
      pbx = await start(stage, keys, phone.port);
    });

    const open = (trunk: Partial<Trunk> = {}, title = "pbx") =>
      openTrunk(stage, { ...recipe(name), ...pbx.trunk, server: `sip:127.0.0.1:${pbx.port}`, ...trunk }, title);

    /** Places a call of this duration, and asserts that the PBX's tone was heard unbroken. */
    async function callAndListen(trunk: Partial<Trunk> = {}, number: string = CALLEES.talks, ms = 3_000) {
      const { dial } = await open(trunk);
      const { leg, events, recorder } = await dial(number);
      await events.next("connected", 8_000);
      await until(
        () => recorder.frames.length,
        (frames) => frames >= ms / leg.frameMs,
        8_000,
        `${ms} ms of sound`,
      );
      await leg.hangUp();
      await events.over;
      expect(events.cause).toBe("released");
      // A PBX on a busy machine is late at times: then one gap is filled.
      const heardSound = {
        sampleRate: leg.sampleRate,
        samples: concatPcm(recorder.frames).subarray(leg.sampleRate / 2),
      };
      expect(toneShare(heardSound, PEER_HZ)).toBeGreaterThan(0.95);
      expect(phaseJumps(heardSound, PEER_HZ)).toBeLessThanOrEqual(8);
      return leg;
    }

    /** Asserts the minimum length of our tone in the PBX's recording, s. */
    async function expectHeard(number: string = CALLEES.talks, seconds = 2): Promise<void> {
      const { sound } = await monoOf(await pbx.recordingOf(number), 8_000);
      const recording = { ...sound, samples: sound.samples.subarray(sound.sampleRate / 2, -sound.sampleRate / 5) };
      expect(recording.samples.length / sound.sampleRate).toBeGreaterThan(seconds);
      expect(toneShare(recording, SENT_HZ)).toBeGreaterThan(0.95);
    }

    test("is heard both ways with the documented recipe", async () => {
      const leg = await callAndListen();
      await expectHeard();
      expect(leg.statistics?.()).toMatchObject({ codec: "PCMU", packetsLost: 0 });
    });

    test("is heard with a registration, over TCP", async () => {
      await callAndListen({ server: `sip:127.0.0.1:${pbx.port};transport=tcp`, register: true });
      await expectHeard();
    });

    test("is heard over TLS, protected by SRTP", async () => {
      const server = `sip:127.0.0.1:${pbx.port + 1};transport=tls`;
      await callAndListen({
        server,
        srtp: "required",
        tls: { ca: keys.ca, servername: "sip.test.local" },
        ...pbx.protected,
      });
      await expectHeard();
    });

    test("is heard when the PBX redirects the audio to a phone behind it", async () => {
      await callAndListen({}, CALLEES.behind, 5_000);
      const { sound } = await monoOf(await phone.heardFile());
      const recording = { ...sound, samples: sound.samples.subarray(sound.sampleRate, -sound.sampleRate / 5) };
      expect(toneShare(recording, SENT_HZ)).toBeGreaterThan(0.95);
      expect(phaseJumps(recording, SENT_HZ)).toBeLessThanOrEqual(4);
    });

    test("continues while the callee only listens", async () => {
      const { dial } = await open({ mediaLossMs: 8_000 }, "listens");
      const { leg, events, recorder } = await dial(CALLEES.listens);
      await events.next("connected", 8_000);
      const lastHalfSecond = () => concatPcm(recorder.frames.slice(-500 / leg.frameMs));
      await until(
        () => toneShare({ sampleRate: leg.sampleRate, samples: lastHalfSecond() }, PEER_HZ),
        (share) => share > 0.95,
        20_000,
        "half a second of their tone",
      );
      await leg.hangUp();
      await events.over;
      expect(events.types).not.toContain("media_lost");
      await expectHeard(CALLEES.listens, 11);
    });

    test("reports the keys that the callee presses", async () => {
      const { dial } = await open({}, "keys");
      const { leg, events } = await dial(CALLEES.presses);
      await until(
        () => events.keys.length,
        (count) => count >= 4,
        10_000,
        "four keys",
      );
      await leg.hangUp();
      expect(events.keys).toBe("15#0");
    });

    test("is heard in G.722", async ({ skip }) => {
      if (!pbx.speaksG722) skip("this PBX was built without G.722");
      const leg = await callAndListen({ codecs: ["G722"] });
      await expectHeard();
      expect(leg.statistics?.()?.codec).toBe("G722");
    });

    test("carries keys as tones if the PBX accepts no telephone-events", async ({ skip }) => {
      if (pbx.keysAsTones === undefined) skip("it was not set up to play tones");
      const { dial } = await open(pbx.keysAsTones, "tones");
      const { leg, events, recorder } = await dial(CALLEES.presses);
      await events.next("connected", 8_000);
      expect(leg.dtmf).toBe("in-band");
      let keys = "";
      await until(
        () => {
          keys = "";
          new DtmfDetector(leg.sampleRate, (key) => (keys += key)).push(concatPcm(recorder.frames));
          return keys;
        },
        ({ length }) => length >= 4,
        10_000,
        "four keys",
      );
      await leg.hangUp();
      expect(keys).toBe("15#0");
    });

    test("that finds the callee busy ends as busy", async () => {
      const { dial } = await open({}, "busy");
      const { events } = await dial(CALLEES.busy);
      await events.next("ended", 8_000);
      expect(events.cause).toBe("busy");
    });

    test("with a wrong password is refused, and the detail names what to check", async () => {
      const { dial } = await open({ password: "wrong", register: false }, "wrong");
      const { events } = await dial(CALLEES.talks);
      const { detail } = await events.next("ended", 8_000);
      expect([events.cause, detail]).toEqual(["rejected_by_network", expect.stringContaining("password")]);
    });

    test("to a number unknown to the PBX ends as number_invalid", async () => {
      const { dial } = await open({}, "unknown");
      const { events } = await dial("+12025550199");
      await events.next("ended", 8_000);
      expect(events.cause).toBe("number_invalid");
    });
  });
}
