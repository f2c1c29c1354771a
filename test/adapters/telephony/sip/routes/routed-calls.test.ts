import { cpSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test, vi } from "vitest";
import { sqliteStorage } from "../../../../../adapters/storage/sqlite/sqlite-storage.ts";
import type { Trunk } from "../../../../../adapters/telephony/sip/config/trunk-config.ts";
import { sip } from "../../../../../adapters/telephony/sip/index.ts";
import { toneShare } from "../../../../../src/audio/tones/tone.ts";
import { createRingport, type Event, type Ringport, type RingportOptions } from "../../../../../src/index.ts";
import { toneWav } from "../../../../support/server-sound.ts";
import { callees, type FarEnd, type FarEndOptions, startFarEnd } from "../../../../support/sip/far-end.ts";
import { temporaryFolder } from "../../../../support/temporary-folder.ts";
import { invites } from "./route-scene.ts";

const ADA = { userId: "ada" };
const BOB = { userId: "bob" };
const NUMBER = "+12025550100";
const MESSAGE = toneWav({ hz: 440, ms: 1_000, sampleRate: 8_000, amplitude: 8_000 }).toString("base64");
const REFUSING_SERVER: FarEndOptions = { callees: { "*": { rings: [], status: 503, reason: "Out of Order" } } };
const SOON = { timeout: 10_000, interval: 20 };
const closers: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function farEnd(options?: FarEndOptions): Promise<FarEnd> {
  const end = await startFarEnd(options);
  closers.push(() => end.close());
  return end;
}

/** A Ringport with its data in a folder, and a route over trunks to these servers. */
function ringportOver(
  data: string,
  [first, second]: readonly FarEnd[],
  { trunk = {}, ...options }: RingportOptions & { readonly trunk?: Partial<Trunk> } = {},
): Ringport {
  const trunks = [
    { name: "acme", server: first!.uri, users: "*" as const, ...trunk },
    { name: "backup", server: second!.uri, users: "*" as const },
  ];
  const routes = [{ name: "world", trunks: [{ trunk: "acme" }, { trunk: "backup" }] }];
  const storage = sqliteStorage({ path: join(data, "calls.sqlite") });
  const ringport = createRingport({ data, storage, telephony: sip({ trunks, routes, media: "thread" }), ...options });
  closers.push(() => ringport.stop({ drainMs: 0 }));
  return ringport;
}

async function placeCall(ringport: Ringport): Promise<string> {
  const { id: instanceId } = await ringport.instances.create(ADA, { name: "Desk", provider: "sip/world" });
  const target = { phoneNumber: NUMBER };
  const audio = { audioBase64: MESSAGE };
  return (await ringport.calls.create(ADA, { instanceId, type: "FIXED_AUDIO", target, audio })).id;
}

async function timeline(ringport: Ringport, callId: string): Promise<Event[]> {
  const events: Event[] = [];
  for await (const event of ringport.calls.events(ADA, callId)) events.push(event);
  return events;
}

