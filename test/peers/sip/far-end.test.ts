import { expect, test } from "vitest";
import { until } from "../../support/server-client.ts";
import { phaseJump, toneShare } from "../../support/server-sound.ts";
import { callees, startFarEnd } from "../../support/sip/far-end.ts";
import { startLossyRelay } from "../../support/sip/lossy-relay.ts";
import { withTools } from "../tools.ts";
import { startBaresip } from "./baresip.ts";
import { makeCertificates } from "./certificates.ts";
import { monoOf } from "./sound.ts";
import { Stage } from "./stage.ts";

withTools("a softphone", ["baresip", "openssl", "sox"], () => {
  const stage = new Stage();

  test("exchanges audio and keys with the remote end of the unit tests", async () => {
    const baresip = await startBaresip(stage, makeCertificates(stage.folder("keys")));
    const farEnd = stage.add(await startFarEnd({ callees: { bob: callees.speaks } }), (it) => it.close());
    const relay = stage.add(
      await startLossyRelay({ to: farEnd, signalling: { loses: (_, count) => count === 0 } }),
      (it) => it.close(),
    );
    baresip.command("dial", relay.uri.replace("sip:", "sip:bob@"));
    const call = await farEnd.call();
    await call.established;
    await until(
      () => call.heard.length,
      (samples) => samples > 16_000,
      5_000,
      "two seconds of sound",
    );
    call.voice!.press("42#");
    baresip.command("sndcode", "7");
    await until(
      () => call.keys,
      (keys) => keys.length > 0,
      5_000,
      "a key",
    );
    await until(
      () => call.voice!.pendingKeyCount,
      (keysLeft) => keysLeft === 0,
      5_000,
      "the keys to be pressed",
    );
    await call.hangUp();

    const keys = baresip.events.filter(({ type }) => type === "CALL_DTMF_START").map(({ param }) => param);
    expect(keys.join("")).toBe("42#");
    expect(call.keys).toBe("7");
    expect(relay.signalling.lost).toBe(1);
    const { samples, gaps } = call.voice!.heardAudio();
    expect(gaps).toEqual([]);
    for (const heard of [samples, (await monoOf(await baresip.heardFile(), 8000)).sound.samples]) {
      const second = { sampleRate: 8000, samples: heard.subarray(2_000, 10_000) };
      expect(toneShare(second, 1000)).toBeGreaterThan(0.99);
      expect(phaseJump(second, 1000)).toBeLessThan(0.1);
    }
  });
});
