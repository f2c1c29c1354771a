import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  FLAP_WINDOW_MS,
  MAX_FLAPS,
  MAX_LOGINS,
} from "../../../../../../adapters/telephony/whatsapp/session/flow/reconnects.ts";
import { decideSession } from "../../../../../../adapters/telephony/whatsapp/session/flow/session-flow.ts";
import {
  healthOf,
  isLinked,
  NEW_SESSION,
} from "../../../../../../adapters/telephony/whatsapp/session/flow/session-health.ts";
import {
  SESSION_STATES,
  type SessionDecision,
  type SessionFlow,
  type SessionInput,
} from "../../../../../../adapters/telephony/whatsapp/session/flow/session-transitions.ts";
import { DEADLINE_PASSED } from "../../../../../../src/ports/telephony.ts";
import { closeInput, DOWN, decideAll, effectNames, effectsOf, FLOWS, momentAt, ONLINE_STATE } from "../flows.ts";

describe("a session", () => {
  test("starts idle, and reaches every state", () => {
    for (const state of SESSION_STATES) expect(FLOWS[state].state).toBe(state);
  });

  test("links only from idle, and once", () => {
    expect(effectNames(decideAll(FLOWS.idle, { type: "link" }))).toEqual(["open_client"]);
    for (const state of ["linking", "connecting", "online", "dropped", "waiting", "closed"] as const)
      expect(decideAll(FLOWS[state], { type: "link" })).toEqual({ flow: FLOWS[state], effects: [] });
  });

  test("does not connect on request without the lease", () => {
    const outdatedFlow = decideAll(FLOWS.online, closeInput("failure_client_too_old", false, 405)).flow;
    for (const flow of [FLOWS.idle, FLOWS.halted, outdatedFlow])
      expect(decideSession(flow, { type: "link" }, momentAt(9_000, { isOwner: false }))).toEqual({ flow, effects: [] });
  });

  test("attributes up to three takeovers in ten minutes to its own lingering client", () => {
    const replacement = closeInput("stream_error_replaced");
    expect(decideSession(FLOWS.online, replacement, momentAt(0)).flow.state).toBe("halted");
    let flow: SessionFlow = FLOWS.online;
    for (const minute of [0, 3, 6]) {
      const now = minute * 60_000;
      flow = decideSession(flow, replacement, momentAt(now, { hasStrays: true })).flow;
      expect(flow).toMatchObject({ state: "waiting", isLasting: false });
      flow = decideSession(flow, { type: "timer", timer: "retry" }, momentAt(now + 1)).flow;
      flow = decideSession(flow, { type: "opened", ...ONLINE_STATE }, momentAt(now + 2)).flow;
    }
    expect(decideSession(flow, replacement, momentAt(9 * 60_000, { hasStrays: true })).flow.state).toBe("halted");
    expect(decideSession(flow, replacement, momentAt(11 * 60_000, { hasStrays: true })).flow.state).toBe("waiting");
  });

  test("is online only if the connection is reported open and the client is registered", () => {
    expect(decideAll(FLOWS.connecting, { type: "state", ...ONLINE_STATE }).flow.state).toBe("connecting");
    const afterOpening = decideAll(FLOWS.connecting, { type: "opened", ...ONLINE_STATE, registered: false });
    expect(afterOpening.flow.state).toBe("connecting");
    expect(decideAll(afterOpening.flow, { type: "state", ...ONLINE_STATE }).flow.state).toBe("online");
  });

  test("a socket that closes before WhatsApp accepts the login is not left to the client", () => {
    const { flow } = decideAll(FLOWS.connecting, { type: "opened", ...ONLINE_STATE, connected: false });
    expect(flow.state).toBe("connecting");
    const afterClose = decideAll(flow, { type: "state", ...DOWN });
    expect(afterClose.flow).toMatchObject({ state: "waiting", reason: "the connection to WhatsApp dropped" });
    expect(effectNames(afterClose)).toContain("disconnect");
  });

  test("an accepted login without a request counts; a second one within a minute ends the connection", () => {
    const afterLogin = decideAll(
      FLOWS.connecting,
      { type: "opened", ...ONLINE_STATE },
      { type: "accepted", ...ONLINE_STATE },
    );
    expect(afterLogin.flow).toMatchObject({ state: "online", reconnects: { logins: [2_000] } });
    const first = decideSession(afterLogin.flow, { type: "accepted", ...ONLINE_STATE }, momentAt(10_000));
    expect(first).toMatchObject({ effects: [], flow: { state: "online", reconnects: { logins: [2_000, 10_000] } } });
    const second = decideSession(first.flow, { type: "accepted", ...ONLINE_STATE }, momentAt(20_000));
    expect(second.flow).toMatchObject({ state: "waiting", reconnects: { logins: [2_000, 10_000, 20_000] } });
    expect(effectNames(second)).toContain("disconnect");
    for (const state of ["waiting", "halted"] as const) {
      const afterUnrequestedLogin = decideAll(FLOWS[state], { type: "accepted", ...ONLINE_STATE });
      expect(effectNames(afterUnrequestedLogin)).toEqual(["disconnect"]);
      expect(afterUnrequestedLogin.flow.state).toBe(state);
      expect(afterUnrequestedLogin.flow.reconnects.logins.at(-1)).toBe(1_000);
    }
  });

  test("a stream error during a login ends it", () => {
    const afterError = decideAll(
      FLOWS.connecting,
      { type: "opened", ...ONLINE_STATE, connected: false },
      { type: "stream_error", code: 503 },
    );
    expect(afterError.flow).toMatchObject({ state: "waiting", reason: "WhatsApp has ended the connection (503)" });
    expect(effectNames(afterError)).toContain("disconnect");
  });

  test("counts each login of a client that reopens its socket in a call, and allows three", () => {
    const momentInCall = { inCall: true };
    let flow: SessionFlow = FLOWS.dropped;
    const states: string[] = [];
    for (let round = 1; round <= 4; round++) {
      flow = decideSession(
        flow,
        { type: "state", ...ONLINE_STATE, connected: false },
        momentAt(round * 3_000, momentInCall),
      ).flow;
      flow = decideSession(flow, { type: "state", ...DOWN }, momentAt(round * 3_000 + 1_000, momentInCall)).flow;
      flow = decideSession(flow, { type: "state", ...DOWN }, momentAt(round * 3_000 + 2_000, momentInCall)).flow;
      states.push(flow.state);
    }
    expect(states).toEqual(["dropped", "dropped", "dropped", "waiting"]);
    expect(flow.reconnects.logins).toHaveLength(FLOWS.dropped.reconnects.logins.length + 3);
  });

  test("an outage before any code is retried, and its reason is kept", () => {
    const failedLink = decideAll(
      FLOWS.idle,
      { type: "link" },
      { type: "failed", reason: "the WhatsApp client could not connect" },
    );
    expect(failedLink.flow).toMatchObject({ state: "linking", reason: "the WhatsApp client could not connect" });
    expect(effectNames(decideAll(failedLink.flow, { type: "timer", timer: "retry" }))).toEqual(["connect"]);
  });

  test("without any code within a minute, linking ends without a condition", () => {
    const linking = decideAll(FLOWS.idle, { type: "link" });
    expect(effectsOf(linking, "start_timer")[0]?.ms).toBe(60_000);
    const decision = decideAll(linking.flow, { type: "timer", timer: "timeout" });
    expect(effectsOf(decision, "report_condition")).toEqual([
      { do: "report_condition", condition: undefined, reason: "WhatsApp sent no code" },
    ]);
  });

  test("a pairing code is a condition, and keeps the attempt alive beyond the last code", () => {
    const withPairingCode = decideAll(FLOWS.linking, { type: "pairing_code", ttlMs: 180_000 });
    expect(effectsOf(withPairingCode, "report_condition")[0]?.condition).toBe("pairing_code");
    expect(effectsOf(withPairingCode, "start_timer")[0]?.ms).toBe(181_000);
    const code = decideAll(withPairingCode.flow, { type: "qr", qr: "b", ttlMs: 20_000 });
    expect(effectsOf(code, "start_timer")[0]?.ms).toBe(181_000);
  });

  test("an expired pairing code clears the condition", () => {
    const withPairingCode = decideAll(FLOWS.linking, { type: "pairing_code", ttlMs: 180_000 });
    const decision = decideAll(withPairingCode.flow, { type: "pairing_code_expired" });
    expect(effectsOf(decision, "report_condition")[0]).toMatchObject({ condition: undefined });
    expect(decideAll(FLOWS.linking, { type: "pairing_code_expired" })).toEqual({ flow: FLOWS.linking, effects: [] });
  });

  test("a connection that does not open in time is closed and tried again", () => {
    const afterTimeout = decideAll(FLOWS.connecting, { type: "timer", timer: "timeout" });
    expect(afterTimeout.flow).toMatchObject({
      state: "waiting",
      reason: "WhatsApp did not open the connection in time",
    });
    expect(effectNames(afterTimeout)).toEqual(["disconnect", "report_offline", "calls_lost"]);
  });

  test("a client that connects unasked while the session waits is accepted", () => {
    const afterOpening = decideAll(FLOWS.waiting, { type: "opened", ...ONLINE_STATE });
    expect(afterOpening.flow.state).toBe("online");
    expect(afterOpening.effects).toContainEqual({ do: "stop_timer", timer: "retry" });
  });

  test("a connection that keeps dropping waits longer, and is logged once", () => {
    let flow: SessionFlow = FLOWS.online;
    const logs: string[] = [];
    const waits: number[] = [];
    for (let round = 1; round <= 2 * MAX_FLAPS; round++) {
      const now = round * 20_000;
      const afterDrop = decideSession(
        flow,
        closeInput("failure_service_unavailable", false, 503),
        momentAt(now, { chance: 0 }),
      );
      logs.push(...effectsOf(afterDrop, "log").map(({ message }) => message));
      waits.push(effectsOf(afterDrop, "start_timer")[0]?.ms ?? -1);
      flow = decideSession(afterDrop.flow, { type: "timer", timer: "retry" }, momentAt(now + 1)).flow;
      flow = decideSession(flow, { type: "opened", ...ONLINE_STATE }, momentAt(now + 2)).flow;
    }
    expect(logs).toEqual(["the connection to WhatsApp keeps dropping"]);
    expect(waits.slice(0, MAX_FLAPS - 1)).toEqual([0, 0, 0, 0]);
    for (const wait of waits.slice(MAX_FLAPS)) expect(wait).toBeGreaterThanOrEqual(30_000);
  });

  test("an unstable socket is not left to the client, even in a call", () => {
    let flow: SessionFlow = FLOWS.online;
    const inCall = { inCall: true };
    for (let round = 1; round < MAX_FLAPS; round++) {
      flow = decideSession(flow, { type: "state", ...DOWN }, momentAt(round * 10_000, inCall)).flow;
      expect(flow.state).toBe("dropped");
      flow = decideSession(flow, { type: "state", ...ONLINE_STATE }, momentAt(round * 10_000 + 5_000, inCall)).flow;
    }
    const lastDecision = decideSession(flow, { type: "state", ...DOWN }, momentAt(MAX_FLAPS * 10_000, inCall));
    expect(lastDecision.flow.state).toBe("waiting");
    expect(effectNames(lastDecision)).toContain("disconnect");
  });

  test("logs in at most 20 times an hour, despite failures and requests", () => {
    let flow: SessionFlow = FLOWS.waiting;
    const logins: number[] = [];
    for (let now = 10_000; now < 3_600_000; now += 1_000) {
      for (const input of [{ type: "timer", timer: "retry" }, { type: "link" }] as const) {
        const attempt = decideSession(flow, input, momentAt(now, { chance: 0 }));
        flow = attempt.flow;
        if (!effectNames(attempt).includes("connect")) continue;
        flow = decideSession(flow, { type: "login" }, momentAt(now)).flow;
        logins.push(now);
        const afterRefusal = decideSession(
          flow,
          closeInput("failure_client_too_old", false, 405),
          momentAt(now, { chance: 0 }),
        );
        if (logins.length >= MAX_LOGINS)
          expect(effectsOf(afterRefusal, "start_timer")[0]?.ms).toBeGreaterThanOrEqual(3_600_000 - now);
        flow = afterRefusal.flow;
        if (input.type === "timer") break;
      }
      if (logins.length >= MAX_LOGINS) break;
    }
    expect(logins).toHaveLength(MAX_LOGINS);
  });

  test("a request beyond 20 logins in an hour is delayed until the next is allowed", () => {
    const logins = Array.from({ length: MAX_LOGINS }, (_, index) => index * 1_000);
    for (const haltedFlow of [
      FLOWS.halted,
      decideAll(FLOWS.online, closeInput("failure_client_too_old", false, 405)).flow,
    ]) {
      const { reconnects } = haltedFlow;
      const request = decideSession(
        { ...haltedFlow, reconnects: { ...reconnects, logins } },
        { type: "link" },
        momentAt(600_000),
      );
      const turn = decideSession(request.flow, { type: "login" }, momentAt(600_000));
      expect(healthOf(turn.flow)).toEqual({ state: "offline", reason: expect.stringContaining("again at 2026-01-01") });
      expect(effectsOf(turn, "start_timer")).toEqual([{ do: "start_timer", timer: "retry", ms: 3_000_000 }]);
      const afterRetry = decideSession(turn.flow, { type: "timer", timer: "retry" }, momentAt(3_600_000));
      expect(effectNames(afterRetry)).toEqual(["connect"]);
      expect(effectNames(decideSession(afterRetry.flow, { type: "login" }, momentAt(3_600_000)))).toEqual([]);
    }
  });

  test("with a lease renewed late, logs in at most 20 times an hour, and reports when it continues", () => {
    let flow: SessionFlow = FLOWS.waiting;
    let logins = 0;
    let rejectedTurn: SessionDecision | undefined;
    for (let now = 10_000; now < 3_600_000; now += 10_000) {
      const retry = decideSession(flow, { type: "timer", timer: "retry" }, momentAt(now));
      const turn = decideSession(retry.flow, { type: "login" }, momentAt(now));
      flow = turn.flow;
      if (effectNames(turn).includes("disconnect")) {
        rejectedTurn = turn;
        break;
      }
      logins++;
      for (const [input, isOwner] of [
        [{ type: "opened", ...ONLINE_STATE }, true],
        [{ type: "state", ...ONLINE_STATE }, false],
        [{ type: "timer", timer: "ownership" }, false],
      ] as const)
        flow = decideSession(flow, input, momentAt(now + 5_000, { isOwner })).flow;
    }
    expect(logins).toBe(MAX_LOGINS);
    expect(effectsOf(rejectedTurn!, "start_timer")[0]?.ms).toBe(3_600_000 - MAX_LOGINS * 10_000);
    expect(healthOf(flow)).toEqual({
      state: "offline",
      reason: "the number has logged in 20 times within an hour, and logs in again at 2026-01-01 01:00 UTC",
    });
  });

  test("an attempt that never reaches WhatsApp is not a login", () => {
    let flow: SessionFlow = FLOWS.waiting;
    for (let attempt = 0; attempt < 2 * MAX_LOGINS; attempt++) {
      flow = decideAll(flow, { type: "timer", timer: "retry" }, { type: "login" }).flow;
      const failedDecision = decideAll(flow, { type: "failed", reason: "the WhatsApp client could not connect" });
      expect(effectsOf(failedDecision, "start_timer")[0]?.ms).toBeLessThanOrEqual(5 * 60_000);
      flow = failedDecision.flow;
    }
  });

  test("the first refusal after an outage waits as usual, the second one twice as long", () => {
    const refusal: SessionInput = { type: "failure", code: 429, expiresInMs: undefined };
    const retryInputs = [{ type: "timer", timer: "retry" }, { type: "login" }] as const;
    let flow: SessionFlow = FLOWS.waiting;
    for (let attempt = 0; attempt < 9; attempt++)
      flow = decideAll(flow, ...retryInputs, { type: "failed", reason: "the WhatsApp client could not connect" }).flow;
    const waits: number[] = [];
    for (let round = 0; round < 3; round++) {
      const decision = decideAll(flow, ...retryInputs, refusal);
      waits.push(effectsOf(decision, "start_timer")[0]?.ms ?? 0);
      flow = decision.flow;
    }
    expect(waits).toEqual([90_000, 180_000, 360_000]);
    flow = decideAll(flow, ...retryInputs, { type: "opened", ...ONLINE_STATE }, refusal).flow;
    expect(flow.reconnects.refusals).toBe(1);
  });

  test("an outdated client after an outage is tried again within half an hour", () => {
    let flow: SessionFlow = FLOWS.waiting;
    for (let attempt = 0; attempt < 9; attempt++)
      flow = decideAll(flow, { type: "timer", timer: "retry" }, { type: "failed", reason: "no network" }).flow;
    const afterRefusal = decideAll(
      flow,
      { type: "timer", timer: "retry" },
      closeInput("failure_client_too_old", false, 405),
    );
    expect(effectsOf(afterRefusal, "start_timer")[0]?.ms).toBeLessThanOrEqual(30 * 60_000);
  });

  test("connections that break rarely are stable, and each resets the waits", () => {
    let flow: SessionFlow = FLOWS.online;
    for (let round = 1; round <= 3 * MAX_FLAPS; round++) {
      const now = round * (FLAP_WINDOW_MS / (MAX_FLAPS - 1));
      const afterDrop = decideSession(
        flow,
        closeInput("failure_service_unavailable", false, 503),
        momentAt(now, { chance: 1 }),
      );
      expect(effectsOf(afterDrop, "start_timer")[0]?.ms).toBe(2_000);
      flow = decideSession(afterDrop.flow, { type: "timer", timer: "retry" }, momentAt(now + 1)).flow;
      flow = decideSession(flow, { type: "opened", ...ONLINE_STATE }, momentAt(now + 2)).flow;
    }
  });

  test("a server without its lease disconnects, and ends its call", () => {
    for (const state of ["connecting", "online", "dropped"] as const) {
      const withoutLease = decideSession(
        FLOWS[state],
        { type: "state", ...ONLINE_STATE },
        momentAt(9_000, { isOwner: false }),
      );
      expect(effectNames(withoutLease)).toEqual([]);
      const afterLeaseLoss = decideSession(
        withoutLease.flow,
        { type: "timer", timer: "ownership" },
        momentAt(11_000, { isOwner: false }),
      );
      expect(afterLeaseLoss.flow).toMatchObject({ state: "waiting", reason: DEADLINE_PASSED });
      expect(effectNames(afterLeaseLoss)).toEqual(["disconnect", "report_offline", "calls_lost"]);
      expect(effectsOf(afterLeaseLoss, "calls_lost")[0]?.isPermanent).toBe(true);
    }
  });

  test("its calls hang up first, within 1 s", () => {
    const inCall = { isOwner: false, inCall: true };
    const withoutLease = decideSession(FLOWS.online, { type: "state", ...ONLINE_STATE }, momentAt(9_000, inCall));
    const afterExpiry = decideSession(
      withoutLease.flow,
      { type: "timer", timer: "ownership" },
      momentAt(11_000, inCall),
    );
    expect([afterExpiry.flow.state, effectNames(afterExpiry)]).toEqual(["online", ["end_calls"]]);
    expect(effectsOf(afterExpiry, "start_timer")).toEqual([{ do: "start_timer", timer: "ownership", ms: 1_000 }]);
    for (const [input, moment] of [
      [{ type: "calls_ended" }, momentAt(11_200, { isOwner: false })],
      [{ type: "timer", timer: "ownership" }, momentAt(12_000, inCall)],
    ] as const) {
      const afterLeaseLoss = decideSession(afterExpiry.flow, input, moment);
      expect(afterLeaseLoss.flow).toMatchObject({ state: "waiting", isDisowned: false, isEndingCalls: false });
      expect(effectNames(afterLeaseLoss)).toEqual(["disconnect", "report_offline", "calls_lost"]);
    }
    const afterRenewal = decideSession(afterExpiry.flow, { type: "calls_ended" }, momentAt(11_200));
    expect(afterRenewal).toEqual({ flow: FLOWS.online, effects: [] });
    expect(decideSession(FLOWS.online, { type: "calls_ended" }, momentAt(9_000, { isOwner: false })).effects).toEqual(
      [],
    );
  });

  test("a lease renewed late has no effect", () => {
    const withoutLease = decideSession(
      FLOWS.online,
      { type: "state", ...ONLINE_STATE },
      momentAt(9_000, { isOwner: false }),
    );
    expect(
      decideSession(withoutLease.flow, { type: "state", ...ONLINE_STATE }, momentAt(9_500, { isOwner: false })).effects,
    ).toEqual([]);
    const afterRenewal = decideSession(withoutLease.flow, { type: "timer", timer: "ownership" }, momentAt(11_000));
    expect(afterRenewal).toEqual({ flow: FLOWS.online, effects: [] });
  });

  test("a dropped socket is still detected", () => {
    const afterDrop = decideSession(
      FLOWS.online,
      { type: "state", ...DOWN },
      momentAt(9_000, { isOwner: false, inCall: true }),
    );
    expect(afterDrop.flow.state).toBe("dropped");
    expect(effectNames(afterDrop)).toEqual(["report_offline", "calls_lost"]);
    expect(effectsOf(afterDrop, "start_timer").map(({ timer }) => timer)).toEqual(["ownership", "timeout"]);
  });

  test("a server without its lease does not connect until it has one", () => {
    const afterOpening = decideSession(
      FLOWS.connecting,
      { type: "opened", ...ONLINE_STATE },
      momentAt(9_000, { isOwner: false }),
    );
    expect(afterOpening.flow.state).toBe("waiting");
    expect(effectNames(afterOpening)).toContain("disconnect");
    const afterRetry = decideSession(
      afterOpening.flow,
      { type: "timer", timer: "retry" },
      momentAt(10_000, { isOwner: false }),
    );
    expect(effectNames(afterRetry)).toEqual([]);
    expect(effectsOf(afterRetry, "start_timer")).toHaveLength(1);
    expect(effectNames(decideSession(afterOpening.flow, { type: "timer", timer: "retry" }, momentAt(11_000)))).toEqual([
      "connect",
    ]);
    expect(effectNames(decideSession(FLOWS.idle, { type: "link" }, momentAt(0, { isOwner: false })))).toEqual([]);
  });

  test("a drop right after a 515 is still detected", () => {
    const forceLogin = closeInput("stream_error_force_login", false, 515);
    const { flow } = decideAll(FLOWS.online, forceLogin, closeInput("failure_service_unavailable", false, 503));
    const afterReconnection = decideAll(flow, { type: "timer", timer: "retry" }, { type: "opened", ...ONLINE_STATE });
    expect(effectNames(decideAll(afterReconnection.flow, { type: "state", ...DOWN }))).toContain("disconnect");
  });

  test("unlinking removes the device, forgets its keys and ends the call, in every state", () => {
    for (const state of SESSION_STATES.filter((sessionState) => sessionState !== "closed")) {
      const afterUnlink = decideAll(FLOWS[state], { type: "unlink" });
      const clientEffect = isLinked(FLOWS[state]) ? "log_out" : "drop_client";
      expect(effectNames(afterUnlink)).toEqual(["calls_lost", clientEffect, "forget"]);
      expect(afterUnlink.flow).toEqual(NEW_SESSION);
    }
  });

  test("closing drops the client, keeps its keys, and ignores later inputs, in every state", () => {
    for (const state of SESSION_STATES.filter((sessionState) => sessionState !== "closed")) {
      const afterClosing = decideAll(FLOWS[state], { type: "close" });
      expect(effectNames(afterClosing)).toEqual(["calls_lost", "drop_client"]);
      expect(healthOf(afterClosing.flow)).toEqual({ state: "offline", reason: "closed" });
      expect(
        decideAll(afterClosing.flow, { type: "link" }, { type: "resume" }, { type: "opened", ...ONLINE_STATE }).effects,
      ).toEqual([]);
    }
  });
});

