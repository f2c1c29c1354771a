import { createServer, type Server } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { checkTrunk } from "../../../../adapters/telephony/sip/check/check-trunk.ts";
import type { CheckStep } from "../../../../adapters/telephony/sip/check/step.ts";
import type { Trunk } from "../../../../adapters/telephony/sip/index.ts";
import { callees, type FarEnd, type FarEndOptions, startFarEnd } from "../../../support/sip/far-end.ts";

const NUMBER = "+12025550100";
const ACCOUNT = { user: "tom", password: "hunter2" };

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

async function farEnd(options: FarEndOptions = {}): Promise<FarEnd> {
  const started = await startFarEnd(options);
  open.push(started);
  return started;
}

async function check(trunk: Omit<Trunk, "name">, call?: string): Promise<CheckStep[]> {
  const steps: CheckStep[] = [];
  for await (const step of checkTrunk({ name: "acme", ...trunk }, { call })) steps.push(step);
  return steps;
}

const states = (steps: readonly CheckStep[]) => steps.map(({ name, state }) => `${name} ${state}`);
const stepOf = (steps: readonly CheckStep[], name: string) => steps.find((step) => step.name === name);

describe("checking a trunk", () => {
  test("that works tells so, step by step, and leaves nothing registered", async () => {
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

  test("whose callee repeats what he hears says that audio passes both ways", async () => {
    const server = await farEnd({ callees: { [NUMBER]: { says: { hz: 440 } } } });
    expect(stepOf(await check({ server: server.uri }, NUMBER), "call")?.detail).toContain("our tone came back");
  });

  test("with one-way audio names the NAT", async () => {
    const server = await farEnd({ callees: { [NUMBER]: callees.silent } });
    expect(stepOf(await check({ server: server.uri }, NUMBER), "call")).toMatchObject({
      state: "broken",
      detail: expect.stringContaining(" 0 received"),
      fix: expect.stringContaining("publicAddress"),
    });
  });

  test("with a wrong password stops there, and calls nobody", async () => {
    const server = await farEnd({ callees: { [NUMBER]: callees.answers }, registrar: { challenge: ACCOUNT } });
    const steps = await check({ server: server.uri, user: "tom", password: "wrong", register: true }, NUMBER);
    expect(stepOf(steps, "registration")).toMatchObject({ state: "broken", detail: expect.stringContaining("401") });
    expect(stepOf(steps, "call")).toBeUndefined();
    expect(server.calls).toEqual([]);
  });

  test("whose callee is busy says so", async () => {
    const server = await farEnd({ callees: { [NUMBER]: callees.busy } });
    expect(stepOf(await check({ server: server.uri }, NUMBER), "call")?.detail).toContain("486 Busy Here");
  });

  test("that is overloaded, or does not answer, is told with what to do", { timeout: 30_000 }, async () => {
    const server = await farEnd();
    server.health = 503;
    expect(stepOf(await check({ server: server.uri }), "options")).toMatchObject({
      state: "broken",
      fix: expect.stringContaining("overloaded"),
    });
    server.health = "silence";
    expect(stepOf(await check({ server: server.uri }), "options")).toMatchObject({
      state: "broken",
      fix: expect.stringContaining('`probe` to "none"'),
    });
    expect(stepOf(await check({ server: server.uri, probe: "none" }), "options")?.state).toBe("skipped");
  });

  test("where nobody listens, or nobody speaks TLS, ends with the connection", async () => {
    const plain: Server = createServer((socket) =>
      socket
        .on("error", () => {})
        .resume()
        .end("220 mail.example\r\n"),
    );
    await new Promise<void>((resolve) => plain.listen(0, "127.0.0.1", resolve));
    const { port } = plain.address() as { port: number };
    open.push({ close: () => new Promise((resolve) => plain.close(() => resolve())) });
    for (const server of [`sip:127.0.0.1:${port};transport=tls`, "sip:127.0.0.1:9;transport=tcp"]) {
      const steps = await check({ server });
      expect(states(steps)).toEqual(["configuration works", "dns works", "connection broken"]);
    }
  });

  test("of a host that is not there ends with the DNS", async () => {
    const steps = await check({ server: "sip:no-such-host.invalid" });
    expect(states(steps)).toEqual(["configuration works", "dns broken"]);
    expect(steps[1]?.detail).toContain("no-such-host.invalid");
  });

  test("whose keys would travel in the clear is told so", async () => {
    const server = await farEnd();
    const [configuration] = await check({ server: server.uri, srtp: "required" });
    expect(configuration).toMatchObject({ state: "broken", fix: expect.stringContaining("transport=tls") });
  });
});
