import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { sqliteStorage } from "../../../../adapters/storage/sqlite/sqlite-storage.ts";
import { sip } from "../../../../adapters/telephony/sip/index.ts";
import { type Call, createRingport } from "../../../../src/index.ts";
import { toneWav } from "../../../support/server-sound.ts";
import { startFarEnd } from "../../../support/sip/far-end.ts";
import { startLossyRelay } from "../../../support/sip/lossy-relay.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

const ADA = { userId: "ada" };
const MESSAGE = toneWav({ hz: 440, ms: 6_000, sampleRate: 8_000, amplitude: 8_000 }).toString("base64");
const LOSS = 0.2;

test.each(["thread", "worker"] as const)(
  "a call through a lossy network shows its quality during the call, with the audio in a %s",
  { timeout: 30_000 },
  async (media) => {
    const farEnd = await startFarEnd({ callees: { "*": { says: { hz: 1_000 } } } });
    onTestFinished(() => farEnd.close());
    const relay = await startLossyRelay({ to: farEnd, media: { loss: LOSS } });
    onTestFinished(() => relay.close());
    const data = temporaryFolder("quality");
    const storage = sqliteStorage({ path: join(data, "calls.sqlite") });
    const trunks = [{ name: "phone", server: relay.uri, users: "*" as const }];
    const ringport = createRingport({ data, storage, telephony: sip({ trunks, media }) });
    onTestFinished(() => ringport.stop({ drainMs: 0 }));
    const { id: instanceId } = await ringport.instances.create(ADA, { name: "Front desk" });
    const target = { phoneNumber: "+12025550100" };
    const audio = { audioBase64: MESSAGE };
    const { id } = await ringport.calls.create(ADA, { instanceId, type: "FIXED_AUDIO", target, audio });

    let activeCall: Call | undefined;
    await expect
      .poll(
        async () => {
          activeCall = await ringport.calls.get(ADA, id);
          return activeCall.quality?.length;
        },
        { timeout: 15_000 },
      )
      .toBe(1);
    expect(activeCall).toMatchObject({ status: "IN_PROGRESS", mediaStatistics: null });
    const { packetsReceived, packetsLost, jitterMs, untilMs } = activeCall!.quality![0]!;
    expect(untilMs).toBeGreaterThanOrEqual(5_000);
    expect(packetsLost / (packetsReceived + packetsLost)).toBeGreaterThan(LOSS / 2);
    expect(packetsLost / (packetsReceived + packetsLost)).toBeLessThan(LOSS * 2);
    expect(jitterMs).toBeGreaterThan(0);

    const { quality = [], mediaStatistics, startedAt, endedAt } = await ringport.calls.wait(ADA, id);
    expect(quality.length).toBeGreaterThanOrEqual(2);
    expect(quality.at(-1)?.untilMs).toBe((endedAt ?? 0) - (startedAt ?? 0));
    for (const name of ["packetsSent", "packetsReceived", "packetsLost"] as const)
      expect(quality.reduce((sum, interval) => sum + interval[name], 0)).toBe(mediaStatistics?.[name]);
  },
);
