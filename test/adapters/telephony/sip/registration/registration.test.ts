import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { SipHeaders } from "../../../../../adapters/sip-stack/message/headers.ts";
import { responseTo, sipRequest } from "../../../../../adapters/sip-stack/message/sip-message.ts";
import { grantedExpiry } from "../../../../../adapters/telephony/sip/registration/granted-expiry.ts";
import { TrunkRegistration } from "../../../../../adapters/telephony/sip/registration/registration.ts";
import { REGISTRATION_TRANSITIONS } from "../../../../../adapters/telephony/sip/registration/registration-states.ts";
import { isFinal } from "../../../../../src/base/state-machine.ts";
import { silentLogger } from "../../../../../src/ports/logger.ts";
import type { LineHealth } from "../../../../../src/ports/telephony.ts";
import { ManualSystem } from "../../../../../src/testing/manual-system.ts";
import { CODE_POINT, fuzz } from "../../../../support/fuzz.ts";
import { type Script, ScriptedAgent } from "./scripted-agent.ts";

function startRegistering(script: Script) {
  const system = new ManualSystem();
  const agent = new ScriptedAgent(script);
  const reports: LineHealth[] = [];
  const registration = new TrunkRegistration({
    agent,
    system,
    logger: silentLogger,
    registrar: "sip:example.com",
    account: "sip:100@example.com",
    server: "sip.example.com",
    onChange: (health) => reports.push(health),
  });
  return { system, agent, reports, registration };
}

const grant =
  (seconds: number): Script =>
  () => ({
    status: 200,
    fields: [["Contact", `<sip:100@192.0.2.1:5060;transport=tcp>;expires=${seconds}`]],
  });