const liveState = fc.record({ isOpen: fc.boolean(), connected: fc.boolean(), registered: fc.boolean() });
const reasons = fc.constantFrom(
  "client_disconnected",
  "comms_stopped",
  "stream_error_replaced",
  "stream_error_other",
  "stream_error_force_login",
  "failure_client_too_old",
  "failure_bad_user_agent",
  "failure_service_unavailable",
  "__proto__",
  "",
);
const harmlessInput: fc.Arbitrary<SessionInput> = fc.oneof(
  fc.constantFrom<SessionInput>(
    { type: "link" },
    { type: "pairing_code_expired" },
    { type: "link_stored" },
    { type: "calls_ended" },
    { type: "passkey", hasSigner: true },
    { type: "timer", timer: "timeout" },
    { type: "timer", timer: "retry" },
    { type: "login" },
    { type: "failed", reason: "why" },
    { type: "paired", phone: null },
    { type: "pairing_code", ttlMs: 180_000 },
  ),
  liveState.map((state) => ({ type: "state" as const, ...state })),
  liveState.map((state) => ({ type: "opened" as const, ...state })),
  liveState.map((state) => ({ type: "accepted" as const, ...state })),
  fc.constantFrom(503, undefined).map((code) => ({ type: "stream_error" as const, code })),
  reasons.map((reason) => closeInput(reason)),
  fc.record({
    type: fc.constant("failure" as const),
    code: fc.constantFrom(402, 500, undefined),
    expiresInMs: fc.constantFrom(undefined, 60_000),
  }),
);
const steps = fc.array(
  fc.tuple(harmlessInput, fc.nat(120_000), fc.double({ min: 0, max: 1, noNaN: true }), fc.boolean()),
  {
    maxLength: 60,
  },
);

