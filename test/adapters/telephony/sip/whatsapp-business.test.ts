import { afterEach, expect, test } from "vitest";
import { sip, whatsappBusiness } from "../../../../adapters/telephony/sip/index.ts";
import { TestNetwork } from "../../../../src/testing/telephony-network.ts";
import { certificateAuthority } from "../../../support/certificates.ts";
import { freePort } from "../../../support/free-port.ts";
import { field, fieldsNamed } from "../../../support/sip/sip-text.ts";
import { Meta } from "./meta.ts";

const PASSWORD = "its password";
const CALLEE = "+12025550123";
const authority = certificateAuthority();
let network: TestNetwork | undefined;

afterEach(async () => {
  await network?.close();
  network = undefined;
});

/** A trunk with the preset, whose peer is a fake Meta server on this machine. */
async function openBusinessTrunk(password = PASSWORD): Promise<{ network: TestNetwork; meta: Meta; port: number }> {
  const meta = await Meta.open(authority, PASSWORD);
  const port = await freePort();
  const { cert, key } = authority.issue({ names: ["sip.example.com"] });
  const trunk = whatsappBusiness({
    phoneNumber: "+15550009999",
    hostname: "sip.example.com",
    password,
    port,
    certificate: cert,
    key,
    outboundProxy: `sip:127.0.0.1:${meta.port};transport=tls`,
    tls: { ca: authority.ca, servername: "wa.meta.vc" },
  });
  const [telephony] = sip({ trunks: [trunk] });
  network = new TestNetwork({ telephony: telephony!, close: () => meta.close() }, 5_000);
  return { network, meta, port };
}

test("a call follows Meta's rules and sends audio first", async () => {
  const { network, meta, port } = await openBusinessTrunk();
  const { leg, events } = await network.call(await network.linkedLine(), CALLEE);
  await events.next("connected", 5_000);
  await network.until(() => meta.packets >= 5, "our audio");
  expect(leg.sampleRate).toBe(16_000);
  const [first, invite] = meta.requestsOf("INVITE");
  expect(meta.requestsOf("INVITE")).toHaveLength(2);
  expect(meta.requestsOf("REGISTER")).toHaveLength(0);
  expect(invite!.start).toBe(`INVITE sip:${CALLEE}@wa.meta.vc;transport=tls SIP/2.0`);
  expect(field(invite!, "From")).toMatch(/^<sip:\+15550009999@sip\.example\.com>;tag=/);
  expect(field(invite!, "To")).toBe(`<sip:${CALLEE}@wa.meta.vc;transport=tls>`);
  expect(field(invite!, "Contact")).toBe(`<sip:+15550009999@sip.example.com:${port};transport=tls>`);
  expect(field(invite!, "Proxy-Authorization")).toContain('username="15550009999"');
  expect(fieldsNamed(invite!, "Session-Expires")).toEqual([]);
  expect(field(invite!, "Supported")).not.toContain("timer");
  expect(first!.body).toMatch(/^m=audio \d+ RTP\/SAVP 111 /m);
  expect(first!.body).toMatch(/^a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:/m);
  expect(first!.body).toMatch(/^a=rtpmap:111 opus\/48000\/2/m);
  expect(first!.body).toMatch(/^a=fmtp:111 .*maxaveragebitrate=20000.*useinbandfec=1/m);
  expect(first!.body).toMatch(/^a=maxptime:20/m);
  await leg.hangUp();
  // The ACK and the BYE follow the route set, its last proxy first.
  for (const method of ["ACK", "BYE"])
    expect(fieldsNamed(meta.requestsOf(method).at(-1)!, "Route").map(([, value]) => value)).toEqual([
      `<sip:127.0.0.1:${meta.port};transport=tls;lr>`,
      "<sip:onevc-sip-proxy.example;transport=tls;lr>",
    ]);
});

test("a BYE arrives on Meta's connection", async () => {
  const { network, meta, port } = await openBusinessTrunk();
  const { events } = await network.call(await network.linkedLine(), CALLEE);
  await events.next("connected", 5_000);
  expect(await meta.hangUp(port, "sip.example.com")).toBe("SIP/2.0 200 OK");
  await events.over;
  expect(events.cause).toBe("callee_hung_up");
});

test("a missing call permission has its own outcome", async () => {
  const { network, meta } = await openBusinessTrunk();
  const line = await network.linkedLine();
  meta.refuse("No Approved Call Permission");
  const call = await network.call(line, CALLEE);
  expect(await call.events.next("ended", 5_000)).toMatchObject({
    cause: "rejected_by_network",
    detail: expect.stringMatching(/^no_call_permission: SIP 403 No Approved Call Permission: /),
  });
});

test("a wrong password is reported after one attempt", async () => {
  const { network, meta } = await openBusinessTrunk("wrong");
  const { events } = await network.call(await network.linkedLine(), CALLEE);
  expect(await events.next("ended", 5_000)).toMatchObject({
    cause: "rejected_by_network",
    detail: expect.stringMatching(/^SIP 407 .*password/),
  });
  expect(meta.requestsOf("INVITE")).toHaveLength(2);
});
