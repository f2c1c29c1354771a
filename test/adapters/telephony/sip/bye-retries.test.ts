import { createSocket } from "node:dgram";
import { describe, expect, onTestFinished, test } from "vitest";
import type { Trunk } from "../../../../adapters/telephony/sip/config/trunk-config.ts";
import type { FarEndCall, Script } from "../../../support/sip/far-end.ts";
import {
  type Field,
  field,
  fieldsNamed,
  methodOf,
  readSip,
  type SipText,
  writeSip,
} from "../../../support/sip/sip-text.ts";
import { Scene } from "./scene.ts";

const NUMBER = "+12025550100";

/** Places a call to this callee, and hangs up once it is connected. */
async function callAndHangUp(
  callee: Script,
  trunk: Partial<Trunk> = {},
): Promise<readonly [scene: Scene, far: FarEndCall]> {
  const scene = await Scene.open(trunk, { callees: { "*": callee } });
  const { leg, events } = await scene.call(NUMBER);
  await events.next("connected", 5_000);
  await leg.hangUp();
  await events.over;
  expect(events.cause).toBe("released");
  return [scene, scene.farEnd.calls[0]!];
}

const waitForLegEnd = (scene: Scene, farEnd: FarEndCall): Promise<void> =>
  scene.network.until(() => farEnd.end === "caller hung up", "the end of the far leg");

describe("an ended call's BYE", () => {
  test("is sent again after a 503", async () => {
    const [scene, farEndCall] = await callAndHangUp({ byeResponses: [{ status: 503 }] });
    await waitForLegEnd(scene, farEndCall);
    const [first, second, ...laterByes] = farEndCall.requests.filter(({ method }) => method === "BYE");
    expect(second!.at - first!.at).toBeGreaterThan(990);
    expect(laterByes).toEqual([]);
  });

  test("waits for a Retry-After", async () => {
    const [scene, farEndCall] = await callAndHangUp({
      byeResponses: [{ status: 503, fields: [["Retry-After", "2"]] }],
    });
    await waitForLegEnd(scene, farEndCall);
    const [first, second] = farEndCall.requests.filter(({ method }) => method === "BYE");
    expect(second!.at - first!.at).toBeGreaterThan(1_990);
  });

  // Deno reports no ICMP errors: the BYE is retransmitted for 32 s, then abandoned.
  test.skipIf("Deno" in globalThis)("takes the INVITE's path if the Contact is unreachable", async () => {
    const [scene, farEndCall] = await callAndHangUp({ contact: "<sip:callee@127.0.0.1:9>" });
    await waitForLegEnd(scene, farEndCall);
    expect(farEndCall.requests.find(({ method }) => method === "BYE")?.text.start).toBe(
      "BYE sip:callee@127.0.0.1:9 SIP/2.0",
    );
  });

  test("is sent to the INVITE's hop without credentials for a challenging server", async () => {
    const challenger = createSocket("udp4");
    const byes: SipText[] = [];
    challenger.on("message", (datagram, { address, port }) => {
      const request = readSip(datagram);
      if (methodOf(request) !== "BYE") return;
      byes.push(request);
      const fields = ["Via", "From", "To", "Call-ID", "CSeq"].flatMap((name) => fieldsNamed(request, name));
      const challenge: Field = ["WWW-Authenticate", 'Digest realm="elsewhere", nonce="1", algorithm=MD5'];
      const body = { start: "SIP/2.0 401 Unauthorized", fields: [...fields, challenge], body: "" };
      challenger.send(writeSip(body), port, address);
    });
    await new Promise<void>((resolve) => challenger.bind(0, "127.0.0.1", resolve));
    onTestFinished(() => void challenger.close());
    const contact = `<sip:callee@127.0.0.1:${challenger.address().port}>`;
    const [scene, farEndCall] = await callAndHangUp({ contact }, { user: "agent", password: "s3cret" });
    await waitForLegEnd(scene, farEndCall);
    expect(byes.map((bye) => field(bye, "Authorization"))).toEqual([""]);
  });

  test("is abandoned when the trunk closes", async () => {
    const [scene, farEndCall] = await callAndHangUp({
      byeResponses: [{ status: 503, fields: [["Retry-After", "30"]] }],
    });
    expect(farEndCall.count("BYE")).toBe(1);
    await scene.close();
    expect(scene.system.pendingTimers).toBe(0);
  });
});
