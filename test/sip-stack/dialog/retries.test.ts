import { describe, expect, test } from "vitest";
import { TransportError } from "../../../adapters/sip-stack/transport/transport.ts";
import { ScriptedCall } from "./support/scripted-call.ts";

describe("an INVITE after a refusal", () => {
  test("is repeated with a 422's interval", async () => {
    const call = await ScriptedCall.placed();
    call.invite.respond(422, { fields: [["Min-SE", "3600"]] });
    expect(call.invite.header("Session-Expires")).toBe("3600");
    expect(call.invite.header("Min-SE")).toBe("3600");
    expect(call.invite.header("CSeq")).toBe("2 INVITE");
    call.invite.respond(422, { fields: [["Min-SE", "3600"]] });
    expect(call.end).toMatchObject({ type: "rejected", response: { status: 422 } });
  });

  test("is repeated without a 420's extensions", async () => {
    const call = await ScriptedCall.placed();
    call.invite.respond(420, { fields: [["Unsupported", "100rel"]] });
    expect(call.invite.header("Supported")).toBe("timer");
    call.invite.respond(420);
    expect(call.invite.header("Supported")).toBeUndefined();
    expect(call.invite.header("Session-Expires")).toBeUndefined();
    call.invite.respond(420);
    expect(call.end).toMatchObject({ type: "rejected", response: { status: 420 } });
  });

  test("is sent again with the extension of a 421 if it is known", async () => {
    const call = await ScriptedCall.placed({ reliableProvisionals: false });
    expect(call.invite.header("Supported")).toBe("timer");
    call.invite.respond(421, { fields: [["Require", "100rel"]] });
    expect(call.invite.header("Supported")).toBe("timer, 100rel");
    call.invite.respond(421, { fields: [["Require", "sec-agree"]] });
    expect(call.end).toMatchObject({ type: "rejected", response: { status: 421 } });
  });

  test("is sent again 2.1 to 4 s after a 491, unless hung up", async () => {
    const call = await ScriptedCall.placed();
    call.invite.respond(491);
    await call.system.advance(2099);
    expect(call.tx.count("INVITE")).toBe(1);
    await call.system.advance(1901);
    expect(call.tx.count("INVITE")).toBe(2);
    call.invite.respond(491);
    await call.usage.hangUp();
    expect(call.log).toEqual(["placed", "ended released"]);
    expect(call.leftovers).toBe(0);
    await call.system.advance(10_000);
    expect(call.tx.count("INVITE")).toBe(2);
  });

  test("is not repeated without limit", async () => {
    const call = await ScriptedCall.placed();
    for (let times = 0; call.end === undefined && times < 50; times++) {
      call.invite.respond(491);
      await call.system.advance(4000);
    }
    expect(call.end).toMatchObject({ type: "rejected", response: { status: 491 } });
    expect(call.tx.count("INVITE")).toBe(7);
    expect(call.leftovers).toBe(0);
  });
});

describe("a redirection", () => {
  const redirectTo = (...contacts: string[]) => ({ fields: contacts.map((contact) => ["Contact", contact] as const) });

  test("is final unless the trunk follows it", async () => {
    const call = await ScriptedCall.placed();
    call.invite.respond(302, redirectTo("<sip:other@example.net>"));
    expect(call.end).toMatchObject({ type: "rejected", response: { status: 302 } });
  });

  test("is followed to the best URI first, with the same To and Call-ID", async () => {
    const call = await ScriptedCall.placed({ followRedirects: true });
    const first = call.invite;
    first.respond(
      302,
      redirectTo("<sip:b@example.net>;q=0.5, <mailto:b@example.net>", "<sip:a@example.net;method=BYE?X=1>"),
    );
    expect(call.invite.request.uri).toBe("sip:a@example.net");
    for (const name of ["To", "From", "Call-ID"]) expect(call.invite.header(name)).toBe(first.header(name));
    call.invite.respond(404);
    expect(call.invite.request.uri).toBe("sip:b@example.net");
    call.accept();
    expect(call.log.at(-1)).toBe("answered");
  });

  test("is followed to the next URI if unreachable", async () => {
    const call = await ScriptedCall.placed({ followRedirects: true });
    call.invite.respond(301, redirectTo("<sip:a@example.net>", "<sip:b@example.net>"));
    call.invite.fail(new TransportError("dns", "example.net has no address"));
    expect(call.invite.request.uri).toBe("sip:b@example.net");
    call.invite.fail(new TransportError("dns", "example.net has no address"));
    expect(call.end?.type).toBe("unreachable");
  });

  test("never returns to an earlier URI", async () => {
    const call = await ScriptedCall.placed({ followRedirects: true });
    call.invite.respond(302, redirectTo("<sip:a@example.net>"));
    call.invite.respond(302, redirectTo("<sip:A@EXAMPLE.NET>, <sip:a@example.net>, <sip:+12025550100@example.com>"));
    expect(call.tx.sent.map(({ request }) => request.uri)).toEqual([
      "sip:+12025550100@example.com",
      "sip:a@example.net",
      "sip:A@EXAMPLE.NET", // the user part is case-sensitive
    ]);
  });

  test("ends after five URIs", async () => {
    const call = await ScriptedCall.placed({ followRedirects: true });
    for (let index = 1; call.end === undefined; index++)
      call.invite.respond(302, redirectTo(`<sip:p${index}@example.net>`));
    expect(call.tx.count("INVITE")).toBe(6);
    expect(call.leftovers).toBe(0);
  });

  test("ends with a 603", async () => {
    const call = await ScriptedCall.placed({ followRedirects: true });
    call.invite.respond(302, redirectTo("<sip:a@example.net>", "<sip:b@example.net>"));
    call.invite.respond(603);
    expect(call.end).toMatchObject({ type: "rejected", response: { status: 603 } });
  });
});
