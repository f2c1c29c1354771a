import { describe, expect, test } from "vitest";
import { TransportError } from "../../../adapters/sip-stack/transport/transport.ts";
import { ScriptedCall, sdp } from "./support/scripted-call.ts";

const timer = (refresher: string, seconds = 1800): readonly [string, string] => [
  "Session-Expires",
  `${seconds};refresher=${refresher}`,
];
const ALLOW = ["Allow", "INVITE, ACK, BYE, CANCEL, UPDATE"] as const;

describe("session timers", () => {
  test("are neither offered nor kept if disabled", async () => {
    const call = await ScriptedCall.answered({ sessionTimers: false }, [timer("uac")]);
    expect(call.invite.header("Supported")).toBe("100rel");
    expect(call.invite.header("Session-Expires")).toBeUndefined();
    expect(call.system.waiting).toBe(0);
    const response = await call.receive("UPDATE", { fields: [timer("uas", 90)] });
    expect(response.header("Session-Expires")).toBeUndefined();
    expect(call.system.waiting).toBe(0);
  });

  test("are refreshed by UPDATE if allowed", async () => {
    const call = await ScriptedCall.answered({}, [timer("uac"), ALLOW]);
    for (let round = 1; round <= 5; round++) {
      await call.system.advance(900_000);
      expect(call.tx.count("UPDATE")).toBe(round);
      const update = call.tx.last("UPDATE");
      expect(update.header("Session-Expires")).toBe("1800;refresher=uac");
      expect(update.header("Contact")).toBe("<sip:100@192.0.2.7:5060>");
      expect(update.body).toBe("");
      update.respond(200, { fields: [timer("uac")] });
    }
    expect(call.end).toBeUndefined();
    await call.receive("BYE");
    expect(call.leftovers).toBe(0);
  });

  test("are otherwise refreshed by re-INVITE with the same offer", async () => {
    const call = await ScriptedCall.answered({}, [timer("uac", 600)]);
    await call.system.advance(300_000);
    expect(call.tx.count("INVITE")).toBe(2);
    expect(call.invite.body).toBe("v=0 our offer");
    expect(call.invite.header("To")).toContain("tag=a");
    // The peer makes no offer while our offer is pending.
    expect((await call.receive("INVITE", { cseq: 1, body: sdp() })).status).toBe(491);
    const movedContact = ["Contact", "<sip:moved@192.0.2.44>"] as const;
    const answer = { tag: "a", sdp: sdp("sendonly"), fields: [timer("uac", 600), movedContact] };
    call.invite.respond(200, answer);
    expect(call.tx.acks.at(-1)?.request.headers.get("CSeq")).toBe("2 ACK");
    expect(call.tx.acks.at(-1)?.request.uri).toBe("sip:moved@192.0.2.44");
    expect(call.log.at(-1)).toBe("held");
    call.tx.lateSuccess(call.invite.response(200, answer));
    expect(call.tx.acks).toHaveLength(3);
    expect((await call.receive("INVITE", { cseq: 2, body: sdp() })).status).toBe(200);
  });

  test.each([
    ["UPDATE", [ALLOW]],
    ["INVITE", []],
  ] as const)("no session is refreshed by %s after the call's deadline", async (method, fields) => {
    const call = await ScriptedCall.answered({}, [timer("uac"), ...fields]);
    await call.system.advance(900_000);
    const refresh = call.tx.last(method);
    expect(refresh).not.toBe(call.tx.sent[0]);
    expect(refresh.maySend).toBe(true);
    call.maySend = false;
    expect(refresh.maySend).toBe(false);
  });

  test("a refused UPDATE is replaced by a re-INVITE", async () => {
    const call = await ScriptedCall.answered({}, [timer("uac"), ALLOW]);
    await call.system.advance(900_000);
    call.tx.last("UPDATE").respond(405);
    await call.system.advance(0);
    expect(call.tx.count("INVITE")).toBe(2);
  });

  test("a refresh is repeated after glare, 422 and a temporary refusal", async () => {
    const call = await ScriptedCall.answered({}, [timer("uac"), ALLOW]);
    await call.system.advance(900_000);
    call.tx.last("UPDATE").respond(491);
    await call.system.advance(4000);
    expect(call.tx.count("UPDATE")).toBe(2);
    call.tx.last("UPDATE").respond(422, { fields: [["Min-SE", "3600"]] });
    await call.system.advance(0);
    expect(call.tx.last("UPDATE").header("Session-Expires")).toBe("3600;refresher=uac");
    expect(call.tx.last("UPDATE").header("Min-SE")).toBe("3600");
    call.tx.last("UPDATE").respond(500);
    await call.system.advance(10_000);
    expect(call.tx.count("UPDATE")).toBe(4);
    call.tx.last("UPDATE").respond(200, { fields: [timer("uac", 3600)] });
    await call.system.advance(1_799_999);
    expect(call.tx.count("UPDATE")).toBe(4);
    await call.system.advance(1);
    expect(call.tx.count("UPDATE")).toBe(5);
  });

  test("a refresh that gets 481 or no response ends the call", async () => {
    for (const status of [481, 408, undefined]) {
      const call = await ScriptedCall.answered({}, [timer("uac"), ALLOW]);
      await call.system.advance(900_000);
      if (status === undefined) call.tx.last("UPDATE").fail(new TransportError("timeout", "silence"));
      else call.tx.last("UPDATE").respond(status);
      call.tx.last("BYE").respond(481);
      expect(call.end).toMatchObject({ type: "media", detail: expect.stringContaining("could not be refreshed") });
      expect(call.leftovers).toBe(0);
    }
  });

  test("a peer that does not refresh is hung up", async () => {
    const call = await ScriptedCall.answered({}, [timer("uas", 90)]);
    await call.system.advance(40_000);
    const response = await call.receive("UPDATE", { fields: [timer("uac", 90), ["Supported", "timer"]] });
    expect(response.header("Session-Expires")).toBe("90;refresher=uac");
    expect(response.header("Require")).toBe("timer");
    await call.system.advance(59_999);
    expect(call.tx.count("BYE")).toBe(0);
    await call.system.advance(1);
    call.tx.last("BYE").respond(200);
    expect(call.end).toMatchObject({ type: "media", detail: expect.stringContaining("session timer") });
    expect(call.tx.count("UPDATE")).toBe(0);
    expect(call.leftovers).toBe(0);
  });

  test("a proxy's timer is refreshed by us", async () => {
    const call = await ScriptedCall.answered();
    const response = await call.receive("INVITE", { body: sdp(), fields: [["Session-Expires", "200"]] });
    expect(response.header("Session-Expires")).toBe("200;refresher=uas");
    expect(response.header("Require")).toBeUndefined();
    await call.system.advance(100_000);
    expect(call.tx.count("INVITE")).toBe(2);
  });

  test("too short an interval gets Min-SE", async () => {
    const call = await ScriptedCall.answered();
    const response = await call.receive("UPDATE", { fields: [["Session-Expires", "5"]] });
    expect(response.status).toBe(422);
    expect(response.header("Min-SE")).toBe("90");
  });

  test("an absurd interval in a 2xx is raised to the minimum", async () => {
    const call = await ScriptedCall.answered({}, [timer("uac", 0), ALLOW]);
    await call.system.advance(4999);
    expect(call.tx.count("UPDATE")).toBe(0);
    await call.system.advance(1);
    expect(call.tx.count("UPDATE")).toBe(1);
    await call.receive("BYE");
  });
});
