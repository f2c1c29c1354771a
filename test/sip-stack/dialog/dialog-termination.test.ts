import { describe, expect, test } from "vitest";
import { TransportError } from "../../../adapters/sip-stack/transport/transport.ts";
import { ScriptedCall } from "./support/scripted-call.ts";

/** A call that has ended on our side: its BYE is in transit. */
async function endedCall(): Promise<ScriptedCall> {
  const call = await ScriptedCall.answered();
  void call.usage.hangUp();
  return call;
}

describe("a BYE", () => {
  test("is repeated three times after temporary refusals", async () => {
    const call = await endedCall();
    for (const [times, pauseMs] of [1_000, 4_000, 16_000].entries()) {
      call.tx.last("BYE").respond(503);
      expect(call.end).toEqual({ type: "released" });
      await call.system.advance(pauseMs - 1);
      expect(call.tx.count("BYE")).toBe(times + 1);
      await call.system.advance(1);
      expect(call.tx.count("BYE")).toBe(times + 2);
    }
    expect(call.tx.flow.holds).toBe(1);
    call.tx.last("BYE").respond(503);
    expect(call.leftovers).toBe(0);
    expect(call.tx.sent.filter(({ method }) => method === "BYE").map((bye) => bye.header("CSeq"))).toEqual([
      "2 BYE",
      "3 BYE",
      "4 BYE",
      "5 BYE",
    ]);
  });

  test.each([491, 500, 502, 504])("is repeated after a %i", async (status) => {
    const call = await endedCall();
    call.tx.last("BYE").respond(status);
    await call.system.advance(1_000);
    expect(call.tx.count("BYE")).toBe(2);
    call.tx.last("BYE").respond(200);
    expect(call.leftovers).toBe(0);
  });

  test("is repeated after 32 s at the latest, despite a longer Retry-After", async () => {
    const call = await endedCall();
    call.tx.last("BYE").respond(503, { fields: [["Retry-After", "3600"]] });
    await call.system.advance(31_999);
    expect(call.tx.count("BYE")).toBe(1);
    await call.system.advance(1);
    expect(call.tx.count("BYE")).toBe(2);
  });

  test.each([200, 403, 405, 408, 481, 501])("is not repeated after a %i", async (status) => {
    const call = await endedCall();
    call.tx.last("BYE").respond(status);
    expect(call.leftovers).toBe(0);
    await call.system.advance(60_000);
    expect(call.tx.count("BYE")).toBe(1);
  });

  test("takes the INVITE's hop if it cannot be sent, and stops on timeout", async () => {
    const call = await endedCall();
    expect(call.tx.last("BYE").to).toBe("sip:callee@192.0.2.9:5070");
    call.tx.last("BYE").fail(new TransportError("dns", "no address"));
    await call.system.advance(1_000);
    expect(call.tx.last("BYE").to).toBe("sip:192.0.2.1");
    call.tx.last("BYE").fail(new TransportError("timeout", "no response"));
    expect(call.leftovers).toBe(0);
    await call.system.advance(60_000);
    expect(call.tx.count("BYE")).toBe(2);
  });

  test("to a declined fork is also repeated", async () => {
    const call = await ScriptedCall.answered();
    call.tx.lateSuccess(call.invite.response(200, { tag: "z", fields: [["Contact", "<sip:z@192.0.2.30>"]] }));
    await call.system.settle();
    call.tx.last("BYE").respond(503);
    await call.system.advance(1_000);
    expect(call.tx.sent.filter(({ method }) => method === "BYE").map(({ request }) => request.uri)).toEqual([
      "sip:z@192.0.2.30",
      "sip:z@192.0.2.30",
    ]);
    expect(call.end).toBeUndefined();
  });

  test("does not delay closing the user agent", async () => {
    const call = await endedCall();
    call.tx.last("BYE").respond(503);
    await call.agent.close();
    expect(call.leftovers).toBe(0);
    await call.system.advance(60_000);
    expect(call.tx.count("BYE")).toBe(1);
  });
});
