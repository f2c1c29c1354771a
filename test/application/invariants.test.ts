import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { StreamAttachment } from "../../src/application/streams/stream-client.ts";
import { type Call, isActive } from "../../src/domain/call.ts";
import type { Instance } from "../../src/domain/instance.ts";
import { Refusal } from "../../src/domain/refusal.ts";
import type { ReleaseCause } from "../../src/ports/telephony.ts";
import type { ScriptedLeg } from "../../src/testing/scripted-telephony.ts";
import { ALICE, World } from "../support/application.ts";
import { fuzzRuns } from "../support/fuzz.ts";
import { RecordingClient, streamCall } from "../support/recording-client.ts";

const CAUSES: readonly ReleaseCause[] = [
  "callee_hung_up",
  "busy",
  "declined",
  "no_answer",
  "line_lost",
  "media_failed",
];

/** What may happen next. `which` picks an instance, a call or a leg of those there are. */
const STEPS = [
  "create",
  "create stream",
  "attach",
  "write",
  "mark",
  "clear",
  "close",
  "leave",
  "break",
  "progress",
  "hang up",
  "scan",
  "online",
  "offline",
  "offline unsaid",
  "unlinked",
  "delete",
  "placed",
  "alert",
  "answer",
  "answer without media",
  "connect",
  "press",
  "end",
  "stubborn",
  "silent",
  "storage down",
  "storage up",
] as const;

interface Step {
  readonly step: (typeof STEPS)[number];
  readonly which: number;
  readonly waitMs: number;
}

const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.record({
    // Mostly what makes a call, now and then what disturbs it.
    step: fc.oneof(
      {
        weight: 3,
        arbitrary: fc.constantFrom("create", "create stream", "attach", "write", "progress", "progress", "progress"),
      },
      { weight: 2, arbitrary: fc.constantFrom(...STEPS) },
    ),
    which: fc.nat(30),
    // Mostly at once, so that things meet; sometimes long enough for every timer.
    waitMs: fc.oneof(
      { weight: 6, arbitrary: fc.constantFrom(-1, 0, 20) },
      { weight: 3, arbitrary: fc.integer({ min: 0, max: 2_000 }) },
      { weight: 1, arbitrary: fc.constantFrom(7_000, 31_000) },
    ),
  }),
  { minLength: 5, maxLength: 60 },
);

