import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  FLAP_WINDOW_MS,
  FLAPS,
  MAX_LOGINS,
} from "../../../../../adapters/telephony/whatsapp/session/flow/reconnects.ts";
import { decideSession } from "../../../../../adapters/telephony/whatsapp/session/flow/session-flow.ts";
import {
  healthOf,
  isLinked,
  NEW_SESSION,
} from "../../../../../adapters/telephony/whatsapp/session/flow/session-state.ts";
import {
  SESSION_STATES,
  type SessionDecision,
  type SessionFlow,
  type SessionInput,
} from "../../../../../adapters/telephony/whatsapp/session/flow/session-types.ts";
import { DEADLINE_PASSED } from "../../../../../src/ports/telephony.ts";
import { at, close, DOWN, decided, deeds, effectsOf, FLOWS, WORKS } from "../flows.ts";

describe("a session", () => {
  test("starts in idle, and reaches every state", () => {
    for (const state of SESSION_STATES) expect(FLOWS[state].state).toBe(state);
  });

  test("links only from idle, and once", () => {
    expect(deeds(decided(FLOWS.idle, { type: "link" }))).toEqual(["open_client"]);
    for (const state of ["linking", "connecting", "online", "dropped", "waiting", "closed"] as const)
      expect(decided(FLOWS[state], { type: "link" })).toEqual({ flow: FLOWS[state], effects: [] });
  });

  test("does not connect on request without the lease", () => {
    const outdated = decided(FLOWS.online, close("failure_client_too_old", false, 405)).flow;
    for (const flow of [FLOWS.idle, FLOWS.halted, outdated])
      expect(decideSession(flow, { type: "link" }, at(9_000, { owned: false }))).toEqual({ flow, effects: [] });
  });

  test("puts up to three takeovers in ten minutes down to its own lingering client", () => {
    const replaced = close("stream_error_replaced");
    expect(decideSession(FLOWS.online, replaced, at(0)).flow.state).toBe("halted");
    let flow: SessionFlow = FLOWS.online;
    for (const minute of [0, 3, 6]) {
      const now = minute * 60_000;
      flow = decideSession(flow, replaced, at(now, { strays: true })).flow;
      expect(flow).toMatchObject({ state: "waiting", lasting: false });
      flow = decideSession(flow, { type: "timer", timer: "retry" }, at(now + 1)).flow;
      flow = decideSession(flow, { type: "opened", ...WORKS }, at(now + 2)).flow;
    }
    expect(decideSession(flow, replaced, at(9 * 60_000, { strays: true })).flow.state).toBe("halted");
    expect(decideSession(flow, replaced, at(11 * 60_000, { strays: true })).flow.state).toBe("waiting");
  });

  test("is online only if the connection is reported open and the client is registered", () => {
    expect(decided(FLOWS.connecting, { type: "state", ...WORKS }).flow.state).toBe("connecting");
    const unsure = decided(FLOWS.connecting, { type: "opened", ...WORKS, registered: false });
    expect(unsure.flow.state).toBe("connecting");
    expect(decided(unsure.flow, { type: "state", ...WORKS }).flow.state).toBe("online");
  });

  test("a socket that closes before WhatsApp accepts the login is not left to the client", () => {
    const { flow } = decided(FLOWS.connecting, { type: "opened", ...WORKS, connected: false });
    expect(flow.state).toBe("connecting");
    const closed = decided(flow, { type: "state", ...DOWN });
    expect(closed.flow).toMatchObject({ state: "waiting", reason: "the connection to WhatsApp broke off" });
    expect(deeds(closed)).toContain("disconnect");
  });

  test("an accepted login without a request counts; a second one within a minute ends the connection", () => {
    const online = decided(FLOWS.connecting, { type: "opened", ...WORKS }, { type: "accepted", ...WORKS });
    expect(online.flow).toMatchObject({ state: "online", reconnects: { logins: [2_000] } });
    const first = decideSession(online.flow, { type: "accepted", ...WORKS }, at(10_000));
    expect(first).toMatchObject({ effects: [], flow: { state: "online", reconnects: { logins: [2_000, 10_000] } } });
    const second = decideSession(first.flow, { type: "accepted", ...WORKS }, at(20_000));
    expect(second.flow).toMatchObject({ state: "waiting", reconnects: { logins: [2_000, 10_000, 20_000] } });
    expect(deeds(second)).toContain("disconnect");
    for (const state of ["waiting", "halted"] as const) {
      const stray = decided(FLOWS[state], { type: "accepted", ...WORKS });
      expect(deeds(stray)).toEqual(["disconnect"]);
      expect(stray.flow.state).toBe(state);
      expect(stray.flow.reconnects.logins.at(-1)).toBe(1_000);
    }
  });

  test("a stream error during a login ends it", () => {
    const ended = decided(
      FLOWS.connecting,
      { type: "opened", ...WORKS, connected: false },
      { type: "stream_error", code: 503 },
    );
    expect(ended.flow).toMatchObject({ state: "waiting", reason: "WhatsApp has ended the connection (503)" });
    expect(deeds(ended)).toContain("disconnect");
  });

  test("counts each login of a client that reopens its socket in a call, and allows three", () => {
    const inCall = { inCall: true };
    let flow: SessionFlow = FLOWS.dropped;
    const states: string[] = [];
    for (let time = 1; time <= 4; time++) {
      flow = decideSession(flow, { type: "state", ...WORKS, connected: false }, at(time * 3_000, inCall)).flow;
      flow = decideSession(flow, { type: "state", ...DOWN }, at(time * 3_000 + 1_000, inCall)).flow;
      flow = decideSession(flow, { type: "state", ...DOWN }, at(time * 3_000 + 2_000, inCall)).flow;
      states.push(flow.state);
    }
    expect(states).toEqual(["dropped", "dropped", "dropped", "waiting"]);
    expect(flow.reconnects.logins).toHaveLength(FLOWS.dropped.reconnects.logins.length + 3);
  });

  test("an outage before any code is retried, and its reason is kept", () => {
    const failed = decided(
      FLOWS.idle,
      { type: "link" },
      { type: "failed", reason: "the WhatsApp client could not connect" },
    );
    expect(failed.flow).toMatchObject({ state: "linking", reason: "the WhatsApp client could not connect" });
    expect(deeds(decided(failed.flow, { type: "timer", timer: "retry" }))).toEqual(["connect"]);
  });

  test("without any code within a minute, linking ends without a condition", () => {
    const linking = decided(FLOWS.idle, { type: "link" });
    expect(effectsOf(linking, "start_timer")[0]?.ms).toBe(60_000);
    const decision = decided(linking.flow, { type: "timer", timer: "patience" });
    expect(effectsOf(decision, "report_condition")).toEqual([
      { do: "report_condition", condition: undefined, reason: "WhatsApp sent no code" },
    ]);
  });

  test("a pairing code is a condition, and keeps the attempt alive beyond the last code", () => {
    const typed = decided(FLOWS.linking, { type: "pairing_code", ttlMs: 180_000 });
    expect(effectsOf(typed, "report_condition")[0]?.condition).toBe("pairing_code");
    expect(effectsOf(typed, "start_timer")[0]?.ms).toBe(181_000);
    const code = decided(typed.flow, { type: "qr", qr: "b", ttlMs: 20_000 });
    expect(effectsOf(code, "start_timer")[0]?.ms).toBe(181_000);
  });

  test("a pairing code that WhatsApp no longer accepts clears the condition", () => {
    const typed = decided(FLOWS.linking, { type: "pairing_code", ttlMs: 180_000 });
    const decision = decided(typed.flow, { type: "pairing_code_over" });
    expect(effectsOf(decision, "report_condition")[0]).toMatchObject({ condition: undefined });
    expect(decided(FLOWS.linking, { type: "pairing_code_over" })).toEqual({ flow: FLOWS.linking, effects: [] });
  });

  test("a connection that does not open in time is closed and tried again", () => {
    const late = decided(FLOWS.connecting, { type: "timer", timer: "patience" });
    expect(late.flow).toMatchObject({ state: "waiting", reason: "WhatsApp did not open the connection in time" });
    expect(deeds(late)).toEqual(["disconnect", "report_offline", "calls_lost"]);
  });

  test("a client that connects unasked while the session waits is accepted", () => {
    const opened = decided(FLOWS.waiting, { type: "opened", ...WORKS });
    expect(opened.flow.state).toBe("online");
    expect(opened.effects).toContainEqual({ do: "stop_timer", timer: "retry" });
  });

  test("a connection that keeps dropping waits longer, and is logged once", () => {
    let flow: SessionFlow = FLOWS.online;
    const logs: string[] = [];
    const waits: number[] = [];
    for (let time = 1; time <= 2 * FLAPS; time++) {
      const now = time * 20_000;
      const dropped = decideSession(flow, close("failure_service_unavailable", false, 503), at(now, { chance: 0 }));
      logs.push(...effectsOf(dropped, "log").map(({ message }) => message));
      waits.push(effectsOf(dropped, "start_timer")[0]?.ms ?? -1);
      flow = decideSession(dropped.flow, { type: "timer", timer: "retry" }, at(now + 1)).flow;
      flow = decideSession(flow, { type: "opened", ...WORKS }, at(now + 2)).flow;
    }
    expect(logs).toEqual(["the connection to WhatsApp breaks off again and again"]);
    expect(waits.slice(0, FLAPS - 1)).toEqual([0, 0, 0, 0]);
    for (const wait of waits.slice(FLAPS)) expect(wait).toBeGreaterThanOrEqual(30_000);
  });

  test("an unstable socket is not left to the client, which would connect every 2 s, not even in a call", () => {
    let flow: SessionFlow = FLOWS.online;
    const inCall = { inCall: true };
    for (let time = 1; time < FLAPS; time++) {
      flow = decideSession(flow, { type: "state", ...DOWN }, at(time * 10_000, inCall)).flow;
      expect(flow.state).toBe("dropped");
      flow = decideSession(flow, { type: "state", ...WORKS }, at(time * 10_000 + 5_000, inCall)).flow;
    }
    const last = decideSession(flow, { type: "state", ...DOWN }, at(FLAPS * 10_000, inCall));
    expect(last.flow.state).toBe("waiting");
    expect(deeds(last)).toContain("disconnect");
  });

  test("logs in 20 times an hour at most, whatever fails, and for any caller", () => {
    let flow: SessionFlow = FLOWS.waiting;
    const logins: number[] = [];
    for (let now = 10_000; now < 3_600_000; now += 1_000) {
      for (const input of [{ type: "timer", timer: "retry" }, { type: "link" }] as const) {
        const asked = decideSession(flow, input, at(now, { chance: 0 }));
        flow = asked.flow;
        if (!deeds(asked).includes("connect")) continue;
        flow = decideSession(flow, { type: "login" }, at(now)).flow;
        logins.push(now);
        const outdated = decideSession(flow, close("failure_client_too_old", false, 405), at(now, { chance: 0 }));
        if (logins.length >= MAX_LOGINS)
          expect(effectsOf(outdated, "start_timer")[0]?.ms).toBeGreaterThanOrEqual(3_600_000 - now);
        flow = outdated.flow;
        if (input.type === "timer") break;
      }
      if (logins.length >= MAX_LOGINS) break;
    }
    expect(logins).toHaveLength(MAX_LOGINS);
  });

  test("a request beyond 20 logins in an hour is carried out once another is allowed", () => {
    const logins = Array.from({ length: MAX_LOGINS }, (_, index) => index * 1_000);
    for (const halted of [FLOWS.halted, decided(FLOWS.online, close("failure_client_too_old", false, 405)).flow]) {
      const { reconnects } = halted;
      const asked = decideSession({ ...halted, reconnects: { ...reconnects, logins } }, { type: "link" }, at(600_000));
      const turn = decideSession(asked.flow, { type: "login" }, at(600_000));
      expect(healthOf(turn.flow)).toEqual({ state: "offline", reason: expect.stringContaining("again at 2026-01-01") });
      expect(effectsOf(turn, "start_timer")).toEqual([{ do: "start_timer", timer: "retry", ms: 3_000_000 }]);
      const retried = decideSession(turn.flow, { type: "timer", timer: "retry" }, at(3_600_000));
      expect(deeds(retried)).toEqual(["connect"]);
      expect(deeds(decideSession(retried.flow, { type: "login" }, at(3_600_000)))).toEqual([]);
    }
  });

  test("with a lease renewed late, logs in at most 20 times an hour, and reports when it continues", () => {
    let flow: SessionFlow = FLOWS.waiting;
    let logins = 0;
    let refused: SessionDecision | undefined;
    for (let now = 10_000; now < 3_600_000; now += 10_000) {
      const asked = decideSession(flow, { type: "timer", timer: "retry" }, at(now));
      const turn = decideSession(asked.flow, { type: "login" }, at(now));
      flow = turn.flow;
      if (deeds(turn).includes("disconnect")) {
        refused = turn;
        break;
      }
      logins++;
      for (const [input, owned] of [
        [{ type: "opened", ...WORKS }, true],
        [{ type: "state", ...WORKS }, false],
        [{ type: "timer", timer: "ownership" }, false],
      ] as const)
        flow = decideSession(flow, input, at(now + 5_000, { owned })).flow;
    }
    expect(logins).toBe(MAX_LOGINS);
    expect(effectsOf(refused!, "start_timer")[0]?.ms).toBe(3_600_000 - MAX_LOGINS * 10_000);
    expect(healthOf(flow)).toEqual({
      state: "offline",
      reason: "the number has logged in 20 times within an hour, and logs in again at 2026-01-01 01:00 UTC",
    });
  });

  test("an attempt that never reaches WhatsApp is not a login", () => {
    let flow: SessionFlow = FLOWS.waiting;
    for (let attempt = 0; attempt < 2 * MAX_LOGINS; attempt++) {
      flow = decided(flow, { type: "timer", timer: "retry" }, { type: "login" }).flow;
      const failed = decided(flow, { type: "failed", reason: "the WhatsApp client could not connect" });
      expect(effectsOf(failed, "start_timer")[0]?.ms).toBeLessThanOrEqual(5 * 60_000);
      flow = failed.flow;
    }
  });

  test("a first refusal after an outage waits as usual, a second one twice as long", () => {
    const refused: SessionInput = { type: "failure", code: 429, expiresInMs: undefined };
    const again = [{ type: "timer", timer: "retry" }, { type: "login" }] as const;
    let flow: SessionFlow = FLOWS.waiting;
    for (let attempt = 0; attempt < 9; attempt++)
      flow = decided(flow, ...again, { type: "failed", reason: "the WhatsApp client could not connect" }).flow;
    const waits: number[] = [];
    for (let time = 0; time < 3; time++) {
      const decision = decided(flow, ...again, refused);
      waits.push(effectsOf(decision, "start_timer")[0]?.ms ?? 0);
      flow = decision.flow;
    }
    expect(waits).toEqual([90_000, 180_000, 360_000]);
    flow = decided(flow, ...again, { type: "opened", ...WORKS }, refused).flow;
    expect(flow.reconnects.refusals).toBe(1);
  });

  test("an outdated client after an outage is tried again within half an hour", () => {
    let flow: SessionFlow = FLOWS.waiting;
    for (let attempt = 0; attempt < 9; attempt++)
      flow = decided(flow, { type: "timer", timer: "retry" }, { type: "failed", reason: "no network" }).flow;
    const outdated = decided(flow, { type: "timer", timer: "retry" }, close("failure_client_too_old", false, 405));
    expect(effectsOf(outdated, "start_timer")[0]?.ms).toBeLessThanOrEqual(30 * 60_000);
  });

  test("connections that break rarely are stable, and each resets the waits", () => {
    let flow: SessionFlow = FLOWS.online;
    for (let time = 1; time <= 3 * FLAPS; time++) {
      const now = time * (FLAP_WINDOW_MS / (FLAPS - 1));
      const dropped = decideSession(flow, close("failure_service_unavailable", false, 503), at(now, { chance: 1 }));
      expect(effectsOf(dropped, "start_timer")[0]?.ms).toBe(2_000);
      flow = decideSession(dropped.flow, { type: "timer", timer: "retry" }, at(now + 1)).flow;
      flow = decideSession(flow, { type: "opened", ...WORKS }, at(now + 2)).flow;
    }
  });

  test("a server without its lease disconnects, and ends its call", () => {
    for (const state of ["connecting", "online", "dropped"] as const) {
      const doubtful = decideSession(FLOWS[state], { type: "state", ...WORKS }, at(9_000, { owned: false }));
      expect(deeds(doubtful)).toEqual([]);
      const lost = decideSession(doubtful.flow, { type: "timer", timer: "ownership" }, at(11_000, { owned: false }));
      expect(lost.flow).toMatchObject({ state: "waiting", reason: DEADLINE_PASSED });
      expect(deeds(lost)).toEqual(["disconnect", "report_offline", "calls_lost"]);
      expect(effectsOf(lost, "calls_lost")[0]?.final).toBe(true);
    }
  });

  test("its calls hang up first, within 1 s", () => {
    const inCall = { owned: false, inCall: true };
    const doubtful = decideSession(FLOWS.online, { type: "state", ...WORKS }, at(9_000, inCall));
    const ending = decideSession(doubtful.flow, { type: "timer", timer: "ownership" }, at(11_000, inCall));
    expect([ending.flow.state, deeds(ending)]).toEqual(["online", ["end_calls"]]);
    expect(effectsOf(ending, "start_timer")).toEqual([{ do: "start_timer", timer: "ownership", ms: 1_000 }]);
    for (const [input, moment] of [
      [{ type: "calls_over" }, at(11_200, { owned: false })],
      [{ type: "timer", timer: "ownership" }, at(12_000, inCall)],
    ] as const) {
      const lost = decideSession(ending.flow, input, moment);
      expect(lost.flow).toMatchObject({ state: "waiting", disowned: false, endingCalls: false });
      expect(deeds(lost)).toEqual(["disconnect", "report_offline", "calls_lost"]);
    }
    const renewed = decideSession(ending.flow, { type: "calls_over" }, at(11_200));
    expect(renewed).toEqual({ flow: FLOWS.online, effects: [] });
    expect(decideSession(FLOWS.online, { type: "calls_over" }, at(9_000, { owned: false })).effects).toEqual([]);
  });

  test("a lease renewed late has no effect", () => {
    const doubtful = decideSession(FLOWS.online, { type: "state", ...WORKS }, at(9_000, { owned: false }));
    expect(decideSession(doubtful.flow, { type: "state", ...WORKS }, at(9_500, { owned: false })).effects).toEqual([]);
    const renewed = decideSession(doubtful.flow, { type: "timer", timer: "ownership" }, at(11_000));
    expect(renewed).toEqual({ flow: FLOWS.online, effects: [] });
  });

  test("a dropped socket is still noticed", () => {
    const dropped = decideSession(FLOWS.online, { type: "state", ...DOWN }, at(9_000, { owned: false, inCall: true }));
    expect(dropped.flow.state).toBe("dropped");
    expect(deeds(dropped)).toEqual(["report_offline", "calls_lost"]);
    expect(effectsOf(dropped, "start_timer").map(({ timer }) => timer)).toEqual(["ownership", "patience"]);
  });

  test("a server without its lease does not connect until it has one", () => {
    const connecting = decideSession(FLOWS.connecting, { type: "opened", ...WORKS }, at(9_000, { owned: false }));
    expect(connecting.flow.state).toBe("waiting");
    expect(deeds(connecting)).toContain("disconnect");
    const denied = decideSession(connecting.flow, { type: "timer", timer: "retry" }, at(10_000, { owned: false }));
    expect(deeds(denied)).toEqual([]);
    expect(effectsOf(denied, "start_timer")).toHaveLength(1);
    expect(deeds(decideSession(connecting.flow, { type: "timer", timer: "retry" }, at(11_000)))).toEqual(["connect"]);
    expect(deeds(decideSession(FLOWS.idle, { type: "link" }, at(0, { owned: false })))).toEqual([]);
  });

  test("a drop right after WhatsApp asked for a new connection is still noticed", () => {
    const resumed = close("stream_error_force_login", false, 515);
    const { flow } = decided(FLOWS.online, resumed, close("failure_service_unavailable", false, 503));
    const back = decided(flow, { type: "timer", timer: "retry" }, { type: "opened", ...WORKS });
    expect(deeds(decided(back.flow, { type: "state", ...DOWN }))).toContain("disconnect");
  });

  test("unlinking removes the device, forgets its keys and ends the call, in every state", () => {
    for (const state of SESSION_STATES.filter((one) => one !== "closed")) {
      const unlinked = decided(FLOWS[state], { type: "unlink" });
      const how = isLinked(FLOWS[state]) ? "log_out" : "drop_client";
      expect(deeds(unlinked)).toEqual(["calls_lost", how, "forget"]);
      expect(unlinked.flow).toEqual(NEW_SESSION);
    }
  });

  test("closing drops the client and keeps its keys, in every state; afterwards no input has an effect", () => {
    for (const state of SESSION_STATES.filter((one) => one !== "closed")) {
      const closed = decided(FLOWS[state], { type: "close" });
      expect(deeds(closed)).toEqual(["calls_lost", "drop_client"]);
      expect(healthOf(closed.flow)).toEqual({ state: "offline", reason: "closed" });
      expect(decided(closed.flow, { type: "link" }, { type: "resume" }, { type: "opened", ...WORKS }).effects).toEqual(
        [],
      );
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
const harmless: fc.Arbitrary<SessionInput> = fc.oneof(
  fc.constantFrom<SessionInput>(
    { type: "link" },
    { type: "pairing_code_over" },
    { type: "link_stored" },
    { type: "calls_over" },
    { type: "passkey", hasSigner: true },
    { type: "timer", timer: "patience" },
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
  reasons.map((reason) => close(reason)),
  fc.record({
    type: fc.constant("failure" as const),
    code: fc.constantFrom(402, 500, undefined),
    expiresInMs: fc.constantFrom(undefined, 60_000),
  }),
);
const steps = fc.array(fc.tuple(harmless, fc.nat(120_000), fc.double({ min: 0, max: 1, noNaN: true }), fc.boolean()), {
  maxLength: 60,
});

describe("in any order of events", () => {
  test("only a logout deletes a linked number's keys, and no reason is lost", () => {
    fc.assert(
      fc.property(steps, (all) => {
        let { flow } = decided(NEW_SESSION, { type: "resume" });
        let now = 0;
        for (const [input, ms, chance, owned] of all) {
          now += ms;
          const decision = decideSession(flow, input, at(now, { chance, owned }));
          expect(deeds(decision)).not.toContain("forget");
          expect(deeds(decision)).not.toContain("report_unlinked");
          flow = decision.flow;
          expect(isLinked(flow)).toBe(true);
          expect(flow.reason === null).toBe(flow.state === "online");
        }
      }),
    );
  });

  test("a halted session never connects on its own", () => {
    fc.assert(
      fc.property(steps, (all) => {
        let flow: SessionFlow = FLOWS.halted;
        let now = 0;
        for (const [input, ms, chance, owned] of all) {
          now += ms;
          if (input.type === "link") continue;
          const decision = decideSession(flow, input, at(now, { chance, owned }));
          for (const deed of ["connect", "open_client"]) expect(deeds(decision)).not.toContain(deed);
          flow = decision.flow;
        }
        expect(flow.state).toBe("halted");
      }),
    );
  });

  test("every state but online, idle, halted and closed has a timer that ends it, or is polled", () => {
    fc.assert(
      fc.property(steps, (all) => {
        let flow: SessionFlow = NEW_SESSION;
        const running = new Set<string>();
        let now = 0;
        const take = (input: SessionInput, owned: boolean, chance: number) => {
          if (input.type === "timer") {
            if (!running.delete(input.timer)) return; // no such timer runs
          }
          const decision = decideSession(flow, input, at(now, { chance, owned }));
          flow = decision.flow;
          for (const effect of decision.effects) {
            if (effect.do === "start_timer") running.add(effect.timer);
            if (effect.do === "stop_timer") running.delete(effect.timer);
          }
        };
        for (const [input, ms, chance, owned] of all) {
          now += ms;
          take(input, owned, chance);
          if (flow.state === "linking" || flow.state === "connecting" || flow.state === "dropped")
            expect([flow.state, running.has("patience")]).toEqual([flow.state, true]);
          if (flow.state === "waiting") expect(running.has("retry")).toBe(true);
          if (flow.state === "halted" || flow.state === "idle") expect(running.has("retry")).toBe(false);
        }
      }),
    );
  });
});
