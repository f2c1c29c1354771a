import { beforeEach, describe, expect, test } from "vitest";
import { whatsapp } from "../../../../adapters/telephony/whatsapp/index.ts";
import { createRingport } from "../../../../src/ringport.ts";
import { FakeWhatsApp } from "../../../../src/testing/index.ts";
import { ManualSystem } from "../../../../src/testing/manual-system.ts";
import { ALICE, ToneSpeech } from "../../../support/application.ts";
import { advanceUntilDone, passUntil } from "../../../support/during.ts";
import { instantCrypto } from "../../../support/instant-crypto.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";
// Loads these in advance, and commits without a sync: the manual clock does not wait for the disk.
import "../../../../src/application/calls/live/call-quality.ts";
import "../../../../src/application/calls/dialling/dial-protection.ts";
import "../../../../src/application/calls/dialling/last-check.ts";

/** The end of a stream on a linked number, on a server that refuses one-way calls. */
async function endOfStream(receivesAudio: boolean | undefined) {
  const system = new ManualSystem();
  const network = new FakeWhatsApp(system);
  const telephony = whatsapp({ client: network.client, system, receivesAudio });
  const data = temporaryFolder("one-way");
  const options = { data, system, telephony, speech: new ToneSpeech(), streamPreview: true };
  const embedded = { synchronous: "NORMAL" } as const;
  const ringport = createRingport({ ...options, embedded, oneWayCalls: "refuse" });
  const { id: instanceId } = await ringport.instances.create(ALICE, { name: "Front desk" });
  const { payload } = await advanceUntilDone(system, ringport.instances.configure(ALICE, instanceId));
  network.scan(payload, "+5511912345678");
  const isActive = async () => (await ringport.instances.get(ALICE, instanceId)).status === "ACTIVE";
  await passUntil(system, 5_000, isActive);
  const target = { phoneNumber: "+5511987654321" };
  const { id } = await ringport.calls.create(ALICE, { instanceId, type: "DYNAMIC_STREAM", target });
  await passUntil(system, 60_000, async () => (await ringport.calls.get(ALICE, id)).outcome !== null);
  const { outcome } = await ringport.calls.get(ALICE, id);
  await advanceUntilDone(system, ringport.stop());
  return { reason: outcome?.reason, detail: outcome?.detail, offers: network.calls.length };
}

beforeEach(instantCrypto);

describe("a server that refuses one-way calls", () => {
  test("sends no offer for a stream on WhatsApp", async () => {
    const { reason, detail, offers } = await endOfStream(undefined);
    expect({ reason, offers }).toEqual({ reason: "stream_unavailable", offers: 0 });
    expect(detail).toContain('"whatsapp" does not return the callee\'s audio');
  });

  test("places a stream if the operator has found that the client returns the callee's audio", async () => {
    expect(await endOfStream(true)).toMatchObject({ reason: "stream_lost", offers: 1 });
  });
});
