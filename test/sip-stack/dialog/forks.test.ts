import { describe, expect, test } from "vitest";
import { ScriptedCall, sdp } from "./support/scripted-call.ts";

describe("an INVITE that is forked", () => {
  test("uses the first answer; every other one is acknowledged and released", async () => {
    const call = await ScriptedCall.placed();
    for (const tag of ["a", "b"]) call.invite.respond(180, { tag });
    call.accept({ tag: "b", fields: [["Contact", "<sip:b@192.0.2.20>"]] });
    const otherAnswer = call.invite.response(200, {
      tag: "a",
      sdp: sdp(),
      fields: [["Contact", "<sip:a@192.0.2.10>"]],
    });
    call.tx.lateSuccess(otherAnswer);
    await call.system.settle();
    expect(call.tx.acks.map(({ request }) => request.uri)).toEqual(["sip:b@192.0.2.20", "sip:a@192.0.2.10"]);
    const bye = call.tx.last("BYE");
    expect(bye.request.uri).toBe("sip:a@192.0.2.10");
    expect(bye.header("To")).toContain("tag=a");
    bye.respond(200);
    expect(call.log).toEqual(["placed", "ringing", "answered"]);
    await call.receive("BYE", { tag: "b" });
    expect(call.end).toEqual({ type: "bye", reason: undefined });
    expect(call.leftovers).toBe(0);
  });

  test("a fork that answers after the call has ended is released as well", async () => {
    const call = await ScriptedCall.answered();
    await call.receive("BYE");
    call.tx.lateSuccess(
      call.invite.response(200, { tag: "z", sdp: sdp(), fields: [["Contact", "<sip:z@192.0.2.30>"]] }),
    );
    await call.system.settle();
    expect(call.tx.acks.at(-1)?.request.uri).toBe("sip:z@192.0.2.30");
    expect(call.tx.last("BYE").request.uri).toBe("sip:z@192.0.2.30");
    call.tx.last("BYE").respond(200);
    expect(call.leftovers).toBe(0);
  });

  test("plays the audio of the latest fork, and reports early media once", async () => {
    const call = await ScriptedCall.placed();
    call.invite.respond(183, { tag: "a", sdp: sdp("sendrecv", 4000) });
    call.invite.respond(183, { tag: "b", sdp: sdp("sendrecv", 4002) });
    expect(call.negotiator.log).toEqual(["offer", "early", "early"]);
    expect(call.log).toEqual(["placed", "early media"]);
  });

  test("a BYE from a fork before the answer ends the call only for the last fork", async () => {
    const call = await ScriptedCall.placed();
    for (const tag of ["a", "b"]) call.invite.respond(180, { tag });
    expect((await call.receive("BYE", { tag: "a" })).status).toBe(200);
    expect(call.end).toBeUndefined();
    expect((await call.receive("BYE", { tag: "b" })).status).toBe(200);
    expect(call.end?.type).toBe("bye");
    expect(call.invite.cancelReason).toBe("");
    expect(call.leftovers).toBe(0);
  });

  test("a 199 ends one fork and does not count as ringing", async () => {
    const call = await ScriptedCall.placed();
    call.invite.respond(180, { tag: "a" });
    call.invite.respond(199, { tag: "a" });
    expect((await call.receive("INFO", { tag: "a" })).status).toBe(481);
    expect(call.log).toEqual(["placed", "ringing"]);
  });

  test("a 199 counts as progress, since the failed fork may have rung", async () => {
    const call = await ScriptedCall.placed();
    call.invite.respond(199, { tag: "a" });
    call.invite.respond(486);
    expect(call.end).toMatchObject({ type: "rejected", hasRung: false, hasProgressed: true, neverRang: false });
  });

  test("a flood of forks is bounded, and any of them can answer", async () => {
    const call = await ScriptedCall.placed();
    for (let fork = 0; fork < 500; fork++) call.invite.respond(180, { tag: `f${fork}` });
    expect((await call.receive("INFO", { tag: "f15" })).status).toBe(200);
    expect((await call.receive("INFO", { tag: "f16" })).status).toBe(481);
    call.accept({ tag: "f400" });
    expect(call.log).toEqual(["placed", "ringing", "answered"]);
  });

  test("a 180 without a To tag is reported", async () => {
    const call = await ScriptedCall.placed();
    call.invite.respond(180);
    expect(call.log).toEqual(["placed", "ringing"]);
  });
});
