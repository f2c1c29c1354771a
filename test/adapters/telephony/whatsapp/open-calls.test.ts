import { describe, expect, test } from "vitest";
import { MAX_OPEN_MS, MAX_UNNOTICED_MS } from "../../../../adapters/telephony/whatsapp/session/offers/open-calls.ts";
import type { FakeNumber } from "../../../../src/testing/index.ts";
import { ANA, type DialledCall, NumberScene, OWNER } from "./number-scene.ts";

const PHASES: readonly (readonly [string, FakeNumber])[] = [
  ["rings", { devices: [{ does: "nothing" }] }],
  ["rings and has no hidden address", { devices: [{ does: "nothing" }], lid: null }],
  ["was accepted", { devices: [{ does: "answer", afterMs: 500 }], media: "never" }],
  ["was answered by the phone", { devices: [{ does: "answer", afterMs: 500 }] }],
  ["was answered by another device", { devices: [{ does: "nothing" }, { does: "answer", afterMs: 500 }] }],
];

/** A call of a linked number, two seconds after it was dialled. */
async function startCall(
  callee: FakeNumber,
): Promise<{ scene: NumberScene; call: DialledCall; sentStanzas: unknown[] }> {
  const scene = await NumberScene.openLinked();
  const sentStanzas: unknown[] = [];
  scene.network.onClient = (client) => collectStanzas(client, sentStanzas);
  collectStanzas(scene.client, sentStanzas);
  scene.network.number(ANA, callee);
  const call = scene.dial();
  await scene.system.advance(2_000);
  expect(scene.network.call().ended).toBeUndefined();
  return { scene, call, sentStanzas };
}

/** Collects the stanzas that a client sends. */
function collectStanzas({ lowlevel }: NumberScene["client"], sentStanzas: unknown[]): void {
  const { sendNode } = lowlevel;
  lowlevel.sendNode = async (stanza) => {
    sentStanzas.push(stanza);
    await sendNode(stanza);
  };
}

describe.each(PHASES)("a call that %s", (_, callee) => {
  test("ends at the callee after a crash, once the number is online again", async () => {
    const { scene } = await startCall(callee);
    scene.kill();
    await scene.system.advance(20_000);
    expect(scene.network.call().ended).toBeUndefined();
    await scene.restart();
    await scene.system.advance(1_000);
    expect(scene.network.call().ended).toBe("caller");
  });

  test("ends at the callee after another client took over, once the number is online again", async () => {
    const { scene, call } = await startCall(callee);
    scene.client.streamError("replaced");
    await scene.system.advance(60_000);
    expect(call.events.at(-1)).toMatchObject({ type: "ended", cause: "line_lost" });
    expect(scene.network.call().ended).toBeUndefined();
    await scene.line.link?.();
    await scene.system.advance(1_000);
    expect(await scene.line.probe()).toEqual({ state: "online" });
    expect(scene.network.call().ended).toBe("caller");
  });

  test("ends at the callee after an outage that outlives the client's calls", async () => {
    const { scene, call } = await startCall(callee);
    scene.network.reachable = false;
    await scene.system.advance(120_000);
    expect(call.events.at(-1)).toMatchObject({ type: "ended", cause: "line_lost" });
    scene.network.reachable = true;
    await scene.system.advance(10 * 60_000);
    expect(await scene.line.probe()).toEqual({ state: "online" });
    expect(scene.network.call().ended).toBe("caller");
  });

  test("needs no second hang-up after a normal one, even after a restart", async () => {
    const { scene, call, sentStanzas } = await startCall(callee);
    void call.leg?.hangUp();
    await scene.system.advance(2_000);
    expect(scene.network.call().ended).toBe("caller");
    await scene.system.advance(MAX_UNNOTICED_MS);
    await scene.restart();
    await scene.system.advance(2_000);
    expect(sentStanzas).toEqual([]);
  });

  test("is ended over the next connection if it is hung up over a dead one", async () => {
    const { scene, call } = await startCall(callee);
    scene.client.stallSocket();
    void call.leg?.hangUp();
    await scene.system.advance(19_900);
    expect(call.events.at(-1)).toMatchObject({ type: "ended", cause: "released" });
    expect(scene.network.call().ended).toBeUndefined();
    expect(await scene.line.probe()).toEqual({ state: "online" });
    await scene.system.advance(1_000);
    expect(scene.network.call().ended).toBe("caller");
  });

  test("is ended once, by the client that still has it, if it ends in an outage", async () => {
    const { scene, call, sentStanzas } = await startCall(callee);
    scene.client.dropSocket(8_000);
    await scene.system.advance(1_500);
    void call.leg?.hangUp();
    await scene.system.advance(6_000);
    expect(call.events.at(-1)).toMatchObject({ type: "ended" });
    expect(scene.network.call().ended).toBeUndefined();
    await scene.system.advance(10_000);
    expect(scene.network.call().ended).toBe("caller");
    expect(sentStanzas).toEqual([]);
  });

  test("needs no hang-up after the callee has ended it, even after a restart", async () => {
    const { scene, sentStanzas } = await startCall(callee);
    scene.network.call().hangUp();
    await scene.system.advance(2_000);
    await scene.restart();
    await scene.system.advance(2_000);
    expect(sentStanzas).toEqual([]);
  });
});

