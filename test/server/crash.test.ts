import { connect } from "node:net";
import { describe, expect, test } from "vitest";
import { ALL_TARGETS, describeEach, type Server, useServer } from "../support/server.ts";
import { type Client, type EventView, HELLO, until } from "../support/server-client.ts";
import type { Row, Rows } from "../support/server-database.ts";
import { loudness } from "../support/server-sound.ts";

/** About 6 s of speech. */
const LONG_MESSAGE = {
  text: "Your appointment is tomorrow at nine in the morning. Please bring the documents that you were sent last week.",
  voiceId: "en-US-1",
};

describeEach(ALL_TARGETS, (target) => {
  const server = useServer(target);

  describe("a server killed with -9 in the middle of a call", () => {
    test("it restarts with that call FAILED/interrupted and all else unchanged", async () => {
      const { client, callingInstance, linkedInstance, waitingInstance, liveCall, queuedCall } =
        await setUpBusyServer(server);
      const startedAt = Date.now();
      await until(Date.now, (now) => now - startedAt > 700, 5_000, "some audio to be heard");
      await server.kill9();
      const rowsBefore = await server.rows();
      await server.start();

      // The first response already shows it.
      const interruptedCall = await client.readCall(liveCall.id);
      expect(interruptedCall).toMatchObject({ status: "FAILED", outcome: { reason: "interrupted", heard_ms: null } });
      expect(interruptedCall.ended_at).not.toBeNull();
      expect(interruptedCall.started_at).toBe(liveCall.started_at);
      expect((await client.timeline(liveCall.id)).filter(({ type }) => type === "failed")).toHaveLength(1);
      expect((await client.readCall(queuedCall.id)).status).toBe("QUEUED");

      for (const { id } of [callingInstance, linkedInstance]) await client.waitForInstance(id, "ACTIVE");
      expect((await client.instance(waitingInstance.id)).status).toBe("CREATED");
      expectUnchanged(rowsBefore, await server.rows(), [callingInstance.id, linkedInstance.id], liveCall.id);

      // The audio heard before is complete.
      const heardSound = await client.heard(liveCall.id);
      expect(heardSound.samples.length / heardSound.sampleRate).toBeGreaterThan(0.1);
      expect(heardSound.samples.length / heardSound.sampleRate).toBeLessThan(6);
      expect(loudness(heardSound)).toBeGreaterThan(100);

      // The freed slot accepts a call, and the waiting call is dialled once its instance is linked.
      const nextCall = await client.call(callingInstance.id);
      await client.link(waitingInstance.id);
      for (const { id } of [nextCall, queuedCall])
        expect(await client.waitForCall(id)).toMatchObject({
          status: "COMPLETED",
          outcome: { reason: "message_played" },
        });
    });
  });

  describe("SIGTERM in the middle of a call", () => {
    test("the call ends within the drain time; the exit code is 0", async () => {
      const client = await server.as("ada");
      const { id } = await client.call((await client.activeInstance()).id, { tts: HELLO });
      await client.waitForCall(id, ["IN_PROGRESS"]);
      expect(await server.stop("SIGTERM")).toBe(0);
      await server.start();
      const call = await client.readCall(id);
      expect(call).toMatchObject({ status: "COMPLETED", outcome: { reason: "message_played", heard_ratio: 1 } });
      expect(loudness(await client.heard(id))).toBeGreaterThan(100);
    });

    test("the call is interrupted after the drain time; the exit code is 0", async () => {
      const client = await server.as("ada");
      await server.stop();
      await server.start({ RINGPORT_DRAIN_MS: "300" });
      const { id: instance } = await client.activeInstance();
      const { id } = await client.call(instance, { tts: LONG_MESSAGE });
      await untilHeard(client, id);
      expect(await server.stop("SIGTERM")).toBe(0);
      await server.start();
      const call = await client.readCall(id);
      expect(call).toMatchObject({ status: "FAILED", outcome: { reason: "interrupted" } });
      expect(call.outcome!.heard_ms).toBeGreaterThan(0);
      await client.waitForInstance(instance, "ACTIVE");
    });

    test("a second signal ends the server immediately", async () => {
      const client = await server.as("ada");
      const { id } = await client.call((await client.activeInstance()).id, { tts: LONG_MESSAGE });
      await client.waitForCall(id, ["IN_PROGRESS"]);
      process.kill(server.pid, "SIGTERM");
      await until(
        () => server.request("GET", "/readyz"),
        ({ status }) => status === 503,
        2_000,
        "the server to be stopping",
      );
      expect(await server.stop("SIGTERM")).not.toBe(0);
      await server.start();
      expect(await client.readCall(id)).toMatchObject({ status: "FAILED", outcome: { reason: "interrupted" } });
    });
  });

  test("SIGINT without a call ends the server without waiting", async () => {
    await server.as("ada");
    const { hostname, port } = new URL(server.base);
    const startedAt = performance.now();
    expect(await server.stop("SIGINT")).toBe(0);
    expect(performance.now() - startedAt).toBeLessThan(10_000);
    const isRefused = await new Promise<boolean>((resolve) => {
      const socket = connect(Number(port), hostname, () => resolve(false));
      socket.once("error", () => resolve(true));
    });
    expect(isRefused).toBe(true);
    await server.start();
  });
});