describe("a registration", () => {
  test("is online once accepted, refreshed in time, and removed at the end", async () => {
    const { system, agent, reports, registration } = startRegistering(grant(100));
    registration.start();
    registration.start();
    expect(await registration.checkHealth()).toEqual({ state: "online" });
    expect(reports).toEqual([{ state: "online" }]);
    expect(agent.holds).toBe(1);
    await system.advance(79_999);
    expect(agent.requests).toHaveLength(1);
    await system.advance(10_001);
    expect(agent.requests).toHaveLength(2);
    expect(agent.requests[1]?.flow).toBe(agent.flow);
    await registration.close();
    await registration.close();
    expect(agent.expiries).toEqual(["300", "300", "0"]);
    expect(agent.holds).toBe(0);
    expect(system.waiting).toBe(0);
    expect((await registration.checkHealth()).state).toBe("offline");
    expect(reports).toHaveLength(1);
  });

  test("uses its own Contact's expiry, else Expires", async () => {
    const severalContacts: Script = () => ({
      status: 200,
      fields: [
        ["Contact", '"Desk" <sip:100@10.0.0.1>;expires=3600, <sip:100@192.0.2.1:5060;transport=tcp>;expires=60'],
        ["Contact", "<sip:100@10.0.0.2>;expires=10"],
        ["Expires", "7200"],
      ],
    });
    const { system, agent, registration } = startRegistering(severalContacts);
    registration.start();
    await system.advance(54_000);
    expect(agent.requests).toHaveLength(2);
    const expiringRegistration = startRegistering(() => ({ status: 200, fields: [["Expires", "100"]] }));
    expiringRegistration.registration.start();
    await expiringRegistration.system.advance(90_000);
    expect(expiringRegistration.agent.requests).toHaveLength(2);
  });

  test("uses the Min-Expires of a 423", async () => {
    const { agent, registration } = startRegistering((_, count) =>
      count === 1 ? { status: 423, fields: [["Min-Expires", "1800"]] } : { status: 200 },
    );
    registration.start();
    expect((await registration.checkHealth()).state).toBe("online");
    expect(agent.expiries).toEqual(["300", "1800"]);
    let minExpires = 300;
    const growingExpiry = startRegistering(() => ({ status: 423, fields: [["Min-Expires", String(++minExpires)]] }));
    growingExpiry.registration.start();
    expect((await growingExpiry.registration.checkHealth()).state).toBe("offline");
    expect(growingExpiry.agent.requests).toHaveLength(2);
    const excessiveExpiry = startRegistering(() => ({ status: 423, fields: [["Min-Expires", "999999999"]] }));
    excessiveExpiry.registration.start();
    expect((await excessiveExpiry.registration.checkHealth()).state).toBe("offline");
    expect(excessiveExpiry.agent.requests).toHaveLength(1);
  });

  test("a wrong password is reported, and tried again after ten minutes", async () => {
    const { system, agent, reports, registration } = startRegistering(() => ({ status: 401, reason: "Unauthorized" }));
    registration.start();
    expect(await registration.checkHealth()).toEqual({
      state: "offline",
      reason:
        "sip.example.com refuses to register sip:100@example.com: SIP 401 Unauthorized; check `user`, `authUser` and `password`",
      lasting: true,
    });
    for (let i = 0; i < 100; i++) await registration.checkHealth();
    registration.suspect();
    await system.advance(599_999);
    expect(agent.requests).toHaveLength(1);
    await system.advance(1);
    expect(agent.requests).toHaveLength(2);
    await system.advance(1_199_000);
    expect(agent.requests).toHaveLength(2);
    expect(reports).toHaveLength(1);
    await registration.close();
    expect(agent.requests).toHaveLength(2);
  });

  test("silence is retried with growing pauses", async () => {
    const { system, agent, registration } = startRegistering((_, count) => {
      if (count <= 3) return "silence";
      return count === 4 ? { status: 503, fields: [["Retry-After", "120"]] } : { status: 200 };
    });
    registration.start();
    await system.advance(8_000);
    expect(await registration.checkHealth()).toEqual({
      state: "offline",
      reason: "sip.example.com does not respond: no response within 8 s; check `server` and the firewall",
    });
    await system.advance(2_000);
    expect(agent.requests).toHaveLength(2);
    await system.advance(8_000 + 4_000);
    expect(agent.requests).toHaveLength(3);
    await system.advance(8_000 + 8_000);
    expect(agent.requests).toHaveLength(4);
    await system.advance(110_000);
    expect(agent.requests).toHaveLength(4);
    await system.advance(10_000);
    expect(await registration.checkHealth()).toEqual({ state: "online" });
  });

  test("a Retry-After of 0 keeps the pause", async () => {
    const { system, agent, registration } = startRegistering(() => ({ status: 503, fields: [["Retry-After", "0"]] }));
    registration.start();
    await system.advance(10_000);
    expect(agent.requests.length).toBeLessThan(6);
  });

  test("is offline only after two unanswered refreshes", async () => {
    let isSilent = false;
    const { system, reports, registration } = startRegistering(() =>
      isSilent ? "silence" : { status: 200, fields: [["Expires", "100"]] },
    );
    registration.start();
    await system.advance(1);
    isSilent = true;
    await system.advance(90_000 + 8_000);
    expect(await registration.checkHealth()).toEqual({ state: "online" });
    isSilent = false;
    await system.advance(2_000);
    expect(registration.state).toBe("registered");
    isSilent = true;
    await system.advance(90_000 + 8_000 + 2_000 + 8_000);
    expect(reports.map(({ state }) => state)).toEqual(["online", "offline"]);
  });

  test("a closed connection triggers REGISTER at once", async () => {
    const { agent, registration } = startRegistering(grant(3_600));
    registration.start();
    await registration.checkHealth();
    agent.isAlive = false;
    await registration.checkHealth();
    expect(agent.requests).toHaveLength(2);
    expect(agent.requests[1]?.flow).toBeUndefined();
  });

  test("closing during the first REGISTER removes the registration", async () => {
    const { system, agent, registration } = startRegistering((_, count) => (count === 1 ? "silence" : { status: 200 }));
    registration.start();
    await registration.close();
    expect(agent.expiries).toEqual(["300", "0"]);
    expect(system.waiting).toBe(0);
  });

  test("`closed` is the only final state", () => {
    for (const state of Object.keys(REGISTRATION_TRANSITIONS) as (keyof typeof REGISTRATION_TRANSITIONS)[])
      expect(isFinal(REGISTRATION_TRANSITIONS, state)).toBe(state === "closed");
  });

  fuzz(
    "the next refresh is between a second and an hour away, whatever a registrar responds",
    fc.property(fc.array(fc.string({ unit: CODE_POINT })), fc.string(), (contacts, expires) => {
      const headers = new SipHeaders().add("Expires", expires);
      for (const contact of contacts) headers.add("Contact", contact).add("Contact", `<sip:100@h>;expires=${contact}`);
      const request = sipRequest("REGISTER", "sip:h", new SipHeaders().add("Contact", contacts[0] ?? "<sip:100@h>"));
      const expiry = grantedExpiry(request, { ...responseTo(request, 200, "OK"), headers }, 300);
      expect(expiry).toBeGreaterThanOrEqual(1);
      expect(expiry).toBeLessThanOrEqual(3_600);
    }),
  );
});