describe("a call that a crash left behind", () => {
  const RINGING_CALLEE: FakeNumber = { devices: [{ does: "nothing" }] };

  /** A number whose process was killed in a call. */
  async function killInCall(): Promise<NumberScene> {
    const { scene } = await startCall(RINGING_CALLEE);
    scene.kill();
    return scene;
  }

  test("is ended once", async () => {
    const scene = await killInCall();
    const sentStanzas: unknown[] = [];
    scene.network.onClient = (client) => collectStanzas(client, sentStanzas);
    for (let round = 0; round < 3; round++) {
      await scene.restart();
      await scene.system.advance(2_000 + MAX_UNNOTICED_MS);
    }
    expect(sentStanzas).toHaveLength(1);
    expect([...scene.host.storedRecords.keys()].filter((key) => key === "ringport/open-calls")).toEqual([]);
  });

  test("is ended at the next connection if ending it fails at this one", async () => {
    const scene = await killInCall();
    scene.network.onClient = (client) => client.disturb("sendNode", new Error("the socket is gone"));
    await scene.restart();
    await scene.system.advance(5_000);
    expect(scene.network.call().ended).toBeUndefined();
    scene.client.dropSocket(12_000);
    await scene.system.advance(30_000);
    expect(scene.network.call().ended).toBe("caller");
  });

  test("is ended at the next connection if this one is dead", async () => {
    const scene = await killInCall();
    const sentStanzas: unknown[] = [];
    scene.network.onClient = (client) => {
      collectStanzas(client, sentStanzas);
      client.on("debug_connection_success", () => sentStanzas.length === 0 && client.stallSocket());
    };
    await scene.restart();
    await scene.system.advance(19_000);
    expect(sentStanzas).toHaveLength(1);
    expect(scene.network.call().ended).toBeUndefined();
    await scene.system.advance(2_000);
    expect(sentStanzas).toHaveLength(2);
    expect(scene.network.call().ended).toBe("caller");
  });

  test("is left alone after a day", async () => {
    const scene = await killInCall();
    const sentStanzas: unknown[] = [];
    scene.network.onClient = (client) => collectStanzas(client, sentStanzas);
    await scene.system.advance(MAX_OPEN_MS);
    await scene.restart();
    await scene.system.advance(5_000);
    expect(sentStanzas).toEqual([]);
    expect(await scene.line.probe()).toEqual({ state: "online" });
  });

  test("keeps ringing if the client sends no stanzas, and the number works", async () => {
    const scene = await killInCall();
    scene.network.onClient = (client) => void Reflect.deleteProperty(client.lowlevel, "sendNode");
    await scene.restart();
    await scene.system.advance(5_000);
    expect(scene.network.call().ended).toBeUndefined();
    expect(await scene.line.probe()).toEqual({ state: "online" });
  });

  test.each(["", "{", "null", "{}", "[1, null, {}]", '[{"callId":"A","peer":"nobody","at":1}]'])(
    "does not keep the number offline if its record is %j",
    async (record) => {
      const scene = await killInCall();
      const [key = ""] = [...scene.host.storedRecords.keys()].filter((name) => name === "ringport/open-calls");
      scene.host.storedRecords.set(key, new TextEncoder().encode(record));
      await scene.restart();
      await scene.system.advance(5_000);
      expect(await scene.line.probe()).toEqual({ state: "online" });
      const call = scene.dial();
      await scene.system.advance(2_000);
      expect(call.events.map(({ type }) => type)).toContain("alerting");
    },
  );

  test("is ended at the called address", async () => {
    const scene = await NumberScene.openLinked();
    const { profile } = scene.client;
    const { getLidsByPhoneNumbers } = profile;
    profile.getLidsByPhoneNumbers = async (numbers) =>
      (await getLidsByPhoneNumbers(numbers)).map((number) => ({ ...number, lidJid: null }));
    scene.network.number(ANA, RINGING_CALLEE);
    scene.dial();
    await scene.system.advance(2_000);
    expect(scene.network.call().peerJid).toMatch(/@lid$/);
    await scene.restart();
    await scene.system.advance(1_000);
    expect(scene.network.call().ended).toBe("caller");
  });

  test("is deleted with the link", async () => {
    const { scene } = await startCall(RINGING_CALLEE);
    scene.network.unlink(OWNER);
    await scene.system.advance(5_000);
    expect(scene.host.storedRecords.size).toBe(0);
  });
});

