import { rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { fillDisk, mountInMemory, unmount } from "../support/mount.ts";
import { relayTo } from "../support/relay.ts";
import { expectProblem } from "../support/response-shapes.ts";
import { describeEach, ON_EVERY_POSTGRES, ON_NODE, Server, useServer } from "../support/server.ts";
import { expected, HELLO, type InstanceView, until } from "../support/server-client.ts";

const DISK_SIZE = "size=6m";

describeEach([ON_NODE], (target) => {
  const disk = join(tmpdir(), `ringport-small-disk-${process.pid}`);
  const missing = mountInMemory(disk, DISK_SIZE);
  unmount(disk); // hooks, which would unmount it, do not run for tests that a filter leaves out

  describe.skipIf(missing)(`a full file system${missing ? ` (skipped: ${missing})` : ""}`, () => {
    const filler = join(disk, "filler");
    const server = new Server(target, { data: join(disk, "data") });
    beforeAll(async () => {
      mountInMemory(disk, DISK_SIZE);
      await server.start();
    });
    afterAll(async () => {
      await server.dispose();
      unmount(disk);
    });

    test("writes get 503 until there is room; unstored ones never get 201", async () => {
      const client = await server.as("ada");
      const linkedInstance = await client.activeInstance("linked");
      const liveCall = await client.call(linkedInstance.id, { tts: HELLO });
      const waitingInstance = await client.createInstance("waiting");
      const metadata = { padding: "x".repeat(15_000) };
      const createdIds: string[] = [];
      const refusedNames: string[] = [];
      const post = async (name: string) => {
        const response = await client.post("/v1/instances", { name, metadata });
        if (response.status === 201) createdIds.push(response.json<InstanceView>().id);
        else {
          expectProblem(response, 503, "storage_unavailable", "/v1/instances");
          expect(Number(response.headers["retry-after"])).toBeGreaterThan(0);
          refusedNames.push(name);
        }
        return response.status;
      };
      fillDisk(filler);
      await until(
        () => post(`full ${createdIds.length}`),
        (status) => status === 503,
        20_000,
        "the disk to be full",
      );
      for (let i = 0; i < 5; i++) expect(await post(`still full ${i}`)).toBe(503);
      expectProblem(await client.postCall(waitingInstance.id), 503, "storage_unavailable");
      for (const path of ["/healthz", "/readyz"]) expect((await server.request("GET", path)).status, path).toBe(200);
      expect((await client.get("/v1/instances?limit=5")).status).toBe(200);

      rmSync(filler);
      await until(
        () => post(`free ${createdIds.length}`),
        (status) => status === 201,
        10_000,
        "the disk to have room",
      );
      await client.waitForCall(liveCall.id); // whatever its outcome, it does not stay live forever
      await server.kill9();
      await server.start();
      const list = expected(200, await client.get("/v1/instances")).json<InstanceView[]>();
      const names = list.map(({ name }) => name);
      expect(list.map(({ id }) => id)).toEqual(expect.arrayContaining(createdIds));
      for (const name of refusedNames) expect(names).not.toContain(name);
      expect(list).toHaveLength(createdIds.length + 2);
    });
  });

  describe("a database that another process has locked", () => {
    const server = useServer(target);
    const whileLocked = async (work: () => Promise<void>): Promise<void> => {
      const { database } = server;
      if (!("file" in database)) throw new Error("this needs SQLite");
      const otherDatabase = new DatabaseSync(database.file);
      otherDatabase.exec("pragma busy_timeout = 5000");
      otherDatabase.exec("begin exclusive");
      try {
        await work();
      } finally {
        otherDatabase.exec("rollback");
        otherDatabase.close();
      }
    };

    test("writes get 503 until it is unlocked; reads continue", async () => {
      const client = await server.as("ada");
      const { id } = await client.createInstance();
      const call = await client.call(id);
      const idleInstance = await client.createInstance();
      const rowsBefore = await server.rows();
      await whileLocked(async () => {
        const responses = await Promise.all([
          client.post("/v1/instances", { name: "locked" }),
          client.postCall((await client.instance(idleInstance.id)).id, {}, { "idempotency-key": "locked" }),
        ]);
        for (const response of responses) {
          expectProblem(response, 503, "storage_unavailable");
          expect(Number(response.headers["retry-after"])).toBeGreaterThan(0);
        }
        expect((await client.readCall(call.id)).status).toBe("QUEUED");
        expect((await server.request("GET", "/healthz")).status).toBe(200);
      });
      expect((await client.post("/v1/instances", { name: "free" })).status).toBe(201);
      const { instances, events, event_counters, stored_usage: _bytes, ...otherTables } = await server.rows();
      expect(otherTables).toMatchObject(
        Object.fromEntries(Object.entries(rowsBefore).filter(([name]) => name in otherTables)),
      );
      expect(instances?.map(({ name }) => name)).not.toContain("locked");
      expect(events!.length).toBe(rowsBefore.events!.length + 1);
      expect(event_counters).toEqual([expect.objectContaining({ position: events!.length })]);
      expect((await client.delete(`/v1/calls/${call.id}`)).status).toBe(204);
    });

    test("deletions get 503 and finish later; one repetition gets 204", async () => {
      const client = await server.as("ada");
      const [waitingInstance, deletedInstance] = [await client.createInstance(), await client.createInstance()];
      const call = await client.call(waitingInstance.id);
      const paths = [`/v1/calls/${call.id}`, `/v1/instances/${deletedInstance.id}`];
      await whileLocked(async () => {
        for (const response of await Promise.all(paths.map((path) => client.delete(path))))
          expectProblem(response, 503, "storage_unavailable");
      });
      await client.waitForCall(call.id, ["FAILED"]);
      await until(
        () => client.get(`/v1/instances/${deletedInstance.id}`),
        ({ status }) => status === 404,
        10_000,
        "the deletion of the instance",
      );
      for (const path of paths) {
        expect((await client.delete(path)).status).toBe(204);
        expect((await client.delete(path)).status).toBe(404);
      }
    });

    test("the outcome of a call that ends in the meantime is stored later", async () => {
      const client = await server.as("ada");
      const { id } = await client.call((await client.activeInstance()).id);
      await client.waitForCall(id, ["IN_PROGRESS"]);
      await whileLocked(async () => {
        // Longer than the message: the call ends while writes fail.
        const deadline = performance.now() + 4_000;
        while (performance.now() < deadline) expect((await client.readCall(id)).status).toBe("IN_PROGRESS");
      });
      const endedCall = await client.waitForCall(id);
      expect(endedCall).toMatchObject({ status: "COMPLETED", outcome: { reason: "message_played", heard_ratio: 1 } });
      expect(endedCall.outcome!.duration_ms).toBeLessThan(3_500);
      expect((await client.timeline(id)).filter(({ type }) => type === "completed")).toHaveLength(1);
    });
  });
});

describeEach(ON_EVERY_POSTGRES, (target) => {
  const server = useServer(target);

  test("an unreachable PostgreSQL causes 503 until it is back", async () => {
    const { database } = server;
    if (!("url" in database)) throw new Error("this needs PostgreSQL");
    const relay = await relayTo(database.url);
    await server.stop();
    await server.start({ DATABASE_URL: relay.url });
    const client = await server.as("ada");
    const { id } = await client.call((await client.activeInstance()).id, { tts: HELLO });
    await client.waitForCall(id, ["IN_PROGRESS"]);

    await relay.cut();
    for (const name of ["one", "two", "three"]) {
      const response = await client.post("/v1/instances", { name });
      expectProblem(response, 503, "storage_unavailable", "/v1/instances");
      expect(Number(response.headers["retry-after"])).toBeGreaterThan(0);
    }
    expect((await server.request("GET", "/healthz")).status).toBe(200);

    await relay.repair();
    await until(
      () => client.post("/v1/instances", { name: "back" }),
      ({ status }) => status === 201,
      20_000,
      "the database to be used again",
    );
    const endedCall = await client.waitForCall(id);
    expect(endedCall).toMatchObject({ status: "COMPLETED", outcome: { reason: "message_played", heard_ratio: 1 } });
    expect((await client.timeline(id)).filter(({ type }) => type === "completed")).toHaveLength(1);
    const names = (await server.rows()).instances!.map(({ name }) => name);
    expect(names.filter((name) => name !== "Front desk")).toEqual(["back"]);
    await server.stop();
    await relay.cut();
    await server.start();
  });
});

describeEach(ON_EVERY_POSTGRES, (target) => {
  const server = useServer(target);

  test("PostgreSQL's lost responses change no call", async () => {
    const { database } = server;
    if (!("url" in database)) throw new Error("this needs PostgreSQL");
    const relay = await relayTo(database.url);
    await server.stop();
    await server.start({ DATABASE_URL: relay.url });
    const client = await server.as("ada");
    const instance = await client.activeInstance();
    const claim = relay.loseResponse('update "calls" set "owner"');
    const { id } = await client.call(instance.id, { tts: HELLO });
    await claim;
    const finalStates = ["COMPLETED", "FAILED"] as const;
    // A reader whose connection breaks gets 503 and asks again; the call itself must not change.
    const waitUntilStatus = (statuses: readonly string[]) =>
      until(
        () => client.readCall(id).catch(() => undefined),
        (call) => call !== undefined && statuses.includes(call.status),
        30_000,
        `the call to be ${statuses.join(" or ")}`,
      );
    const finalCall = waitUntilStatus(finalStates);
    for (const statuses of [
      ["RINGING", "IN_PROGRESS", ...finalStates],
      ["IN_PROGRESS", ...finalStates],
      finalStates,
    ] as const) {
      // The NUL distinguishes the query from the "read committed" that starts transactions.
      await Promise.race([relay.loseResponse("commit\0"), finalCall]);
      await waitUntilStatus(statuses);
    }
    const endedCall = await finalCall;
    expect(endedCall).toMatchObject({ status: "COMPLETED", outcome: { reason: "message_played", heard_ratio: 1 } });
    const mainTypes = ["queued", "ringing", "answered", "completed"];
    const types = (await client.timeline(id)).map(({ type }) => type);
    expect(types.filter((type) => mainTypes.includes(type))).toEqual(mainTypes);
    await server.stop();
    await relay.cut();
    await server.start();
  });
});
