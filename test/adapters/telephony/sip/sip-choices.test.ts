import { describe, expect, test } from "vitest";
import { callees, startFarEnd } from "../../../support/sip/far-end.ts";
import { field, fieldsNamed } from "../../../support/sip/sip-text.ts";
import { HttpScene } from "./http-scene.ts";

const BUSY_CALLEE = callees.busy;

/** Pointers of the faults in a 400 response. */
function faults({ status, body }: { status: number; body: { errors?: { pointer: string }[] } }): string[] {
  expect(status).toBe(400);
  return body.errors!.map(({ pointer }) => pointer);
}

describe("the Call-ID", () => {
  test("is in a call's media and events, as the peer received it", async () => {
    const scene = await HttpScene.open(BUSY_CALLEE);
    const call = await scene.endedCall({}, "media");
    const { callId } = await scene.farEnd.call();
    expect(call.media).toEqual({ stream: null, sip_call_id: callId });
    expect("sip_call_id" in call).toBe(false);
    const { body: events } = await scene.send("GET", `/v1/calls/${call.id}/events`);
    const matchingEvents = events.filter(({ data }: { data: { sip_call_id?: string } }) => data.sip_call_id === callId);
    expect(matchingEvents.map(({ type }: { type: string }) => type)).toEqual(["ringing", "failed"]);
  });

  test("is stored with an answered call's statistics", async () => {
    const scene = await HttpScene.open({ acts: (call) => call.hangUp() });
    const call = await scene.endedCall({}, "media");
    const { callId } = await scene.farEnd.call();
    expect(call.media).toMatchObject({ sip_call_id: callId, stream: { codec: "PCMU" } });
  });
});

describe("header fields of a call", () => {
  const trunk = { callHeaders: ["X-Order", "X-Tenant-*"], headers: { "X-Order": "none", "X-Site": "7" } };

  test("reach the peer, replacing the trunk's", async () => {
    const scene = await HttpScene.open(BUSY_CALLEE, { trunk });
    await scene.endedCall({ sip: { headers: { "x-order": "4711", "X-Tenant-Name": "Müller & Söhne" } } });
    const { text } = (await scene.farEnd.call()).requests[0]!;
    expect(fieldsNamed(text, "X-Order").map(([, value]) => value)).toEqual(["4711"]);
    expect(field(text, "X-Tenant-Name")).toBe("Müller & Söhne");
    expect(field(text, "X-Site")).toBe("7");
    await scene.endedCall();
    expect(field((await scene.farEnd.call(1)).requests[0]!.text, "X-Order")).toBe("none");
  });

  test.each<[unknown, string[]]>([
    [{ "X-Site": "8" }, ["/sip/headers/X-Site"]],
    [{ "X-Tenan": "8", "X-Order": "1" }, ["/sip/headers/X-Tenan"]],
    [{ "X-Order": "1\r\nFrom: <sip:x@y>" }, ["/sip/headers/X-Order"]],
    [{ "X-Order": "1\n" }, ["/sip/headers/X-Order"]],
    [{ "X-Order": " " }, ["/sip/headers/X-Order"]],
    [{ "X-Order": "1".repeat(201) }, ["/sip/headers/X-Order"]],
    [{ "X-Order": 4711 }, ["/sip/headers/X-Order"]],
    [{ "X-Order": "1", "x-order": "2" }, ["/sip/headers/x-order"]],
    [{ From: "<sip:x@y>" }, ["/sip/headers/From"]],
    [{ "Call-ID": "1", Via: "2" }, ["/sip/headers/Call-ID", "/sip/headers/Via"]],
    [{ "X-Order: 1\r\nVia": "2" }, ["/sip/headers/X-Order: 1\r\nVia"]],
    [{ "X-": "1" }, ["/sip/headers/X-"]],
    [Object.fromEntries(Array.from({ length: 11 }, (_, i) => [`X-Tenant-${i}`, "1"])), ["/sip/headers"]],
    [["X-Order"], ["/sip/headers"]],
  ])("%j are refused with 400", async (headers, pointers) => {
    const scene = await HttpScene.open(BUSY_CALLEE, { trunk });
    expect(faults(await scene.create({ sip: { headers } }))).toEqual(pointers);
    expect(scene.farEnd.calls).toEqual([]);
  });

  test("are refused by a trunk that allows none", async () => {
    const scene = await HttpScene.open(BUSY_CALLEE);
    expect(faults(await scene.create({ sip: { headers: { "X-Order": "1" } } }))).toEqual(["/sip/headers/X-Order"]);
  });
});

describe("a SIP URI as the target", () => {
  const uri = (user: string, host: string) => ({
    target: { phoneNumber: "+12025550100", sipUri: `sip:${user}@${host}` },
  });

  test("is called at its host, with the number as the callee's", async () => {
    const otherFarEnd = await startFarEnd({ callees: { reception: BUSY_CALLEE } });
    try {
      const host = `127.0.0.1:${otherFarEnd.port}`;
      const scene = await HttpScene.open(BUSY_CALLEE, { trunk: { callUriHosts: [host] } });
      const call = await scene.endedCall(uri("reception", host));
      expect([call.target_phone, call.outcome.reason]).toEqual(["+12025550100", "busy"]);
      const { text } = (await otherFarEnd.call()).requests[0]!;
      expect(text.start).toBe(`INVITE sip:reception@${host} SIP/2.0`);
      expect(scene.farEnd.calls).toEqual([]);
    } finally {
      await otherFarEnd.close();
    }
  });

  test.each([
    ["another host", "reception", "pbx.example.org"],
    ["another port", "reception", "pbx.example.com:5080"],
    ["a host with the same ending", "reception", "evil-pbx.example.com"],
    ["a password", "reception:secret", "pbx.example.com"],
    ["a parameter", "reception", "pbx.example.com;maddr=10.0.0.1"],
    ["a header field", "reception", "pbx.example.com?X-Order=1"],
    ["an escaped user", "%2B19005550100", "pbx.example.com"],
    ["a second host", "reception@pbx.example.com", "pbx.example.org"],
    ["a line break", "reception", "pbx.example.com\r\nVia: x"],
  ])("is refused with 400 if it has %s", async (_, user, host) => {
    const scene = await HttpScene.open(BUSY_CALLEE, { trunk: { callUriHosts: ["pbx.example.com"] } });
    expect(faults(await scene.create(uri(user, host)))).toEqual(["/target/sipUri"]);
  });

  test("is refused by a trunk that allows none, and still needs a number", async () => {
    const scene = await HttpScene.open(BUSY_CALLEE);
    expect(faults(await scene.create(uri("reception", "pbx.example.com")))).toEqual(["/target/sipUri"]);
    const target = { sipUri: "sip:reception@pbx.example.com" };
    expect(faults(await scene.create({ target }))).toEqual(["/target/phoneNumber"]);
  });

  test.each(["+19005550100", "911", "112"])("never reaches %s", async (number) => {
    const scene = await HttpScene.open(BUSY_CALLEE, { trunk: { callUriHosts: ["pbx.example.com"] } });
    const { outcome } = await scene.endedCall(uri(number, "pbx.example.com"));
    expect(outcome).toMatchObject({
      reason: "rejected_by_network",
      detail: expect.stringMatching(/^not dialled: sip:.* leads to a number that is not called$/),
    });
    expect(scene.farEnd.calls).toEqual([]);
  });
});