describe("an offer that is withdrawn while the connection is down", () => {
  test.each([
    ["a hang-up", 1_000],
    ["the client took too long", 25_000],
  ])("ends at the callee once the number is online again (%s)", async (reason, startMs) => {
    const scene = await NumberScene.openLinked();
    scene.network.number(ANA, { devices: [{ does: "nothing" }] });
    const { voip } = scene.client;
    const startCall = voip.startCall.bind(voip);
    voip.startCall = async (options) => {
      const callId = await startCall(options); // the offer was sent
      await new Promise<void>((resolve) => void scene.system.after(startMs, resolve));
      scene.client.dropSocket(8_000);
      return callId;
    };
    const abort = new AbortController();
    const dialling = scene.line.dial(ANA, { callId: "call_1", ringTimeoutMs: 60_000 }, abort.signal).catch(() => {});
    await scene.system.advance(500);
    if (reason === "a hang-up") abort.abort();
    await scene.system.advance(60_000);
    await dialling;
    expect(await scene.line.probe()).toEqual({ state: "online" });
    expect(scene.network.calls.map(({ ended }) => ended)).toEqual(["caller"]);
  });
});

describe("an offer whose id the client has not returned", () => {
  test("ends at the callee after a crash, once the number is online again", async () => {
    const scene = await NumberScene.openLinked();
    scene.network.number(ANA, { devices: [{ does: "nothing" }] });
    const { voip } = scene.client;
    const startCall = voip.startCall.bind(voip);
    voip.startCall = async (options) => {
      await startCall(options); // the offer was sent
      return await new Promise<never>(() => {});
    };
    scene.dial();
    await scene.system.advance(2_000);
    expect(scene.network.call().ended).toBeUndefined();
    await scene.restart();
    await scene.system.advance(1_000);
    expect(scene.network.call().ended).toBe("caller");
  });

  test("is stored before it is sent", async () => {
    const scene = await NumberScene.openLinked();
    scene.network.number(ANA, { devices: [{ does: "nothing" }] });
    scene.client.disturb("startCall", { afterMs: 5_000 });
    scene.dial();
    await scene.system.advance(1_000);
    expect(scene.network.calls).toEqual([]);
    expect(scene.host.storedRecords.has("ringport/open-calls")).toBe(true);
  });

  test("is not ended if it was not sent", async () => {
    const scene = await NumberScene.openLinked();
    const sentStanzas: unknown[] = [];
    collectStanzas(scene.client, sentStanzas);
    scene.client.disturb("startCall", new Error("no device sessions to encrypt the call offer for 1@lid"));
    const call = scene.dial();
    await scene.system.advance(2_000);
    expect(call.error?.release).toBe("unreachable");
    expect(scene.host.storedRecords.has("ringport/open-calls")).toBe(false);
    expect(sentStanzas).toEqual([]);
  });

  test("is ended immediately if the client fails and may have sent it", async () => {
    const scene = await NumberScene.openLinked();
    const sentStanzas: unknown[] = [];
    collectStanzas(scene.client, sentStanzas);
    scene.client.disturb("startCall", new Error("the write of the socket has failed"));
    const call = scene.dial();
    await scene.system.advance(2_000);
    expect(call.error?.release).toBe("rejected_by_network");
    expect(sentStanzas).toHaveLength(1);
  });
});

