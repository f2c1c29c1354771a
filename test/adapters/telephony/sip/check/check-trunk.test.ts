import { createServer, type Server } from "node:net";
import { afterAll, describe, expect, test } from "vitest";
import type { Dns } from "../../../../../adapters/sip-stack/transport/dns.ts";
import { checkTrunk } from "../../../../../adapters/telephony/sip/check/check-trunk.ts";
import type { CheckStep } from "../../../../../adapters/telephony/sip/check/step.ts";
import type { Trunk } from "../../../../../adapters/telephony/sip/index.ts";
import { streamPeer } from "../../../../sip-stack/transport/sockets.ts";
import { certificateAuthority } from "../../../../support/certificates.ts";
import {
  callees,
  type FarEnd,
  type FarEndCall,
  type FarEndOptions,
  type Script,
  startFarEnd,
} from "../../../../support/sip/far-end.ts";

const NUMBER = "+12025550100";
const ACCOUNT = { user: "tom", password: "hunter2" };

const servers: { close(): Promise<void> }[] = [];
afterAll(async () => {
  for (const server of servers.splice(0)) await server.close();
});

async function farEnd(options: FarEndOptions = {}): Promise<FarEnd> {
  const server = await startFarEnd(options);
  servers.push(server);
  return server;
}

async function check(trunk: Omit<Trunk, "name">, number?: string): Promise<CheckStep[]> {
  const steps: CheckStep[] = [];
  for await (const step of checkTrunk({ name: "acme", ...trunk }, { call: number })) steps.push(step);
  return steps;
}

const states = (steps: readonly CheckStep[]) => steps.map(({ name, state }) => `${name} ${state}`);
const stepOf = (steps: readonly CheckStep[], name: string) => steps.find((step) => step.name === name);

async function reportUntilEnd(call: FarEndCall): Promise<void> {
  for (; call.end === undefined; await new Promise((resolve) => setTimeout(resolve, 200))) call.voice?.report();
}

