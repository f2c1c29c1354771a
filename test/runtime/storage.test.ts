import { rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { expectProblem } from "../support/answer-shapes.ts";
import { fillDisk, mountInMemory, unmount } from "../support/mount.ts";
import { relayTo } from "../support/relay.ts";
import { describeEach, ON_EVERY_POSTGRES, ON_NODE, Server, useServer } from "../support/server.ts";
import { expected, HELLO, type InstanceView, until } from "../support/server-client.ts";

const SMALL = "size=6m";

describeEach([ON_NODE], (target) => {
  const disk = join(tmpdir(), `ringport-small-disk-${process.pid}`);
  const missing = mountInMemory(disk, SMALL);
  unmount(disk); // hooks, which would, do not run for tests that a filter leaves out

  describe.skipIf(missing)(`a full file system${missing ? ` (skipped: ${missing})` : ""}`, () => {
    const filler = join(disk, "filler");
    const server = new Server(target, { data: join(disk, "data") });
    beforeAll(async () => {
      mountInMemory(disk, SMALL);
      await server.start();
    });
    afterAll(async () => {
      await server.dispose();
      unmount(disk);
    });

    test("writes get 503 until there is room; unstored ones never get 201", async () => {
      const client = await server.as("ada");
      const linked = await client.activeInstance("linked");
      const live = await client.call(linked.id, { tts: HELLO });
      const waiting = await client.createInstance("waiting");
      const metadata = { padding: "x".repeat(15_000) };
      const made: string[] = [];
      const refused: string[] = [];
      const post = async (name: string) => {
        const answer = await client.post("/v1/instances", { name, metadata });
        if (answer.status === 201) made.push(answer.json<InstanceView>().id);
        else {
          expectProblem(answer, 503, "storage_unavailable", "/v1/instances");
          expect(Number(answer.headers["retry-after"])).toBeGreaterThan(0);
          refused.push(name);
        }
        return answer.status;
      };
      fillDisk(filler);
      await until(
        () => post(`full ${made.length}`),
        (status) => status === 503,
        20_000,
        "the disk to be full",
      );
      for (let i = 0; i < 5; i++) expect(await post(`still full ${i}`)).toBe(503);
      expectProblem(await client.postCall(waiting.id), 503, "storage_unavailable");
      for (const path of ["/healthz", "/readyz"]) expect((await server.ask("GET", path)).status, path).toBe(200);
      expect((await client.get("/v1/instances?limit=5")).status).toBe(200);

      rmSync(filler);
      await until(
        () => post(`free ${made.length}`),
        (status) => status === 201,
        10_000,
        "the disk to be free",
      );
      await client.waitForCall(live.id); // whatever its outcome, it does not stay live forever
      await server.kill9();
      await server.start();
      const list = expected(200, await client.get("/v1/instances")).json<InstanceView[]>();
      const names = list.map(({ name }) => name);
      expect(list.map(({ id }) => id)).toEqual(expect.arrayContaining(made));
      for (const name of refused) expect(names).not.toContain(name);
      expect(list).toHaveLength(made.length + 2);
    });
  });

  describe("a database that another process holds locked", () => {
    const server = useServer(target);
    const locked = async (work: () => Promise<void>): Promise<void> => {
      const { database } = server;
      if (!("file" in database)) throw new Error("this needs SQLite");
      const other = new DatabaseSync(database.file);
      other.exec("pragma busy_timeout = 5000");
      other.exec("begin exclusive");
      try {
        await work();
      } finally {
        other.exec("rollback");
        other.close();
      }
    };

    test("writes get 503 until it is unlocked; reads continue", async () => {
      const client = await server.as("ada");
      const { id } = await client.createInstance();
      const call = await client.call(id);
      const idle = await client.createInstance();
      const before = await server.rows();
      await locked(async () => {
        const answers = await Promise.all([
          client.post("/v1/instances", { name: "locked" }),
          client.postCall((await client.instance(idle.id)).id, {}, { "idempotency-key": "locked" }),
        ]);
        for (const answer of answers) {
          expectProblem(answer, 503, "storage_unavailable");
          expect(Number(answer.headers["retry-after"])).toBeGreaterThan(0);
        }
        expect((await client.readCall(call.id)).status).toBe("QUEUED");
        expect((await server.ask("GET", "/healthz")).status).toBe(200);
      });
      expect((await client.post("/v1/instances", { name: "free" })).status).toBe(201);
      const { instances, events, event_counters, stored_usage: _bytes, ...others } = await server.rows();
      expect(others).toMatchObject(Object.fromEntries(Object.entries(before).filter(([name]) => name in others)));
      expect(instances?.map(({ name }) => name)).not.toContain("locked");
      expect(events!.length).toBe(before.events!.length + 1);
      expect(event_counters).toEqual([expect.objectContaining({ position: events!.length })]);
      expect((await client.delete(`/v1/calls/${call.id}`)).status).toBe(204);
    });

    test("deletions get 503 and finish later; one repetition gets 204", async () => {
      const client = await server.as("ada");
      const [waiting, doomed] = [await client.createInstance(), await client.createInstance()];
      const call = await client.call(waiting.id);
      const paths = [`/v1/calls/${call.id}`, `/v1/instances/${doomed.id}`];
      await locked(async () => {
        for (const answer of await Promise.all(paths.map((path) => client.delete(path))))
          expectProblem(answer, 503, "storage_unavailable");
      });
      await client.waitForCall(call.id, ["FAILED"]);
      await until(
        () => client.get(`/v1/instances/${doomed.id}`),
        ({ status }) => status === 404,
        10_000,
        "the instance to be gone",
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
      await locked(async () => {
        // Longer than the message: the call ends while writes fail.
        const until = performance.now() + 4_000;
        while (performance.now() < until) expect((await client.readCall(id)).status).toBe("IN_PROGRESS");
      });
      const ended = await client.waitForCall(id);
      expect(ended).toMatchObject({ status: "COMPLETED", outcome: { reason: "message_played", heard_ratio: 1 } });
      expect(ended.outcome!.duration_ms).toBeLessThan(3_500);
      expect((await client.timeline(id)).filter(({ type }) => type === "completed")).toHaveLength(1);
    });
  });
});

describeEach(ON_EVERY_POSTGRES, (target) => {
  const server = useServer(target);

  test("an unreachable PostgreSQL gives 503 until it is back", async () => {
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
      const answer = await client.post("/v1/instances", { name });
      expectProblem(answer, 503, "storage_unavailable", "/v1/instances");
      expect(Number(answer.headers["retry-after"])).toBeGreaterThan(0);
    }
    expect((await server.ask("GET", "/healthz")).status).toBe(200);

    await relay.repair();
    await until(
      () => client.post("/v1/instances", { name: "back" }),
      ({ status }) => status === 201,
      20_000,
      "the database to be used again",
    );
    const ended = await client.waitForCall(id);
    expect(ended).toMatchObject({ status: "COMPLETED", outcome: { reason: "message_played", heard_ratio: 1 } });
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
    const claimed = relay.loseResponse('update "calls" set "owner"');
    const { id } = await client.call(instance.id, { tts: HELLO });
    await claimed;
    const finalStates = ["COMPLETED", "FAILED"] as const;
    // A reader whose connection breaks gets 503 and asks again; the call itself must not change.
    const reach = (statuses: readonly string[]) =>
      until(
        () => client.readCall(id).catch(() => undefined),
        (call) => call !== undefined && statuses.includes(call.status),
        30_000,
        `the call to be ${statuses.join(" or ")}`,
      );
    const ending = reach(finalStates);
    for (const reached of [
      ["RINGING", "IN_PROGRESS", ...finalStates],
      ["IN_PROGRESS", ...finalStates],
      finalStates,
    ] as const) {
      // The end of the query distinguishes it from the "read committed" that starts transactions.
      await Promise.race([relay.loseResponse("commit\0"), ending]);
      await reach(reached);
    }
    const ended = await ending;
    expect(ended).toMatchObject({ status: "COMPLETED", outcome: { reason: "message_played", heard_ratio: 1 } });
    const moves = ["queued", "ringing", "answered", "completed"];
    const types = (await client.timeline(id)).map(({ type }) => type);
    expect(types.filter((type) => moves.includes(type))).toEqual(moves);
    await server.stop();
    await relay.cut();
    await server.start();
  });
});