describe("an offer sent after the dial has given up", () => {
  test.each([
    ["without a hang-up", 25_000, undefined],
    ["after a hang-up", 25_000, 1_000],
    ["after an outage that disconnected the client", 110_000, undefined],
    ["after such an outage and a hang-up", 110_000, 1_000],
  ])("ends at the callee: %s", async (_, startMs, hangUpMs) => {
    const scene = await NumberScene.openLinked();
    scene.network.number(ANA, { devices: [{ does: "nothing" }] });
    scene.client.disturb("startCall", { afterMs: startMs });
    const abort = new AbortController();
    const dialling = scene.line.dial(ANA, { callId: "call_1", ringTimeoutMs: 60_000 }, abort.signal).catch(() => {});
    if (hangUpMs !== undefined) scene.system.after(hangUpMs, () => abort.abort());
    if (startMs > 100_000) {
      scene.system.after(2_000, () => {
        scene.network.reachable = false;
      });
      scene.system.after(60_000, () => {
        scene.network.reachable = true;
      });
    }
    await scene.system.advance(startMs - 1);
    await dialling;
    expect(await scene.line.probe()).toEqual({ state: "online" });
    expect(scene.network.calls).toEqual([]);
    await scene.system.advance(5_000);
    expect(scene.network.calls.map(({ ended }) => ended)).toEqual(["caller"]);
    expect(scene.clientCalls).toEqual([]);
  });
});

test("an offer sent during unlinking is not ended by the number linked next", async () => {
  const scene = await NumberScene.openLinked();
  scene.network.number(ANA, { devices: [{ does: "nothing" }] });
  const { client } = scene;
  client.disturb("startCall", { afterMs: 1_500 });
  client.disturb("endCall", "hang");
  client.disturb("logout", { afterMs: 1_000 });
  scene.dial();
  await scene.system.advance(100);
  const unlinking = scene.line.unlink();
  await scene.system.advance(20_000);
  await unlinking;
  expect(scene.network.calls).toHaveLength(1);
  const sentStanzas: unknown[] = [];
  scene.network.onClient = (next) => collectStanzas(next, sentStanzas);
  const linking = scene.line.link?.();
  await scene.system.advance(1_000);
  await linking;
  scene.network.scan(scene.client.shown.qr ?? "", "+5511922222222");
  await scene.system.advance(5_000);
  expect(await scene.line.probe()).toEqual({ state: "online" });
  expect(sentStanzas).toEqual([]);
});
