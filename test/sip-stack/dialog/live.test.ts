import { afterEach, describe, expect, test } from "vitest";
import { until } from "../../support/server-client.ts";
import { callees, type FarEnd, type FarEndCall, type Script, startFarEnd } from "../../support/sip/far-end.ts";
import { startLossyRelay } from "../../support/sip/lossy-relay.ts";
import { LiveAgent } from "./support/live-agent.ts";

const resources: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const resource of resources.splice(0).reverse()) await resource.close();
});

function closedAfterTest<T extends { close(): Promise<void> }>(resource: T): T {
  resources.push(resource);
  return resource;
}

/** A test peer with this behaviour, and an agent that calls it. */
async function startCall(
  script: Script,
  options?: ConstructorParameters<typeof LiveAgent>[1],
): Promise<[FarEnd, LiveAgent]> {
  const farEnd = closedAfterTest(await startFarEnd({ callees: { bob: script } }));
  return [farEnd, closedAfterTest(new LiveAgent(farEnd.uri, options))];
}

async function waitForEnd(call: FarEndCall, end: FarEndCall["end"]): Promise<void> {
  await until(
    () => call.end,
    (now) => now === end,
    5_000,
    `the peer to see that ${end}`,
  );
}

describe("calls over real datagrams", () => {
  test("are answered, held, resumed and hung up", async () => {
    const [farEnd, agent] = await startCall(callees.holds(10, 50));
    const call = agent.call("bob");
    await call.until("resumed");
    await call.usage.hangUp("Q.850;cause=16");
    expect(call.log).toEqual(["placed", "ringing", "answered", "held", "resumed", "ended released"]);
    await waitForEnd(farEnd.calls[0]!, "caller hung up");
    expect(agent.agent.calls).toBe(0);
  });

  test("are answered after a challenge from a server or a proxy", async () => {
    for (const algorithm of ["MD5", "SHA-256", "SHA-512-256"] as const)
      for (const status of [401, 407] as const) {
        const challenge = { user: "agent", password: "s3cret", algorithms: [algorithm], status };
        const [farEnd, agent] = await startCall(callees.challenges(challenge));
        const call = agent.call("bob");
        await call.until("answered");
        await call.usage.hangUp();
        expect(farEnd.calls[0]?.count("INVITE"), `${algorithm} ${status}`).toBe(2);
        await waitForEnd(farEnd.calls[0]!, "caller hung up");
      }
  });

  test("with a wrong password end after one attempt", async () => {
    const [farEnd, agent] = await startCall(callees.challenges({ user: "agent", password: "other" }));
    const call = agent.call("bob");
    await call.until("ended rejected");
    expect(farEnd.calls[0]?.count("INVITE")).toBe(2);
    expect(call.end).toMatchObject({ refusal: { code: "wrong_password" } });
  });

  test("ring through reliable provisional responses with early media", async () => {
    const [farEnd, agent] = await startCall({ rings: [180, 183], reliable: true, earlyMedia: true });
    const call = agent.call("bob");
    await call.until("answered");
    expect(call.log).toEqual(["placed", "ringing", "early media", "answered"]);
    expect(farEnd.calls[0]?.count("PRACK")).toBe(2);
  });

  test("are cancelled while they ring", async () => {
    const [farEnd, agent] = await startCall(callees.rings);
    const call = agent.call("bob");
    await call.until("ringing");
    await call.usage.hangUp();
    expect(call.log.at(-1)).toBe("ended released");
    await waitForEnd(farEnd.calls[0]!, "cancelled");
  });

  test("answered despite the CANCEL are hung up", async () => {
    const [farEnd, agent] = await startCall({ ...callees.rings, ignoresCancel: true });
    const call = agent.call("bob");
    await call.until("ringing");
    await call.usage.hangUp();
    expect(call.log).toEqual(["placed", "ringing", "ended released"]);
    await waitForEnd(farEnd.calls[0]!, "caller hung up");
  });

  test("answered by three callees continue with the first", async () => {
    const [farEnd, agent] = await startCall({ forks: 3 });
    const call = agent.call("bob");
    await call.until("answered");
    const farEndCall = await farEnd.call();
    await until(
      () => farEndCall.count("BYE"),
      (count) => count === 2,
      5_000,
      "two forks to be released",
    );
    expect(farEndCall.end).toBeUndefined();
    await call.usage.hangUp();
    expect(farEndCall.count("BYE")).toBe(3);
  });

  test("end with the peer's BYE", async () => {
    const [, agent] = await startCall({ acts: (call) => call.hangUp([["Reason", "Q.850;cause=16"]]) });
    const call = agent.call("bob");
    await call.until("ended bye");
    expect(call.end).toEqual({ type: "bye", reason: "Q.850;cause=16" });
  });

  test("follow a redirection", async () => {
    const otherServer = closedAfterTest(await startFarEnd({ callees: { carol: {} } }));
    const redirection = callees.redirects(otherServer.uri.replace("sip:", "sip:carol@"));
    const [farEnd, agent] = await startCall(redirection, { followRedirects: true, nextHop: (uri) => uri });
    const call = agent.call("bob");
    await call.until("answered");
    expect(farEnd.calls).toHaveLength(1);
    expect(otherServer.calls[0]?.user).toBe("carol");
    await call.usage.hangUp();
  });

  test("to a vanished peer end within the limit", async () => {
    const [farEnd, agent] = await startCall({});
    const call = agent.call("bob");
    await call.until("answered");
    farEnd.isUnplugged = true;
    const from = performance.now();
    await call.usage.hangUp();
    expect(performance.now() - from).toBeLessThan(10_000);
    expect(call.end).toEqual({ type: "released" });
    expect(agent.agent.calls).toBe(0);
  });

  test("send and receive keys by INFO", async () => {
    const key = "Signal=4\r\nDuration=100\r\n";
    const [farEnd, agent] = await startCall({
      acts: (call) => void call.request("INFO", [["Content-Type", "application/dtmf-relay"]], key),
    });
    const call = agent.call("bob");
    await call.until("digit 4");
    await call.usage.sendDigit("#", 100);
    expect(farEnd.calls[0]?.infoKeys).toBe("#");
    await call.usage.hangUp();
  });

  test("survive a network that loses, repeats and reorders every kind of message", { timeout: 60_000 }, async () => {
    const farEnd = closedAfterTest(await startFarEnd({ callees: { "*": { rings: [180, 183], reliable: true } } }));
    const conditions = { loss: 0.2, duplicates: 0.2 };
    const relay = closedAfterTest(await startLossyRelay({ to: farEnd, signalling: conditions, seed: 7 }));
    const agent = closedAfterTest(new LiveAgent(relay.uri));
    const calls = Array.from({ length: 8 }, (_, index) => agent.call(`user${index}`));
    await Promise.all(calls.map((call) => call.until("answered", 30_000)));
    await Promise.all(calls.map((call) => call.usage.hangUp()));
    expect(relay.signalling.lost).toBeGreaterThan(10);
    for (const { log } of calls) {
      expect(log.filter((line) => line === "answered")).toHaveLength(1);
      expect(log.at(-1)).toBe("ended released");
    }
    expect(agent.agent.calls).toBe(0);
  });
});
