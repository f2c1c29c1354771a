import { beforeAll, expect, test } from "vitest";
import type { Ringport } from "../../../src/ringport.ts";
import { until } from "../../support/server-client.ts";
import { loudPart, toneShare } from "../../support/server-sound.ts";
import { withTools } from "../tools.ts";
import { type Baresip, NUMBERS, startBaresip } from "./baresip.ts";
import { makeCertificates } from "./certificates.ts";
import { monoOf } from "./sound.ts";
import { Stage } from "./stage.ts";
import { ADA, startTrunkLine } from "./trunk-line.ts";

withTools("an agent that transfers a softphone to another one", ["baresip", "openssl", "sox"], () => {
  const stage = new Stage();
  let callee: Baresip;
  let colleague: Baresip;
  let ringport: Ringport;
  let instanceId: string;
  beforeAll(async () => {
    const keys = makeCertificates(stage.folder("keys"));
    [callee, colleague] = await Promise.all([startBaresip(stage, keys, 1_000), startBaresip(stage, keys, 440)]);
    // Refer-To names the trunk's own server, so the colleague is that server, and calls reach the callee as a proxy.
    const trunk = {
      server: `sip:127.0.0.1:${colleague.port}`,
      outboundProxy: `sip:127.0.0.1:${callee.port}`,
    };
    ({ ringport, instanceId } = await startTrunkLine(stage, { trunk }));
  });

  test("gets the colleague's refusal or answer from the softphone, then leaves the two alone", async () => {
    const call = await ringport.calls.create(ADA, {
      instanceId,
      type: "DYNAMIC_AGENT",
      target: { phoneNumber: NUMBERS.pcmu },
      agent: { instructions: [`Transfer to ${NUMBERS.pcma}`, `Transfer to ${NUMBERS.pcmu}`] },
    });
    const { status, outcome } = await ringport.calls.wait(ADA, call.id);
    expect([status, outcome?.reason]).toEqual(["COMPLETED", "agent_finished"]);
    expect(outcome?.detail).toMatch(/^transferred to \+12025550101: SIP 200/);
    // The callee's account has no codec that the first number accepts.
    const failedTransfers: unknown[] = [];
    for await (const { type, data } of ringport.calls.events(ADA, call.id))
      if (type === "transfer_failed") failedTransfers.push(data);
    expect(failedTransfers).toEqual([{ to: NUMBERS.pcma, reason: "SIP 488 Not Acceptable Here" }]);
    await colleague.event("CALL_ESTABLISHED", 5_000);
    await new Promise((resolve) => setTimeout(resolve, 1_000)); // the two talk
    colleague.command("hangup");
    const closedCount = () => colleague.events.filter(({ type }) => type === "CALL_CLOSED").length;
    await until(closedCount, (count) => count === 2, 5_000, "the end of both calls");
    const { sound } = await monoOf(await colleague.heardFile(), 8_000);
    const { from, to } = loudPart(sound, 500);
    expect(to - from).toBeGreaterThan(sound.sampleRate / 4);
    expect(toneShare({ ...sound, samples: sound.samples.subarray(from, to) }, 1_000)).toBeGreaterThan(0.9);
  });
});
