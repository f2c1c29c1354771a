import { createSocket, type Socket } from "node:dgram";
import { afterEach, describe, expect, test } from "vitest";
import { sip } from "../../../../adapters/telephony/sip/index.ts";
import { toneShare } from "../../../../src/audio/tones/tone.ts";
import { callees, type Script } from "../../../support/sip/far-end.ts";
import { Scene } from "./scene.ts";

const NUMBER = "+12025550100";
const sockets: Socket[] = [];

afterEach(() => {
  for (const socket of sockets.splice(0)) socket.close();
});

/** A free pair of ports for RTP and RTCP. */
async function freePair(): Promise<readonly [number, number]> {
  for (;;) {
    const socket = await bindPort(0);
    const { port } = socket.address();
    await release(socket);
    if (port % 2 === 0 && port < 65_000) return [port, port + 1];
  }
}

async function bindPort(port: number): Promise<Socket> {
  const socket = createSocket("udp4");
  await new Promise<void>((resolve) => socket.bind(port, "127.0.0.1", resolve));
  sockets.push(socket);
  return socket;
}

async function release(socket: Socket): Promise<void> {
  sockets.splice(sockets.indexOf(socket), 1);
  await new Promise<void>((resolve) => socket.close(resolve));
}

/** Expects a call to this callee to end like this, with a free pair of ports and, after closing, no open handles. */
async function expectEnd(script: Script, cause: string, detail: RegExp, trunk = {}): Promise<Scene> {
  const scene = await Scene.open(
    { rtpPorts: await freePair(), maxCalls: 1, ...trunk },
    { callees: { [NUMBER]: script, "*": callees.answers } },
  );
  const [actualCause, actualDetail] = await scene.endOf(NUMBER);
  expect([actualCause, actualDetail]).toEqual([cause, expect.stringMatching(detail)]);
  await expectPortsFreed(scene);
  return scene;
}

async function expectPortsFreed(scene: Scene): Promise<void> {
  const nextCall = await scene.call("+12025550199");
  await nextCall.events.next("connected", 5_000);
  await nextCall.leg.hangUp();
  await scene.close();
  expect(scene.system.pendingTimers).toBe(0);
}

describe("a misbehaving peer", () => {
  test("an answer without SDP ends the call as media_failed", async () => {
    const scene = await expectEnd(callees.answersWithoutSdp, "media_failed", /SDP/);
    expect(scene.farEnd.calls[0]?.end).toBe("caller hung up");
  });

  test("an answer without a common codec is hung up, naming both lists", async () => {
    const scene = await expectEnd(callees.noCommonCodec, "media_failed", /PCMU.*G722|codec/);
    expect(scene.farEnd.calls[0]?.end).toBe("caller hung up");
  });

  test("a peer must encrypt if encryption is required", async () => {
    const scene = await Scene.open({ srtp: "required" }, { callees: { "*": callees.answers } });
    expect(await scene.endOf(NUMBER)).toEqual([
      "rejected_by_network",
      expect.stringMatching(/^SIP 488 Not Acceptable Here: .*`srtp`/),
    ]);
  });

  test("a wrong password is reported, and tried once for each challenge", async () => {
    const script = callees.challenges({ user: "100", password: "right" });
    const scene = await expectEnd(script, "rejected_by_network", /^SIP 401 Who Are You: .*password/, {
      user: "100",
      password: "wrong",
    });
    expect(scene.farEnd.calls[0]?.count("INVITE")).toBe(2);
  });

  test("a challenge without a configured password is reported", async () => {
    const script = callees.challenges({ user: "100", password: "right", status: 407 });
    await expectEnd(script, "rejected_by_network", /^SIP 407 Who Are You: .*password/);
  });

  test("audio from an address other than the announced one is accepted behind a NAT", async () => {
    const behindNat: Script = { says: { hz: 1000 }, sendFrom: "127.0.0.2", host: "127.0.0.3" };
    const scene = await Scene.open({}, { callees: { "*": behindNat } });
    const { leg, events, recorder } = await scene.call(NUMBER);
    await events.next("connected", 5_000);
    await scene.network.until(() => recorder.frames.length >= 40, "its audio");
    await leg.hangUp();
    expect(toneShare(recorder.heard().subarray(1_600, 4_800), 1000, 8_000)).toBeGreaterThan(0.9);
  });

  test("noise on both ports does not disturb a call", async () => {
    const scene = await Scene.open({ rtpPorts: await freePair() }, { callees: { "*": { says: { hz: 1000 } } } });
    const { leg, events, recorder } = await scene.call(NUMBER);
    await events.next("connected", 5_000);
    const peerCall = scene.farEnd.calls[0]!;
    const ports = [/^Via: \S+ [^:]+:(\d+)/m, /^m=audio (\d+)/m].map((port) =>
      Number(
        port.exec(
          [
            ...peerCall.requests[0]!.text.fields.map((headerField) => headerField.join(": ")),
            peerCall.requests[0]!.text.body,
          ].join("\n"),
        )?.[1],
      ),
    );
    const noise = await bindPort(0);
    for (let i = 0; i < 300; i++) {
      const bytes = Buffer.from(Array.from({ length: i }, (_, at) => (at * 31 + i * 7) % 256));
      if (i % 2 === 0 && i > 12) bytes[0] = 0x80; // shaped like RTP
      for (const port of ports) noise.send(bytes, port, "127.0.0.1");
    }
    await scene.network.until(() => recorder.frames.length >= 50, "its audio");
    expect(ports.every((port) => port > 0)).toBe(true);
    expect(toneShare(recorder.heard().subarray(-3_200), 1000, 8_000)).toBeGreaterThan(0.9);
    expect(events.types).not.toContain("ended");
    await leg.hangUp();
    await events.over;
    expect(events.cause).toBe("released");
  });
});

