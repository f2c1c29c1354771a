import { join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { sqliteStorage } from "../../../../adapters/storage/sqlite/sqlite-storage.ts";
import type { Trunk } from "../../../../adapters/telephony/sip/config/trunk-config.ts";
import { sip } from "../../../../adapters/telephony/sip/index.ts";
import { createRingport } from "../../../../src/index.ts";
import { streamPeer } from "../../../sip-stack/transport/sockets.ts";
import { certificateAuthority } from "../../../support/certificates.ts";
import { toneWav } from "../../../support/server-sound.ts";
import { callees, startFarEnd } from "../../../support/sip/far-end.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";

const ADA = { userId: "ada" };
const MESSAGE = toneWav({ hz: 440, ms: 500, sampleRate: 8_000, amplitude: 8_000 }).toString("base64");
const closers: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** A server that accepts one account, and any caller. */
async function registrar(health: number | "silence" = 200) {
  const challenge = { user: "100", password: "right" };
  const farEnd = await startFarEnd({ callees: { "*": callees.answers }, registrar: { challenge } });
  farEnd.health = health;
  closers.push(() => farEnd.close());
  return farEnd;
}

/** A Ringport with these trunks, and a call over each. */
async function startCalls(trunks: readonly Omit<Trunk, "users">[]) {
  const data = temporaryFolder("lasting-faults");
  const storage = sqliteStorage({ path: join(data, "calls.sqlite") });
  const telephony = sip({ trunks: trunks.map((trunk) => ({ ...trunk, users: "*" as const })) });
  const ringport = createRingport({ data, storage, telephony });
  closers.push(() => ringport.stop({ drainMs: 0 }));
  const create = async (instanceId: string) => {
    const target = { phoneNumber: "+12025550100" };
    return await ringport.calls.create(ADA, {
      instanceId,
      type: "FIXED_AUDIO",
      target,
      audio: { audioBase64: MESSAGE },
    });
  };
  const lines = await Promise.all(
    trunks.map(async ({ name }) => {
      const { id } = await ringport.instances.create(ADA, { name, provider: `sip/${name}` });
      return { id, call: await create(id) };
    }),
  );
  return { ringport, lines, create };
}

test("a call fails at once over a refused account, and otherwise waits", async () => {
  const peer = await streamPeer({ tls: certificateAuthority().issue() });
  closers.push(() => peer.close());
  const account = { user: "100", password: "wrong" };
  const [refusingRegistrar, busyRegistrar, silentRegistrar] = [
    await registrar(),
    await registrar(503),
    await registrar("silence"),
  ];
  const { ringport, lines, create } = await startCalls([
    { name: "registers", server: refusingRegistrar.uri, ...account, register: true },
    { name: "options", server: (await registrar(407)).uri, ...account },
    { name: "untrusted", server: `sip:localhost:${peer.port};transport=tls` },
    { name: "overloaded", server: busyRegistrar.uri, ...account, register: true },
    { name: "silent", server: silentRegistrar.uri },
  ]);
  const endedCalls = await Promise.all(lines.slice(0, 3).map(({ call }) => ringport.calls.wait(ADA, call.id)));
  expect(endedCalls.map(({ outcome }) => [outcome!.reason, outcome!.detail])).toEqual([
    ["instance_offline", expect.stringMatching(/refuses to register .*SIP 401 .*`password`/)],
    ["instance_offline", expect.stringMatching(/does not accept our password \(SIP 407.*`password`/)],
    ["instance_offline", expect.stringMatching(/signed by an unknown authority; set tls\.ca/)],
  ]);
  expect(refusingRegistrar.calls).toEqual([]);
  const requestCount = refusingRegistrar.requests.length;
  const laterCall = await create(lines[0]!.id);
  expect((await ringport.calls.wait(ADA, laterCall.id)).outcome).toMatchObject({ reason: "instance_offline" });
  expect(refusingRegistrar.requests).toHaveLength(requestCount); // calls lock no account
  for (const [i, expected] of [
    [3, /SIP 503/],
    [4, /does not respond/],
  ] as const) {
    const { id, call } = lines[i]!;
    const reason = async () => (await ringport.instances.get(ADA, id)).connection.reason;
    await vi.waitFor(async () => expect(await reason()).toMatch(expected), 10_000);
    expect((await ringport.calls.get(ADA, call.id)).status).toBe("QUEUED");
  }
});