/** Waits until the callee hears the message. */
async function untilHeard(client: Client, id: string): Promise<void> {
  await client.waitForCall(id, ["IN_PROGRESS"]);
  const isReady = (events: readonly EventView[]) => events.some(({ type }) => type === "message_ready");
  await until(() => client.timeline(id), isReady, 10_000, "the message to be ready");
}

/** A server with a live, a queued and an ended call, a linked line, and a deleted instance. */
async function setUpBusyServer(server: Server) {
  const client: Client = await server.as("ada");
  await client.post("/v1/instances", { name: "With a key" }, { "idempotency-key": `crash-${Date.now()}` });
  const [callingInstance, linkedInstance, waitingInstance] = [
    await client.activeInstance("calling"),
    await client.activeInstance("linked"),
    await client.createInstance("waiting", { kept: "as it is" }),
  ];
  const endedCall = await client.call(linkedInstance.id, { target: { phoneNumber: "+12025550101" } });
  await client.waitForCall(endedCall.id);
  const deletedInstance = await client.activeInstance("deleted");
  await client.delete(`/v1/instances/${deletedInstance.id}`);
  const queuedCall = await client.call(waitingInstance.id, { tts: HELLO });
  const { id } = await client.call(callingInstance.id, { tts: LONG_MESSAGE });
  await untilHeard(client, id);
  const liveCall = await client.readCall(id);
  return { client, callingInstance, linkedInstance, waitingInstance, liveCall, queuedCall };
}

/** Asserts that a restart only changed the interrupted call's row and its instance's count, the state of linked instances, new log entries, and the bytes that these take. */
function expectUnchanged(before: Rows, after: Rows, linkedIds: readonly string[], interruptedId: string): void {
  expect(Object.keys(after).sort()).toEqual(Object.keys(before).sort());
  const { calls, instances, events, event_counters, trusted_time, finished_counts, stored_usage, ...otherTables } =
    before;
  for (const [table, rows] of Object.entries(otherTables))
    expect({ table, rows: after[table] }).toEqual({ table, rows });

  const withoutIds = (rows: readonly Row[] | undefined, ids: readonly string[]) =>
    rows?.filter((row) => !ids.includes(String(row.id)));
  expect(withoutIds(after.calls, [interruptedId])).toEqual(withoutIds(calls, [interruptedId]));
  expect(withoutIds(after.instances, linkedIds)).toEqual(withoutIds(instances, linkedIds));
  const outline = ({ status, updated_at, version, owner, outcome, ended_at, stored_bytes, ...kept }: Row): Row => kept;
  expect(after.calls?.map(outline)).toEqual(calls?.map(outline));
  expect(after.instances?.map(outline)).toEqual(instances?.map(outline));

  expect(after.events).toEqual(expect.arrayContaining([...(events ?? [])]));
  const addedEvents = after.events!.filter((event) => !events?.some(({ id }) => id === event.id));
  expect(addedEvents.filter(({ call_id }) => call_id !== null).map(({ type, call_id }) => [type, call_id])).toEqual([
    ["failed", interruptedId],
  ]);
  for (const event of addedEvents) if (event.call_id === null) expect(linkedIds).toContain(event.instance_id);

  const position = (rows: readonly Row[] | undefined) => rows?.reduce((sum, row) => sum + Number(row.position), 0);
  expect(position(after.event_counters)).toBe(position(event_counters)! + addedEvents.length);

  const countOf = (rows: readonly Row[] | undefined) => rows?.reduce((sum, { calls }) => sum + Number(calls), 0);
  expect(countOf(after.finished_counts)).toBe(countOf(finished_counts)! + 1);
}