/** Takes the steps, and leaves every refusal and every outage to whoever asked. */
async function run(
  world: World,
  sequence: readonly Step[],
): Promise<{ instances: Instance[]; asked: Promise<void>[]; clients: readonly Attached[] }> {
  const instances = [await world.activeInstance(), await world.newInstance()];
  const asked: Promise<void>[] = [];
  const clients: Attached[] = [];
  const [placed, answered, connected] = [new Set<ScriptedLeg>(), new Set<ScriptedLeg>(), new Set<ScriptedLeg>()];
  const ask = (request: Promise<unknown>) => {
    asked.push(
      request.then(
        () => {},
        (error: unknown) => {
          if (!(error instanceof Refusal) && (error as Error).name !== "StorageUnavailable") throw error;
        },
      ),
    );
  };
  const place = (leg: ScriptedLeg | undefined) => {
    if (!leg || placed.has(leg)) return;
    placed.add(leg);
    leg.placed();
  };
  const answer = (leg: ScriptedLeg | undefined, media: boolean) => {
    if (!leg || !placed.has(leg) || answered.has(leg)) return;
    answered.add(leg);
    if (media) connected.add(leg);
    leg.answer({ media });
  };
  for (const { step, which, waitMs } of sequence) {
    const instance = instances[which % instances.length]!;
    const leg = step === "progress" ? world.network.legs.at(-1) : world.network.legs.at(-1 - (which % 3));
    const line = lineOf(world, instance);
    const client = clients[which % Math.max(1, clients.length)];
    switch (step) {
      case "create stream":
        ask(streamCall(world, instance));
        break;
      case "attach": {
        const calls = world.storage.down ? [] : await world.app.calls.list(ALICE);
        const call = calls.filter(({ message }) => message.type === "DYNAMIC_STREAM")[which % 3];
        if (!call) break;
        const recording = new RecordingClient(which % 2 ? 16_000 : undefined);
        ask(
          world.app.calls.stream(ALICE, call.id).then((seat) => {
            if (which % 7 === 0) seat.release();
            else clients.push({ client: recording, attachment: seat.attach(recording), callId: call.id });
          }),
        );
        break;
      }
      case "write":
        client?.attachment.write(new Int16Array(100 * (which + 1)).fill(900), which % 2 ? 16_000 : 8_000);
        break;
      case "mark":
        client?.attachment.mark(`mark ${which}`);
        break;
      case "clear":
        client?.attachment.clear();
        break;
      case "close":
        client?.attachment.hangUp();
        break;
      case "leave":
      case "break":
        client?.attachment.detach(step === "leave");
        break;
      case "create":
        ask(world.call(instance, "x".repeat(which + 1)));
        break;
      case "hang up": {
        const all = world.storage.down ? [] : await world.app.calls.list(ALICE);
        const calls = which % 4 === 0 ? all : all.filter((call) => isActive(call.status));
        const call = calls[which % Math.max(1, calls.length)];
        if (call) ask(world.app.calls.hangUp(ALICE, call.id));
        break;
      }
      case "scan":
        ask(world.app.instances.configure(ALICE, instance.id));
        await world.system.settle();
        if (lineOf(world, instance)?.linked === false) ask(world.line(instance).scan());
        break;
      case "online":
        if (line?.linked) line.goOnline();
        break;
      case "offline":
      case "offline unsaid":
        line?.goOffline("gone", { report: step === "offline" });
        break;
      case "unlinked":
        if (line?.linked) line.unlinkByOwner();
        break;
      case "delete":
        if (which % 5 === 0) ask(world.app.instances.delete(ALICE, instance.id));
        break;
      case "placed":
        place(leg);
        break;
      case "progress":
        if (leg && placed.has(leg)) answer(leg, true);
        else place(leg);
        break;
      case "alert":
        leg?.alert();
        break;
      case "answer":
      case "answer without media":
        answer(leg, step === "answer");
        break;
      case "connect":
        if (!leg || !answered.has(leg) || connected.has(leg)) break;
        connected.add(leg);
        leg.connect();
        break;
      case "press":
        leg?.press("1");
        break;
      case "end":
        leg?.end(CAUSES[which % CAUSES.length]!, null);
        break;
      case "stubborn":
        if (leg) leg.stubborn = true;
        break;
      case "silent":
        if (leg) leg.talkative = false;
        break;
      case "storage down":
        world.storage.down = true;
        break;
      case "storage up":
        world.storage.down = false;
    }
    if (waitMs >= 0) await world.system.advance(waitMs);
    await checkNow(world);
  }
  return { instances, asked, clients };
}

function lineOf(world: World, instance: Instance) {
  try {
    return world.line(instance);
  } catch {
    return undefined;
  }
}

/** What is true at every moment. */
async function checkNow(world: World): Promise<void> {
  const live = world.network.legs.filter((leg) => leg.live && !leg.stubborn && leg.hangUps === 0);
  const busy = live.map((leg) => leg.instanceId);
  expect(new Set(busy).size, "one leg per instance").toBe(busy.length);
  if (world.storage.down) return;
  const calls = await world.app.calls.list(ALICE);
  const onLine = calls.filter((call) => call.status === "RINGING" || call.status === "IN_PROGRESS");
  expect(new Set(onLine.map((call) => call.instanceId)).size, "one call on the line per instance").toBe(onLine.length);
  for (const call of calls) {
    expect(call.endedAt === null, "ended_at belongs to final states").toBe(isActive(call.status));
    expect(call.outcome === null).toBe(isActive(call.status));
    if (call.status === "IN_PROGRESS" || call.status === "COMPLETED") expect(call.startedAt).not.toBeNull();
  }
}