describe("an unreachable host", () => {
  test("a trunk with an unknown host is offline, and names the host", async () => {
    const scene = await Scene.open({ server: "sip:nowhere.invalid", probe: "none" });
    expect(await scene.endOf(NUMBER)).toEqual(["unreachable", expect.stringContaining("nowhere.invalid")]);
    const probingScene = await Scene.open({ server: "sip:nowhere.invalid" });
    expect(await probingScene.health()).toMatchObject({
      state: "offline",
      reason: expect.stringContaining("nowhere.invalid"),
    });
    await Promise.all([scene.close(), probingScene.close()]);
    expect([scene.system.pendingTimers, probingScene.system.pendingTimers]).toEqual([0, 0]);
  });

  test("a server that accepts no connection is offline, naming the server", async () => {
    const scene = await Scene.open({ server: "sip:127.0.0.1:1;transport=tcp" });
    expect(await scene.health()).toMatchObject({ state: "offline", reason: expect.stringContaining("127.0.0.1") });
    await scene.close();
    expect(scene.system.pendingTimers).toBe(0);
  });
});

describe("a trunk's ports", () => {
  test("let a call wait only if our own calls use them", async () => {
    const ports = await freePair();
    const scene = await Scene.open({ rtpPorts: ports }, { callees: { "*": callees.answers } });
    await scene.line();
    const blocker = await bindPort(ports[0]);
    expect(await scene.endOf(NUMBER)).toEqual(["media_failed", expect.stringMatching(/rtpPorts/)]);
    await release(blocker);
    const activeCall = await scene.call(NUMBER);
    await activeCall.events.next("connected", 5_000);
    expect(await scene.endOf(NUMBER)).toEqual(["line_lost", expect.stringMatching(/rtpPorts/)]);
    await activeCall.leg.hangUp();
    await expectPortsFreed(scene);
  });

  test("are freed before a call with a vanished peer ends", async () => {
    const ports = await freePair();
    const scene = await Scene.open({ rtpPorts: ports }, { callees: { "*": callees.answers } });
    const { leg, events } = await scene.call(NUMBER);
    await events.next("connected", 5_000);
    scene.farEnd.isUnplugged = true;
    const startedAt = performance.now();
    let isReleased = false;
    const hangUp = leg.hangUp().then(() => {
      isReleased = true;
    });
    await scene.network.sleep(100);
    for (const port of ports) await bindPort(port);
    expect(isReleased).toBe(false);
    await hangUp;
    expect(performance.now() - startedAt).toBeLessThan(15_000);
    await events.over;
    expect(events.cause).toBe("released");
  });

  test("keep the line offline if the listener's port is in use", async () => {
    const blocker = await bindPort(0);
    const scene = await Scene.open({
      listen: { transport: "udp", address: "127.0.0.1", port: blocker.address().port },
    });
    expect(await scene.health()).toMatchObject({
      state: "offline",
      reason: expect.stringContaining(String(blocker.address().port)),
    });
    await scene.close();
    expect(scene.system.pendingTimers).toBe(0);
  });
});

describe("closing", () => {
  test("leaves no timer, whatever a call's state", async () => {
    const scene = await Scene.open(
      { callsPerSecond: 4 },
      { callees: { "+12025550101": callees.rings, "*": callees.answers } },
    );
    const answeredCall = await scene.call(NUMBER);
    await answeredCall.events.next("connected", 5_000);
    const ringingCall = await scene.call("+12025550101");
    await ringingCall.events.next("alerting", 5_000);
    const pendingCall = scene.call(NUMBER).then(
      ({ events }) => events.next("ended", 5_000).then(({ cause }) => cause),
      (fault: Error) => fault.name,
    );
    await scene.telephony.close();
    await Promise.all([answeredCall.events.over, ringingCall.events.over]);
    expect([answeredCall.events.cause, ringingCall.events.cause]).toEqual(["released", "released"]);
    expect(["DialError", "released"]).toContain(await pendingCall);
    expect(scene.farEnd.calls.map(({ end }) => end)).toEqual(expect.arrayContaining(["caller hung up", "cancelled"]));
    expect(scene.system.pendingTimers).toBe(0);
  });
});

test("faulty trunks are refused with all faults", () => {
  expect(() =>
    sip({
      trunks: [
        { name: "a", server: "x" },
        { name: "B", server: "sip:b" },
      ],
    }),
  ).toThrow(
    expect.objectContaining({
      code: "configuration_invalid",
      message: expect.stringMatching(/trunk a: server .*\n- trunk B: name /),
    }),
  );
});