// Each test spends most of its time waiting for its own server.
describe.concurrent("a trunk check", () => {
  test("reports each step of a working trunk and leaves no registration", async () => {
    const server = await farEnd({ callees: { [NUMBER]: callees.answers }, registrar: { challenge: ACCOUNT } });
    const steps = await check({ server: server.uri, ...ACCOUNT, register: true }, NUMBER);
    expect(states(steps)).toEqual([
      "configuration works",
      "dns works",
      "connection skipped",
      "options works",
      "registration works",
      "codecs skipped",
      "call works",
    ]);
    expect(stepOf(steps, "call")?.detail).toMatch(
      /^\+12025550100 answered after \d+ ms; PCMU, 1[3-6]\d packets sent, 1[2-6]\d received, \d+ lost \(\d\.\d %\), jitter \d+\.\d ms/,
    );
    expect(stepOf(steps, "options")?.detail).toMatch(/SIP 200 after \d+ ms; it sees us as 127\.0\.0\.1 port \d+/);
    for (const { state, fix } of steps) expect(state === "broken").toBe(fix !== null);
    expect(server.registrations.at(-1)?.expires).toBe(0);
    expect(JSON.stringify(steps)).not.toContain(ACCOUNT.password);
  });

  test("detects its tone in the callee's audio", async () => {
    const server = await farEnd({ callees: { [NUMBER]: { says: { hz: 440 } } } });
    expect(stepOf(await check({ server: server.uri }, NUMBER), "call")?.detail).toContain("our tone came back");
  });

  test("names NAT as the cause of one-way audio", async () => {
    const server = await farEnd({ callees: { [NUMBER]: callees.silent } });
    expect(stepOf(await check({ server: server.uri }, NUMBER), "call")).toMatchObject({
      state: "broken",
      detail: expect.stringContaining(" 0 received"),
      fix: expect.stringContaining("publicAddress"),
    });
  });

  test("stops at a wrong password without a call", async () => {
    const server = await farEnd({ callees: { [NUMBER]: callees.answers }, registrar: { challenge: ACCOUNT } });
    const steps = await check({ server: server.uri, user: "tom", password: "wrong", register: true }, NUMBER);
    expect(stepOf(steps, "registration")).toMatchObject({ state: "broken", detail: expect.stringContaining("401") });
    expect(stepOf(steps, "call")).toBeUndefined();
    expect(server.calls).toEqual([]);
  });

  test("reports a busy callee", async () => {
    const server = await farEnd({ callees: { [NUMBER]: callees.busy } });
    expect(stepOf(await check({ server: server.uri }, NUMBER), "call")?.detail).toContain("486 Busy Here");
  });

  test("names a fix for an overloaded server and for a silent one", { timeout: 30_000 }, async () => {
    const expectOverloaded = async (): Promise<void> => {
      const server = await farEnd();
      server.health = 503;
      expect(stepOf(await check({ server: server.uri }), "options")).toMatchObject({
        state: "broken",
        fix: expect.stringContaining("overloaded"),
      });
    };
    const expectSilent = async (): Promise<void> => {
      const server = await farEnd();
      server.health = "silence";
      const [probedSteps, unprobedSteps] = await Promise.all([
        check({ server: server.uri }),
        check({ server: server.uri, probe: "none" }),
      ]);
      expect(stepOf(probedSteps, "options")).toMatchObject({
        state: "broken",
        fix: expect.stringContaining('`probe` to "none"'),
      });
      expect(stepOf(unprobedSteps, "options")?.state).toBe("skipped");
    };
    await Promise.all([expectOverloaded(), expectSilent()]);
  });

  test("stops at the connection step if the port is closed or lacks TLS", async () => {
    const plainServer: Server = createServer((socket) =>
      socket
        .on("error", () => {})
        .resume()
        .end("220 mail.example\r\n"),
    );
    await new Promise<void>((resolve) => plainServer.listen(0, "127.0.0.1", resolve));
    const { port } = plainServer.address() as { port: number };
    servers.push({ close: () => new Promise((resolve) => plainServer.close(() => resolve())) });
    for (const server of [`sip:127.0.0.1:${port};transport=tls`, "sip:127.0.0.1:9;transport=tcp"]) {
      const steps = await check({ server });
      expect(states(steps)).toEqual(["configuration works", "dns works", "connection broken"]);
    }
  });

  test("stops at the DNS step if the host does not exist", async () => {
    const steps = await check({ server: "sip:no-such-host.invalid" });
    expect(states(steps)).toEqual(["configuration works", "dns broken"]);
    expect(steps[1]?.detail).toContain("no-such-host.invalid");
  });

  test("names the address that the server sees if publicAddress differs", async () => {
    const server = await farEnd({ reportedAddress: "203.0.113.9" });
    expect(stepOf(await check({ server: server.uri, publicAddress: "198.51.100.7" }), "address")).toMatchObject({
      state: "broken",
      detail: "`publicAddress` is 198.51.100.7, and the server sees us as 203.0.113.9",
      fix: expect.stringContaining("set `publicAddress` to 203.0.113.9"),
    });
  });

  test("names the SDP address and the ports to forward behind a NAT", async () => {
    const server = await farEnd({ reportedAddress: "203.0.113.9" });
    expect(stepOf(await check({ server: server.uri }), "address")).toMatchObject({
      state: "works",
      detail: expect.stringContaining("our SDP names 203.0.113.9"),
      fix: expect.stringContaining("`rtpPorts`"),
    });
  });

  test.each([
    [403, "forbids it"],
    [404, "`user` and `domain`"],
    [405, "leave out `register`"],
  ])("explains the status %i of a REGISTER", async (status, fix) => {
    const server = await farEnd();
    server.health = status;
    expect(stepOf(await check({ server: server.uri, ...ACCOUNT, register: true }), "registration")).toMatchObject({
      state: "broken",
      detail: expect.stringContaining(`SIP ${status}`),
      fix: expect.stringContaining(fix),
    });
  });

  test("names the fix for another realm and for a weaker algorithm", async () => {
    const challenge = { ...ACCOUNT, algorithms: ["SHA-256"] as const };
    const weakerCallee = { challenge: { ...ACCOUNT, algorithms: ["MD5"] as const } };
    const server = await farEnd({ callees: { [NUMBER]: weakerCallee }, registrar: { challenge } });
    const trunk = { server: server.uri, ...ACCOUNT, register: true };
    expect(stepOf(await check({ ...trunk, realms: ["acme"] }), "registration")).toMatchObject({
      state: "broken",
      fix: expect.stringContaining("list it in `realms`"),
    });
    expect(stepOf(await check(trunk, NUMBER), "call")).toMatchObject({
      state: "broken",
      detail: expect.stringContaining("SHA-256 before; a challenge with MD5 is not answered"),
      fix: expect.stringContaining("weaker algorithm"),
    });
  });

  test.each([
    ["that sends no audio", callees.silent, {}, " 0 received", "`publicAddress`"],
    [
      "that sends RTCP only",
      // Repeated, because RTCP before the answer is not evidence.
      { ...callees.silent, acts: (call) => reportUntilEnd(call) },
      {},
      "only reports (RTCP)",
      "muted",
    ],
    ["without a common codec", callees.noCommonCodec, {}, "the peer accepts G722", "`codecs`"],
    [
      "behind a server that refuses the password",
      callees.challenges({ user: "tom", password: "right" }),
      ACCOUNT,
      "401",
      "`password`",
    ],
    ["that is forbidden", { rings: [], status: 403, reason: "Forbidden" }, {}, "SIP 403", "`callerId`"],
    ["that refuses the offer", { rings: [], status: 488 }, {}, "SIP 488", "`srtp`"],
    ["that does not exist", callees.unknown, {}, "SIP 404", "`numberFormat`"],
    [
      "with a refused SDP address and no audio",
      { ...callees.silent, host: "127.0.0.3" },
      { mediaFrom: ["127.0.0.1"] },
      "127.0.0.3 is not in `mediaFrom`",
      "add that network to `mediaFrom`",
    ],
  ] satisfies [string, Script, Partial<Trunk>, string, string][])(
    "names the fix for a callee %s",
    async (_, callee, trunk, detail, fix) => {
      const server = await farEnd({ callees: { [NUMBER]: callee } });
      expect(stepOf(await check({ server: server.uri, ...trunk }, NUMBER), "call")).toMatchObject({
        state: "broken",
        detail: expect.stringContaining(detail),
        fix: expect.stringContaining(fix),
      });
    },
  );

  test("works despite a refused SDP address, and reports it", async () => {
    const server = await farEnd({ callees: { [NUMBER]: { says: { hz: 1_000 }, host: "127.0.0.3" } } });
    expect(stepOf(await check({ server: server.uri, mediaFrom: ["127.0.0.1"] }, NUMBER), "call")).toMatchObject({
      state: "works",
      detail: expect.stringContaining("127.0.0.3 is not in `mediaFrom`"),
    });
  });

  test("recognises a silent TCP port as not SIP", async () => {
    const silentServer: Server = createServer((socket) => socket.on("error", () => {}).resume());
    await new Promise<void>((resolve) => silentServer.listen(0, "127.0.0.1", resolve));
    const { port } = silentServer.address() as { port: number };
    servers.push({ close: () => new Promise((resolve) => silentServer.close(() => resolve())) });
    const steps = await check({ server: `sip:127.0.0.1:${port};transport=tcp` });
    expect(stepOf(steps, "connection")?.state).toBe("works");
    expect(stepOf(steps, "options")).toMatchObject({
      state: "broken",
      detail: expect.stringContaining("accepts TCP connections, but does not respond"),
      fix: expect.stringContaining("transport=udp"),
    });
  });

  test("names the host in the proxy's certificate", async () => {
    const authority = certificateAuthority();
    const peer = await streamPeer({ tls: authority.issue({ names: ["other.example"] }) });
    servers.push(peer);
    const steps = await check({
      server: "sip:sip.acme.example",
      outboundProxy: `sip:localhost:${peer.port};transport=tls;lr`,
      tls: { ca: authority.ca },
    });
    expect(stepOf(steps, "connection")).toMatchObject({
      state: "broken",
      detail: expect.stringContaining("does not cover localhost"),
      fix: expect.stringContaining('"localhost", the host of `outboundProxy`'),
    });
  });

  test("names the workaround for a resolver that drops NAPTR and SRV queries", async () => {
    const silentQuery = () => new Promise<never>(() => {});
    const dns: Dns = { naptr: silentQuery, srv: silentQuery, addresses: async () => ["127.0.0.1"] };
    const steps: CheckStep[] = [];
    for await (const step of checkTrunk({ name: "acme", server: "sip:sip.acme.example" }, { dns })) {
      steps.push(step);
      if (step.name === "dns") break;
    }
    expect(stepOf(steps, "dns")).toMatchObject({
      state: "works",
      detail: expect.stringContaining("drops queries for NAPTR and SRV records"),
      fix: expect.stringContaining("port and transport"),
    });
  });

  test("blames a failing resolver, not the host name", async () => {
    const failingQuery = () => Promise.reject(new Error("ESERVFAIL"));
    const dns: Dns = { naptr: failingQuery, srv: failingQuery, addresses: failingQuery };
    const steps: CheckStep[] = [];
    for await (const step of checkTrunk({ name: "acme", server: "sip:sip.acme.example" }, { dns })) steps.push(step);
    expect(stepOf(steps, "dns")).toMatchObject({
      state: "broken",
      fix: expect.stringContaining("machine's DNS resolver"),
    });
  });

  test("warns about unencrypted SRTP keys", async () => {
    const server = await farEnd();
    const [configuration] = await check({ server: server.uri, srtp: "required" });
    expect(configuration).toMatchObject({ state: "broken", fix: expect.stringContaining("transport=tls") });
  });
});