/** What is true of a call's story, however it went. */
async function checkStory(world: World, call: Call): Promise<void> {
  const timeline = await world.timeline(call);
  const types = timeline.map((event) => event.type);
  const finals = types.filter((type) => type === "completed" || type === "failed");
  expect(finals, "exactly one final event").toEqual([call.status === "COMPLETED" ? "completed" : "failed"]);
  expect(types.at(-1)).toBe(finals[0]);
  expect(types[0]).toBe("queued");
  for (const once of ["queued", "ringing", "answered"])
    expect(types.filter((type) => type === once).length).toBeLessThanOrEqual(1);
  expect(types.includes("answered")).toBe(call.startedAt !== null);
  const times = timeline.map((event) => event.timestamp);
  expect(times, "the timeline is ordered").toEqual([...times].sort((a, b) => a - b));
  expect(new Set(timeline.map((event) => event.id)).size).toBe(timeline.length);
  const { heardMs = 0, heardRatio, durationMs = 0 } = call.outcome ?? {};
  // Frames go out in the moments between a decision to end the call and its hang-up, while the storage is down.
  if (call.startedAt !== null) expect(heardMs).toBeLessThanOrEqual(durationMs + 20);
  if (call.message.type === "DYNAMIC_STREAM") expect(heardRatio).toBeNull();
  else {
    expect(heardRatio).toBeGreaterThanOrEqual(0);
    expect(heardRatio).toBeLessThanOrEqual(1);
  }
}

/** A client, and the stream that he was attached to. */
interface Attached {
  readonly client: RecordingClient;
  readonly attachment: StreamAttachment;
  readonly callId: string;
}

/** What is true of what a client was told, however the call went. */
function checkClient({ client, callId }: Attached, calls: readonly Call[]): void {
  expect(client.ends.length, "he is let go of once at most").toBeLessThanOrEqual(1);
  const call = calls.find(({ id }) => id === callId);
  const finals = client.story.filter((event) => event === "completed" || event === "failed");
  expect(finals.length).toBeLessThanOrEqual(1);
  if (finals.length === 0) return;
  expect(finals[0]).toBe(call?.status.toLowerCase());
  expect(client.ends).toEqual(finals);
  expect(client.story.at(-1), "nothing comes after the end").toBe(finals[0]);
  expect(client.latest(finals[0]!)?.data.reason).toBe(call?.outcome?.reason);
}

async function holds(world: World, sequence: readonly Step[]): Promise<void> {
  await world.storage.open({ exclusive: true });
  await world.app.start();
  const seen = new Map<string, Call>();
  const { instances, asked, clients } = await run(world, sequence);
  for (const call of await allCalls(world)) if (!isActive(call.status)) seen.set(call.id, call);

  // Everything comes to its end once the storage works again and the network has nothing more to say.
  world.storage.down = false;
  for (const leg of world.network.legs) leg.end("callee_hung_up");
  for (const instance of instances) lineOf(world, instance)?.goOffline();
  for (let hours = 0; hours < 3; hours++) await world.system.advance(20 * 60_000);
  await Promise.all(asked);
  for (const call of await allCalls(world)) {
    expect(isActive(call.status), `call ${call.id} is over`).toBe(false);
    await checkStory(world, call);
    const before = seen.get(call.id);
    if (before) expect(call, "a final call never changes").toEqual(before);
  }
  const calls = await allCalls(world);
  for (const client of clients) checkClient(client, calls);
  expect(world.errors, "nothing an operator should see").toEqual([]);
  await world.stop();
  expect(world.system.waiting, "no timer is left").toBe(0);
}

async function allCalls(world: World): Promise<Call[]> {
  world.storage.down = false;
  return world.app.calls.list(ALICE);
}

// A sequence takes a hundred times as long as an input of a parser.
const runs = Math.round(Math.max(20, Math.min(fuzzRuns / 5, 200)));

for (const policy of [{ kind: "single" }, { kind: "fifo", depth: 4, paceMs: 500 }] as const)
  test(`whatever happens in whatever order, each call ends once and an instance carries one at a time (${policy.kind})`, {
    timeout: Math.max(60_000, runs * 500),
  }, async () => {
    await fc.assert(
      fc.asyncProperty(steps, (sequence) => holds(new World({ policy, streamPreview: true }), sequence)),
      { numRuns: runs },
    );
  });