describe("in any order of events", () => {
  test("only a logout deletes a linked number's keys, and no reason is lost", () => {
    fc.assert(
      fc.property(steps, (stepList) => {
        let { flow } = decideAll(NEW_SESSION, { type: "resume" });
        let now = 0;
        for (const [input, ms, chance, isOwner] of stepList) {
          now += ms;
          const decision = decideSession(flow, input, momentAt(now, { chance, isOwner }));
          expect(effectNames(decision)).not.toContain("forget");
          expect(effectNames(decision)).not.toContain("report_unlinked");
          flow = decision.flow;
          expect(isLinked(flow)).toBe(true);
          expect(flow.reason === null).toBe(flow.state === "online");
        }
      }),
    );
  });

  test("a halted session never connects on its own", () => {
    fc.assert(
      fc.property(steps, (stepList) => {
        let flow: SessionFlow = FLOWS.halted;
        let now = 0;
        for (const [input, ms, chance, isOwner] of stepList) {
          now += ms;
          if (input.type === "link") continue;
          const decision = decideSession(flow, input, momentAt(now, { chance, isOwner }));
          for (const effect of ["connect", "open_client"]) expect(effectNames(decision)).not.toContain(effect);
          flow = decision.flow;
        }
        expect(flow.state).toBe("halted");
      }),
    );
  });

  test("linking, connecting, dropped and waiting sessions always have a timer", () => {
    fc.assert(
      fc.property(steps, (stepList) => {
        let flow: SessionFlow = NEW_SESSION;
        const runningTimers = new Set<string>();
        let now = 0;
        const apply = (input: SessionInput, isOwner: boolean, chance: number) => {
          if (input.type === "timer") {
            if (!runningTimers.delete(input.timer)) return; // this timer is not running
          }
          const decision = decideSession(flow, input, momentAt(now, { chance, isOwner }));
          flow = decision.flow;
          for (const effect of decision.effects) {
            if (effect.do === "start_timer") runningTimers.add(effect.timer);
            if (effect.do === "stop_timer") runningTimers.delete(effect.timer);
          }
        };
        for (const [input, ms, chance, isOwner] of stepList) {
          now += ms;
          apply(input, isOwner, chance);
          if (flow.state === "linking" || flow.state === "connecting" || flow.state === "dropped")
            expect([flow.state, runningTimers.has("timeout")]).toEqual([flow.state, true]);
          if (flow.state === "waiting") expect(runningTimers.has("retry")).toBe(true);
          if (flow.state === "halted" || flow.state === "idle") expect(runningTimers.has("retry")).toBe(false);
        }
      }),
    );
  });
});
