import { describe, expect, test } from "vitest";
import { TransportError } from "../../../../../adapters/sip-stack/transport/transport.ts";
import { AssumedPresence } from "../../../../../adapters/telephony/sip/registration/assumed-presence.ts";
import { OptionsPresence } from "../../../../../adapters/telephony/sip/registration/options-presence.ts";
import type { LineHealth } from "../../../../../src/ports/telephony.ts";
import { ManualSystem } from "../../../../../src/testing/manual-system.ts";
import { type Script, ScriptedAgent } from "./scripted-agent.ts";

function watchOptions(script: Script, password = false) {
  const system = new ManualSystem();
  const agent = new ScriptedAgent(script);
  const reports: LineHealth[] = [];
  const presence = new OptionsPresence({
    agent,
    system,
    uri: "sip:example.com",
    server: "sip.example.com",
    hasPassword: password,
    onChange: (health) => reports.push(health),
  });
  return { system, agent, reports, presence };
}

describe("a trunk that is probed with OPTIONS", () => {
  test.each([200, 302, 403, 404, 405, 481, 500, 501, 603])("is online with %i", async (status) => {
    const { presence } = watchOptions(() => ({ status }));
    expect(await presence.checkHealth()).toEqual({ state: "online" });
  });

  test.each([408, 503])("is offline with %i", async (status) => {
    const { presence } = watchOptions(() => ({ status, reason: "Why" }));
    expect(await presence.checkHealth()).toMatchObject({
      state: "offline",
      reason: expect.stringContaining(`SIP ${status} Why`),
    });
  });

  test("an unanswered challenge counts as online unless our password is refused", async () => {
    expect((await watchOptions(() => ({ status: 401 })).presence.checkHealth()).state).toBe("online");
    expect(await watchOptions(() => ({ status: 407, reason: "No" }), true).presence.checkHealth()).toEqual({
      state: "offline",
      reason: "sip.example.com does not accept our password (SIP 407 No); check `user`, `authUser` and `password`",
      lasting: true,
    });
  });

  test("a refused password is retried after ten minutes", async () => {
    const { system, agent, presence } = watchOptions(() => ({ status: 401 }), true);
    for (let minute = 0; minute < 10; minute++) {
      expect((await presence.checkHealth()).state).toBe("offline");
      await system.advance(59_999);
    }
    expect(agent.requests).toHaveLength(1);
    await system.advance(10);
    expect(agent.requests).toHaveLength(2);
  });

  test("silence and transport faults mean offline, with fixes", async () => {
    const silentServer = watchOptions(() => "silence");
    const probe = silentServer.presence.checkHealth();
    await silentServer.system.advance(4_500);
    expect(await probe).toEqual({
      state: "offline",
      reason: "sip.example.com does not respond: no response within 4.5 s; check `server` and the firewall",
    });
    const unknownHost = watchOptions(
      () => new TransportError("dns", "There is no host sip.example.com; check `server`"),
    );
    expect(await unknownHost.presence.checkHealth()).toEqual({
      state: "offline",
      reason: "There is no host sip.example.com; check `server`",
    });
    const failingDns = watchOptions(() => new TransportError("dns", "the DNS server did not respond"));
    expect(await failingDns.presence.checkHealth()).toEqual({
      state: "offline",
      reason:
        "sip.example.com cannot be resolved: the DNS server did not respond; check the name in `server` and this machine's DNS resolver",
    });
  });

  test("a lasting transport fault is reported as lasting", async () => {
    const detail = "nowhere.example has no address in the DNS";
    const { presence } = watchOptions(() => new TransportError("dns", detail, { isPermanent: true }));
    expect(await presence.checkHealth()).toMatchObject({ reason: expect.stringContaining(detail), lasting: true });
  });

  test("a thousand callers share one probe per 30 s", async () => {
    const { system, agent, reports, presence } = watchOptions(() => ({ status: 200 }));
    presence.start();
    presence.start();
    await Promise.all(Array.from({ length: 1_000 }, () => presence.checkHealth()));
    expect(agent.requests).toHaveLength(1);
    await system.advance(29_999);
    await presence.checkHealth();
    expect(agent.requests).toHaveLength(1);
    await system.advance(1);
    expect(agent.requests).toHaveLength(2);
    expect(reports).toEqual([{ state: "online" }]);
  });

  test("an offline trunk is probed sooner, and recovers with the first response", async () => {
    let isReachable = true;
    const { system, agent, reports, presence } = watchOptions(() =>
      isReachable ? { status: 200 } : new Error("refused"),
    );
    await presence.checkHealth();
    isReachable = false;
    await system.advance(30_000);
    expect(reports.at(-1)?.state).toBe("offline");
    const probeCount = agent.requests.length;
    await system.advance(14_000);
    expect(agent.requests.length).toBe(probeCount + 3); // after 2, 4 and 8 s at the latest
    isReachable = true;
    await system.advance(16_000);
    expect(reports.map(({ state }) => state)).toEqual(["online", "offline", "online"]);
  });

  test("a failed call triggers a probe at once", async () => {
    const { system, agent, presence } = watchOptions(() => ({ status: 200 }));
    await presence.checkHealth();
    presence.suspect();
    presence.suspect();
    await system.settle();
    expect(agent.requests).toHaveLength(3);
  });

  test("closing sends no more requests and leaves no timer", async () => {
    const { system, agent, presence } = watchOptions(() => "silence");
    presence.start();
    await presence.close();
    await presence.close();
    presence.suspect();
    expect((await presence.checkHealth()).state).toBe("offline");
    expect(agent.requests).toHaveLength(1);
    expect(system.waiting).toBe(0);
  });
});

describe("a trunk without probes", () => {
  test("is online until a call fails, and again half a minute later", async () => {
    const system = new ManualSystem();
    const reports: LineHealth[] = [];
    const presence = new AssumedPresence(system, (health) => reports.push(health));
    presence.start();
    expect(await presence.checkHealth()).toEqual({ state: "online" });
    presence.suspect("refused");
    expect(await presence.checkHealth()).toEqual({ state: "offline", reason: "refused" });
    await system.advance(30_000);
    expect(await presence.checkHealth()).toEqual({ state: "online" });
    presence.suspect("refused");
    presence.markReachable();
    expect(reports.map(({ state }) => state)).toEqual(["online", "offline", "online", "offline", "online"]);
    await presence.close();
    expect(system.waiting).toBe(0);
  });
});
