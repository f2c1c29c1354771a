import { describe, expect, test } from "vitest";
import { RESTRICTION_MS } from "../../../../../adapters/telephony/whatsapp/session/flow/reconnects.ts";
import { decideSession } from "../../../../../adapters/telephony/whatsapp/session/flow/session-flow.ts";
import { healthOf } from "../../../../../adapters/telephony/whatsapp/session/flow/session-health.ts";
import type { SessionFlow } from "../../../../../adapters/telephony/whatsapp/session/flow/session-transitions.ts";
import { closeInput, DOWN, decideAll, effectNames, effectsOf, FLOWS, momentAt, ONLINE_STATE } from "./flows.ts";

/** Each test is a row of the table that maps client signals to instance states. */
describe("a client signal", () => {
  test("auth_qr: codes count from 1, each with the client's duration, and replace each other", () => {
    const first = decideAll(FLOWS.idle, { type: "link" }, { type: "qr", qr: "a", ttlMs: 60_000 });
    expect(effectsOf(first, "show_code")).toEqual([{ do: "show_code", qr: "a", ttlMs: 60_000, sequence: 1 }]);
    const second = decideAll(first.flow, { type: "qr", qr: "b", ttlMs: 20_000 });
    expect(effectsOf(second, "show_code")).toEqual([{ do: "show_code", qr: "b", ttlMs: 20_000, sequence: 2 }]);
    expect(effectsOf(second, "start_timer")).toEqual([{ do: "start_timer", timer: "timeout", ms: 21_000 }]);
  });

  test("auth_qr: a timer after the last code reports qr_expired", () => {
    const decision = decideAll(FLOWS.linking, { type: "timer", timer: "timeout" });
    expect(decision.flow.state).toBe("idle");
    expect(effectNames(decision)).toEqual(["calls_lost", "drop_client", "forget", "report_condition"]);
    expect(effectsOf(decision, "report_condition")[0]?.condition).toBe("qr_expired");
  });

  test("auth_qr: the next request for a code starts again with a fresh client and sequence 1", () => {
    const decision = decideAll(FLOWS.linking, { type: "timer", timer: "timeout" });
    const afterRelink = decideAll(decision.flow, { type: "link" });
    expect(effectNames(afterRelink)).toEqual(["report_condition", "open_client"]);
    expect(effectsOf(afterRelink, "report_condition")[0]?.condition).toBeUndefined();
    const code = decideAll(afterRelink.flow, { type: "qr", qr: "c", ttlMs: 60_000 });
    expect(effectsOf(code, "show_code")[0]?.sequence).toBe(1);
  });

  test("auth_paired: the link is stored before anything is reported, then the open connection is online", () => {
    const afterPairing = decideAll(FLOWS.linking, { type: "paired", phone: "+5511987654321" });
    expect(effectNames(afterPairing)).toEqual(["store_link"]);
    const afterOpening = decideAll(afterPairing.flow, { type: "opened", ...ONLINE_STATE });
    expect(afterOpening.flow.state).toBe("online");
    expect(effectNames(afterOpening)).not.toContain("report_online");
    expect(healthOf(afterOpening.flow)).toEqual({ state: "offline", reason: "the link is being stored" });
    const afterStoring = decideAll(afterOpening.flow, { type: "link_stored" });
    expect(effectNames(afterStoring)).toEqual(["report_online"]);
    expect(healthOf(afterStoring.flow)).toEqual({ state: "online" });
  });

  test("auth_paired: the connection may also open after the link is stored", () => {
    const afterStoring = decideAll(FLOWS.linking, { type: "paired", phone: null }, { type: "link_stored" });
    expect(effectNames(afterStoring)).toEqual([]);
    expect(effectNames(decideAll(afterStoring.flow, { type: "opened", ...ONLINE_STATE }))).toEqual([
      "report_online",
      "calls_restored",
    ]);
  });

  test("auth_paired: a link that the core refuses is removed at WhatsApp", () => {
    const afterRefusal = decideAll(FLOWS.linking, { type: "paired", phone: null }, { type: "link_refused" });
    expect(afterRefusal.flow.state).toBe("idle");
    expect(effectNames(afterRefusal)).toEqual(["calls_lost", "log_out", "forget"]);
  });

  test("a new client on the same records connects at once, without a code", () => {
    const afterResume = decideAll(FLOWS.idle, { type: "resume" });
    expect(effectNames(afterResume)).toEqual(["connect"]);
    expect(effectNames(decideAll(afterResume.flow, { type: "opened", ...ONLINE_STATE }))).toEqual([
      "report_online",
      "calls_restored",
    ]);
  });

  test("raw socket drop: offline at once, and the client is disconnected before it logs in", () => {
    const afterDrop = decideAll(FLOWS.online, { type: "state", ...DOWN });
    expect(afterDrop.flow.state).toBe("waiting");
    expect(effectNames(afterDrop)).toEqual(["disconnect", "report_offline", "calls_lost"]);
    expect(effectsOf(afterDrop, "calls_lost")[0]?.isPermanent).toBe(false);
  });

  test("raw socket drop in a call: the client may reconnect itself", () => {
    const afterDrop = decideSession(FLOWS.online, { type: "state", ...DOWN }, momentAt(9_000, { inCall: true }));
    expect(afterDrop.flow.state).toBe("dropped");
    expect(effectNames(afterDrop)).toEqual(["report_offline", "calls_lost"]);
    const afterReconnection = decideAll(afterDrop.flow, { type: "state", ...ONLINE_STATE });
    expect(afterReconnection.flow.state).toBe("online");
    expect(effectNames(afterReconnection)).toEqual(["report_online", "calls_restored"]);
  });

  test("raw socket drop in a call: a client that does not return within the grace period is reconnected", () => {
    const afterTimeout = decideAll(FLOWS.dropped, { type: "timer", timer: "timeout" });
    expect(afterTimeout.flow.state).toBe("waiting");
    expect(effectNames(afterTimeout)).toEqual(["disconnect", "report_offline", "calls_lost"]);
    const afterRetry = decideAll(afterTimeout.flow, { type: "timer", timer: "retry" });
    expect(afterRetry.flow.state).toBe("connecting");
    expect(effectNames(afterRetry)).toEqual(["connect"]);
  });

  const RESUMES = closeInput("stream_error_force_login", false, 515);

  test.each(["linking", "connecting", "dropped"] as const)("515: a %s session logs in once", (state) => {
    const first = decideAll(FLOWS[state], RESUMES);
    expect(first).toMatchObject({ flow: { state }, effects: [] });
    const second = decideSession(first.flow, RESUMES, momentAt(5_000));
    expect(effectNames(second)).toContain("disconnect");
    expect(effectsOf(second, "start_timer").map(({ timer }) => timer)).toEqual(["retry"]);
  });

  test.each(["waiting", "halted"] as const)("515: a %s session does not let the client log in", (state) => {
    expect(decideAll(FLOWS[state], RESUMES)).toEqual({ flow: FLOWS[state], effects: [{ do: "disconnect" }] });
  });

  test("515: an online session is not reported as offline while it reconnects", () => {
    const afterClose = decideAll(FLOWS.online, RESUMES, { type: "state", ...DOWN });
    expect(afterClose.flow.state).toBe("online");
    expect(afterClose.effects).toEqual([]);
    const afterReconnection = decideAll(afterClose.flow, { type: "opened", ...ONLINE_STATE });
    expect(afterReconnection).toMatchObject({ flow: { state: "online", resumingSince: undefined }, effects: [] });
  });

  test("515: an unaccepted login or a socket closed for 4 s is a drop", () => {
    const afterForcedLogin = decideAll(FLOWS.online, RESUMES);
    expect(effectsOf(afterForcedLogin, "start_timer")).toEqual([{ do: "start_timer", timer: "timeout", ms: 10_000 }]);
    const opening = { type: "state", ...DOWN, isOpen: true } as const;
    expect(decideSession(afterForcedLogin.flow, opening, momentAt(10_900)).effects).toEqual([]);
    expect(decideSession(afterForcedLogin.flow, { type: "state", ...DOWN }, momentAt(4_900)).effects).toEqual([]);
    expect(effectNames(decideSession(afterForcedLogin.flow, { type: "state", ...DOWN }, momentAt(5_000)))).toContain(
      "disconnect",
    );
    const afterTimeout = decideAll(afterForcedLogin.flow, { type: "timer", timer: "timeout" });
    expect(effectNames(afterTimeout)).toEqual(["poll_state"]);
    expect(effectNames(decideAll(afterTimeout.flow, { type: "state", ...DOWN }))).toContain("disconnect");
  });

  test.each(["connecting", "online", "dropped", "waiting"] as const)(
    "stream_error_replaced: a %s session halts, keeps its keys and does not connect again",
    (state) => {
      const afterReplacement = decideAll(FLOWS[state], closeInput("stream_error_replaced"));
      expect(afterReplacement.flow.state).toBe("halted");
      expect(effectNames(afterReplacement)).toEqual([
        "disconnect",
        "report_offline",
        "report_condition",
        "calls_lost",
        "log",
      ]);
      expect(effectsOf(afterReplacement, "report_condition")[0]?.condition).toBe("replaced");
      expect(effectsOf(afterReplacement, "report_offline")[0]?.lasting).toBe(true);
      expect(effectsOf(afterReplacement, "start_timer")).toEqual([]);
      for (const timer of ["retry", "timeout"] as const)
        expect(decideAll(afterReplacement.flow, { type: "timer", timer })).toEqual({
          flow: afterReplacement.flow,
          effects: [],
        });
    },
  );

  test("stream_error_replaced: a request for a code connects again", () => {
    expect(effectNames(decideAll(FLOWS.halted, { type: "link" }))).toEqual(["connect"]);
  });

  test.each([
    ["stream_error_device_removed", undefined, "the device was removed from the linked devices on the phone"],
    ["failure_not_authorized", 401, "WhatsApp no longer knows this device (401)"],
    ["failure_locked", 403, "WhatsApp has locked the account (403)"],
    ["failure_banned", 406, "WhatsApp has banned the number (406)"],
    ["stream_error_force_logout", 516, "WhatsApp has logged this device out (516)"],
    ["primary_identity_key_change", undefined, "WhatsApp was set up again on the phone"],
    ["something_new", 499, "WhatsApp has unlinked this device (something_new, 499)"],
  ])("%s: the number is unlinked with its reason, the client dropped and its keys erased", (reason, code, sentence) => {
    for (const state of ["linking", "connecting", "online", "dropped", "waiting", "halted"] as const) {
      const afterUnlink = decideAll(FLOWS[state], closeInput(reason, true, code));
      expect(afterUnlink.flow.state).toBe("idle");
      expect(effectNames(afterUnlink)).toEqual(["report_unlinked", "calls_lost", "drop_client", "forget", "log"]);
      expect(effectsOf(afterUnlink, "report_unlinked")).toEqual([{ do: "report_unlinked", reason: sentence }]);
      expect(effectsOf(afterUnlink, "calls_lost")[0]?.isPermanent).toBe(true);
    }
  });

  test("402: the number is restricted, and disconnected, until the end that WhatsApp names", () => {
    for (const state of ["connecting", "online", "dropped"] as const) {
      const afterRestriction = decideAll(FLOWS[state], { type: "failure", code: 402, expiresInMs: 7_200_000 });
      const reason = "WhatsApp has restricted the number until 2026-01-01 02:00 UTC (402)";
      expect(afterRestriction.flow.state).toBe("waiting");
      expect(healthOf(afterRestriction.flow)).toEqual({ state: "offline", reason });
      expect(effectNames(afterRestriction)).toEqual([
        "disconnect",
        "report_offline",
        "report_condition",
        "calls_lost",
        "log",
      ]);
      expect(effectsOf(afterRestriction, "report_offline")).toEqual([{ do: "report_offline", reason, lasting: false }]);
      expect(effectsOf(afterRestriction, "start_timer")).toEqual([
        { do: "start_timer", timer: "retry", ms: 7_205_000 },
      ]);
    }
  });

  test("402: a restriction without an end is checked after 8 to 9 h, then twice as late", () => {
    let flow: SessionFlow = FLOWS.connecting;
    for (const factor of [1, 2, 4]) {
      const afterRestriction = decideAll(flow, { type: "failure", code: 402, expiresInMs: undefined });
      expect(effectsOf(afterRestriction, "start_timer")[0]?.ms).toBe(RESTRICTION_MS * factor * (1 + 0.5 / 8));
      const afterRetry = decideAll(afterRestriction.flow, { type: "timer", timer: "retry" });
      expect(effectNames(afterRetry)).toEqual(["connect"]);
      expect(healthOf(afterRetry.flow)).toMatchObject({ state: "offline", reason: expect.stringContaining("(402)") });
      flow = afterRetry.flow;
    }
    const afterOpening = decideAll(flow, { type: "opened", ...ONLINE_STATE });
    expect(healthOf(afterOpening.flow)).toEqual({ state: "online" });
    const secondRestriction = decideAll(afterOpening.flow, { type: "failure", code: 402, expiresInMs: undefined });
    expect(effectsOf(secondRestriction, "start_timer")[0]?.ms).toBe(RESTRICTION_MS * (1 + 0.5 / 8));
  });

  test("402: repeated end times from WhatsApp do not each cause a login", () => {
    let flow: SessionFlow = FLOWS.connecting;
    const waits: number[] = [];
    for (let round = 0; round < 4; round++) {
      const afterRestriction = decideAll(flow, { type: "failure", code: 402, expiresInMs: 1_000 });
      waits.push(effectsOf(afterRestriction, "start_timer")[0]?.ms ?? 0);
      flow = decideAll(afterRestriction.flow, { type: "timer", timer: "retry" }).flow;
    }
    expect(waits).toEqual([90_000, 180_000, 360_000, 720_000]);
  });

  test("402: the restriction ends when another attempt fails for another reason", () => {
    const afterRestriction = decideAll(FLOWS.online, { type: "failure", code: 402, expiresInMs: 60_000 });
    const afterFailure = decideAll(
      afterRestriction.flow,
      { type: "timer", timer: "retry" },
      { type: "failed", reason: "no network" },
    );
    expect(healthOf(afterFailure.flow)).toEqual({ state: "offline", reason: "no network" });
    expect(effectsOf(afterFailure, "report_condition")).toEqual([
      { do: "report_condition", condition: undefined, reason: "no network" },
    ]);
  });

  test.each([
    ["stream_error_replaced", "replaced"],
    ["failure_bad_user_agent", undefined],
  ])(
    "402: the restriction ends when the next login ends with %s, and a request connects again",
    (reason, condition) => {
      const afterRestriction = decideAll(FLOWS.online, { type: "failure", code: 402, expiresInMs: 60_000 });
      const afterRetry = decideAll(afterRestriction.flow, { type: "timer", timer: "retry" }, { type: "login" });
      const afterHalt = decideAll(afterRetry.flow, closeInput(reason));
      expect(healthOf(afterHalt.flow)).toMatchObject({ lasting: true, reason: expect.not.stringContaining("(402)") });
      expect(effectsOf(afterHalt, "report_offline")[0]?.lasting).toBe(true);
      expect(effectsOf(afterHalt, "report_condition")).toEqual([
        { do: "report_condition", condition, reason: afterHalt.flow.reason },
      ]);
      expect(effectNames(decideAll(afterHalt.flow, { type: "link" }))).toEqual(["connect"]);
    },
  );

  test.each([
    [408, "WhatsApp refused the login (408)", 90_000],
    [440, "WhatsApp refused the login (440)", 90_000],
    [undefined, "WhatsApp refused the login without a code", 90_000],
    [500, "WhatsApp has an internal error (500)", 1_000],
  ])("%s: the client is disconnected before it logs in again", (code, reason, ms) => {
    for (const state of ["connecting", "online", "dropped"] as const) {
      const afterRefusal = decideAll(FLOWS[state], { type: "failure", code, expiresInMs: undefined });
      expect(effectNames(afterRefusal)).toEqual(["disconnect", "report_offline", "calls_lost"]);
      expect(healthOf(afterRefusal.flow)).toEqual({ state: "offline", reason });
      expect(effectsOf(afterRefusal, "start_timer")).toEqual([{ do: "start_timer", timer: "retry", ms }]);
    }
    for (const state of ["waiting", "halted"] as const)
      expect(effectNames(decideAll(FLOWS[state], { type: "failure", code, expiresInMs: undefined }))).toEqual([
        "disconnect",
      ]);
  });

  test("402 while linking ends with its condition", () => {
    const afterRefusal = decideAll(FLOWS.linking, { type: "failure", code: 402, expiresInMs: undefined });
    expect(afterRefusal.flow.state).toBe("idle");
    expect(effectsOf(afterRefusal, "report_condition")[0]?.condition).toBe("restricted");
  });

  test("405: the client is outdated: a lasting fault, an error in the log, and a long wait with all keys", () => {
    const afterRefusal = decideAll(FLOWS.online, closeInput("failure_client_too_old", false, 405));
    expect(effectNames(afterRefusal)).toEqual(["report_offline", "report_condition", "log", "calls_lost"]);
    expect(effectsOf(afterRefusal, "report_offline")[0]?.lasting).toBe(true);
    expect(effectsOf(afterRefusal, "report_condition")[0]?.condition).toBe("client_outdated");
    expect(effectsOf(afterRefusal, "log")[0]?.level).toBe("error");
    expect(effectsOf(afterRefusal, "start_timer")[0]?.ms).toBeGreaterThanOrEqual(15 * 60_000);
    expect(effectNames(decideAll(afterRefusal.flow, { type: "link" }))).toEqual(["connect"]);
  });

  test("405: the fault remains during the next attempt, and ends with a connection", () => {
    const afterRetry = decideAll(FLOWS.online, closeInput("failure_client_too_old", false, 405), {
      type: "timer",
      timer: "retry",
    });
    expect(healthOf(afterRetry.flow)).toMatchObject({ state: "offline", lasting: true });
    expect(healthOf(decideAll(afterRetry.flow, { type: "opened", ...ONLINE_STATE }).flow)).toEqual({ state: "online" });
  });

  test("405 after a failed connection is still detected", () => {
    const afterRefusal = decideAll(
      FLOWS.connecting,
      { type: "failed", reason: "the WhatsApp client could not connect" },
      closeInput("failure_client_too_old", false, 405),
    );
    expect(healthOf(afterRefusal.flow)).toMatchObject({ state: "offline", lasting: true });
  });

  test("503: the session waits up to 2 s, doubled up to 5 min, and keeps its keys", () => {
    let { flow } = decideAll(FLOWS.online, closeInput("failure_service_unavailable", false, 503));
    const maxWaits: number[] = [];
    for (let attempt = 0; attempt < 10; attempt++) {
      flow = decideSession(flow, { type: "timer", timer: "retry" }, momentAt(0)).flow;
      const afterClose = decideSession(
        flow,
        closeInput("failure_service_unavailable", false, 503),
        momentAt(0, { chance: 1 }),
      );
      maxWaits.push(effectsOf(afterClose, "start_timer")[0]?.ms ?? 0);
      expect(effectNames(afterClose)).toEqual(["report_offline", "calls_lost"]);
      flow = afterClose.flow;
    }
    expect(maxWaits).toEqual([4, 8, 16, 32, 64, 128, 256, 300, 300, 300].map((seconds) => seconds * 1_000));
  });

  test("503: the wait is random, from zero", () => {
    for (const chance of [0, 0.25, 1]) {
      const afterClose = decideSession(
        FLOWS.online,
        closeInput("failure_service_unavailable", false, 503),
        momentAt(5_000, { chance }),
      );
      expect(effectsOf(afterClose, "start_timer")[0]?.ms).toBe(2_000 * chance);
    }
  });

  test("409: a lasting fault with its reason, and no further attempt", () => {
    const afterRefusal = decideAll(FLOWS.online, closeInput("failure_bad_user_agent", false, 409));
    expect(afterRefusal.flow.state).toBe("halted");
    expect(effectsOf(afterRefusal, "report_condition")).toEqual([]);
    expect(healthOf(afterRefusal.flow)).toMatchObject({ lasting: true, reason: expect.stringContaining("(409)") });
  });

  test("auth_passkey_required without a signer: the attempt ends, and the condition explains why", () => {
    const decision = decideAll(FLOWS.linking, { type: "passkey", hasSigner: false });
    expect(decision.flow.state).toBe("idle");
    expect(effectsOf(decision, "report_condition")[0]).toMatchObject({
      condition: "passkey_required",
      reason: expect.stringContaining("passkey"),
    });
  });

  test("auth_passkey_required with a signer: the attempt continues", () => {
    expect(decideAll(FLOWS.linking, { type: "passkey", hasSigner: true }).flow).toEqual(FLOWS.linking);
  });

  test("auth_qr on a linked session: its keys are lost, so it is unlinked", () => {
    const afterUnlink = decideAll(FLOWS.connecting, { type: "qr", qr: "x", ttlMs: 60_000 });
    expect(effectsOf(afterUnlink, "report_unlinked")[0]?.reason).toBe("the keys of this device are lost");
  });
});