describe("a call over a route", () => {
  test("is one call over the second trunk, with its route in the timeline", async () => {
    const data = temporaryFolder("routed");
    const dialingTimes: (number | null)[] = [];
    const storage = sqliteStorage({ path: join(data, "calls.sqlite") });
    const claims = vi.spyOn(storage.calls, "claimNext");
    const recordDialingAt = async (): Promise<void> => {
      const [call] = await storage.calls.active((await ringport.instances.list(ADA))[0]!.id);
      dialingTimes.push(call!.dialingAt);
    };
    const dialings: Promise<void>[] = [];
    const onInvite = (): void => void dialings.push(recordDialingAt());
    const farEnds = [
      await farEnd({ ...REFUSING_SERVER, onInvite }),
      await farEnd({ callees: { "*": { says: { hz: 1_000 } } }, onInvite }),
    ];
    const ringport = ringportOver(data, farEnds, { storage });
    const id = await placeCall(ringport);
    const { outcome } = await ringport.calls.wait(ADA, id);
    expect(outcome).toMatchObject({ reason: "message_played", heardRatio: 1, heardEvidence: "inbound" });
    const heard = farEnds[1]!.calls[0]!.heard;
    expect(toneShare(heard.subarray(1_600, 6_400), 440, 8_000)).toBeGreaterThan(0.9);
    expect(farEnds.map(invites)).toEqual([1, 1]);
    await Promise.all(dialings);
    expect(dialingTimes).toEqual([expect.any(Number), dialingTimes[0]]);
    expect((await Promise.all(claims.mock.results.map(({ value }) => value))).filter(Boolean)).toHaveLength(1);
    const events = await timeline(ringport, id);
    expect(events.map(({ type }) => type).filter((type) => type !== "message_ready")).toEqual([
      "queued",
      "route",
      "ringing",
      "route",
      "alerting",
      "answered",
      "completed",
    ]);
    expect(events.flatMap(({ type, data: routeData }) => (type === "route" ? [routeData] : []))).toEqual([
      { trunk: "acme", attempt: 1, reason: null, sip_call_id: farEnds[0]!.calls[0]!.callId },
      {
        trunk: "backup",
        attempt: 2,
        reason: expect.stringMatching(/^trunk acme: SIP 503 Out of Order/),
        sip_call_id: farEnds[1]!.calls[0]!.callId,
      },
    ]);
  });

  test("rings no longer than over one trunk", async () => {
    const slowRefusal = { rings: [], afterMs: 2_000, status: 503, reason: "Out of Order" };
    const farEnds = [
      await farEnd({ callees: { "*": slowRefusal } }),
      await farEnd({ callees: { "*": callees.rings } }),
    ];
    const ringport = ringportOver(temporaryFolder("rings"), farEnds, { ringTimeoutMs: 3_000 });
    const id = await placeCall(ringport);
    expect(await ringport.calls.wait(ADA, id)).toMatchObject({ outcome: { reason: "no_answer" } });
    const timestamps = Object.fromEntries(
      (await timeline(ringport, id)).map(({ type, timestamp }) => [type, timestamp]),
    );
    expect(timestamps.failed! - timestamps.ringing!).toBeLessThan(4_500);
    expect(farEnds.map(invites)).toEqual([1, 1]);
    await vi.waitFor(() => expect(farEnds[1]!.calls[0]!.end).toBe("cancelled"), SOON);
  });

  test("waits for a trunk at its limit if the other is unreachable", async () => {
    const limitedFarEnd = await farEnd({ callees: { "*": callees.answers } });
    const closedServer = await startFarEnd();
    await closedServer.close();
    const trunk = { server: `${closedServer.uri};transport=tcp`, probe: "none" as const };
    const data = temporaryFolder("full");
    const trunks = [
      { name: "acme", users: "*" as const, ...trunk },
      { name: "backup", server: limitedFarEnd.uri, users: "*" as const, maxCalls: 1 },
    ];
    const routes = [{ name: "world", trunks: [{ trunk: "acme" }, { trunk: "backup" }] }];
    const telephony = sip({ trunks, routes, media: "thread" });
    const ringport = createRingport({ data, storage: sqliteStorage({ path: join(data, "calls.sqlite") }), telephony });
    closers.push(() => ringport.stop({ drainMs: 0 }));
    const { id } = await ringport.instances.create(ADA, { name: "Other", provider: "sip/backup" });
    const audio = { audioBase64: MESSAGE };
    const target = { phoneNumber: "+12025550101" };
    const earlierCall = await ringport.calls.create(ADA, { instanceId: id, type: "FIXED_AUDIO", target, audio });
    await limitedFarEnd.call();
    const waitingId = await placeCall(ringport);
    const results = await Promise.all([earlierCall.id, waitingId].map((callId) => ringport.calls.wait(ADA, callId)));
    expect(results.map(({ outcome }) => outcome?.reason)).toEqual(["message_played", "message_played"]);
    expect(limitedFarEnd.calls.map(({ user }) => user)).toEqual(["+12025550101", NUMBER]);
  });

  test.each(["first", "second"] as const)("is not dialled again after a crash with the %s trunk", async (position) => {
    const data = temporaryFolder("crash");
    const copy = temporaryFolder("crashed");
    let isArmed = true;
    const crash = (): void => {
      if (isArmed) cpSync(data, copy, { recursive: true }); // the files after a power cut
      isArmed = false;
    };
    const farEnds = [
      await farEnd({ ...REFUSING_SERVER, ...(position === "first" && { onInvite: crash }) }),
      await farEnd({ callees: { "*": callees.rings }, ...(position === "second" && { onInvite: crash }) }),
    ];
    const crashingRingport = ringportOver(data, farEnds);
    const id = await placeCall(crashingRingport);
    await farEnds[1]!.call();
    await crashingRingport.stop({ drainMs: 0 });
    const inviteCounts = farEnds.map(invites);
    const recoveredRingport = ringportOver(copy, farEnds);
    expect(await recoveredRingport.calls.wait(ADA, id)).toMatchObject({
      status: "FAILED",
      outcome: { reason: "interrupted" },
    });
    expect(farEnds.map(invites)).toEqual(inviteCounts);
  });

  test("needs a user who may use all its trunks, and a number that one of them allows", async () => {
    const farEnds = [await farEnd(REFUSING_SERVER), await farEnd({ callees: { "*": callees.busy } })];
    const data = temporaryFolder("users");
    const ringport = ringportOver(data, farEnds, { trunk: { users: ["ada"], allowedPrefixes: ["+49"] } });
    await expect(ringport.instances.create(BOB, { name: "Desk", provider: "sip/world" })).rejects.toMatchObject({
      code: "provider_unknown",
    });
    expect(await ringport.calls.wait(ADA, await placeCall(ringport))).toMatchObject({
      outcome: { reason: "busy", detail: "trunk backup: SIP 486 Busy Here" },
    });
    expect(farEnds.map(invites)).toEqual([0, 1]);
  });
});
