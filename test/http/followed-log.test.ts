import { cp } from "node:fs/promises";
import { createRingport, type Ringport, realSystem, type Storage } from "ringport";
import { createClient } from "ringport/client";
import { postgresStorage } from "ringport/postgres";
import { sqliteStorage } from "ringport/sqlite";
import { describe, expect, test } from "vitest";
import { findPostgres } from "../support/postgres.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const WRITERS = 8;
const CALLS = 12;

interface WithId {
  readonly id: string;
}

interface ReadEvents {
  readonly ids: string[];
  readonly cursor: string | undefined;
}

/** A Ringport over the storage, with a token, whose wall clock is off by `clockOffsetMs()`. */
async function startRingport(storage: Storage, clockOffsetMs: () => number = () => 0) {
  const ringport = createRingport({
    data: temporaryFolder("followed"),
    storage,
    system: { ...realSystem, now: () => realSystem.now() + clockOffsetMs() },
  });
  const { token } = await ringport.tokens.issue({ userName: "ana", label: "test" });
  const send = (method: string, path: string, body?: unknown) => sendRequest(ringport, token, method, path, body);
  const ask = (method: string, path: string, headers: Record<string, string> = {}): Promise<Response> =>
    ringport.fetch(
      new Request(`http://ringport.test${path}`, { method, headers: { ...headers, authorization: `Bearer ${token}` } }),
    );
  /** All events after the cursor. */
  const readEventsAfter = async (afterCursor?: string): Promise<ReadEvents> => {
    const ids: string[] = [];
    let cursor = afterCursor;
    for (;;) {
      const response = await send("GET", `/v1/events?limit=9${cursor === undefined ? "" : `&cursor=${cursor}`}`);
      const events = (await response.json()) as WithId[];
      ids.push(...events.map(({ id }) => id));
      cursor = response.headers.get("next-cursor") ?? undefined;
      if (response.headers.get("link") === null) return { ids, cursor };
    }
  };
  return { ringport, token, ask, send, follow: readEventsAfter };
}

async function sendRequest(
  ringport: Ringport,
  token: string,
  method: string,
  path: string,
  body: unknown,
): Promise<Response> {
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const payload = body === undefined ? {} : { body: JSON.stringify(body) };
  const response = await ringport.fetch(new Request(`http://ringport.test${path}`, { method, headers, ...payload }));
  expect(response.ok, `${method} ${path}: ${response.status}`).toBe(true);
  return response;
}

/** Runs eight programs that create calls and hang up, while another one follows the log. */
async function manyWriters(storage: Storage): Promise<void> {
  const { ringport, send, follow } = await startRingport(storage);
  let activeWriters = WRITERS;
  const write = async (): Promise<void> => {
    const { id: instanceId } = (await (await send("POST", "/v1/instances", { name: "Desk" })).json()) as WithId;
    for (let n = 0; n < CALLS; n++) {
      const call = { instanceId, type: "DYNAMIC_STREAM", target: { phoneNumber: "+12025550100" } };
      const { id } = (await (await send("POST", "/v1/calls", call)).json()) as WithId;
      await send("DELETE", `/v1/calls/${id}`);
    }
  };
  const read = async (): Promise<string[]> => {
    const ids: string[] = [];
    for (let cursor: string | undefined; ; ) {
      const isLastPass = activeWriters === 0;
      const newEvents = await follow(cursor);
      ids.push(...newEvents.ids);
      if (isLastPass) return ids;
      ({ cursor } = newEvents);
      await new Promise((resume) => setTimeout(resume)); // the writers share this thread
    }
  };
  const reader = read();
  await Promise.all(Array.from({ length: WRITERS }, () => write().finally(() => activeWriters--)));
  const readIds = await reader;
  const allIds = (await follow()).ids;
  expect(allIds).toHaveLength(WRITERS * (1 + 2 * CALLS));
  expect(readIds).toEqual(allIds);
  await ringport.stop({ drainMs: 0 });
}

describe("a reader that follows GET /v1/events", () => {
  test("a reader sees every event of eight writers exactly once (SQLite)", { timeout: 30_000 }, () =>
    manyWriters(sqliteStorage({ path: `${temporaryFolder("followed")}/ringport.db`, synchronous: "NORMAL" })),
  );

  test("a reader misses no event if the clock is set back at a restart", { timeout: 30_000 }, async () => {
    const path = `${temporaryFolder("followed")}/ringport.db`;
    const earlierServer = await startRingport(sqliteStorage({ path }));
    await earlierServer.send("POST", "/v1/instances", { name: "Before" });
    const earlierEvents = await earlierServer.follow();
    await earlierServer.ringport.stop();

    const laterServer = await startRingport(sqliteStorage({ path }), () => -3_600_000);
    await laterServer.send("POST", "/v1/instances", { name: "After" });
    const newEvents = await laterServer.follow(earlierEvents.cursor);
    expect(newEvents.ids).toHaveLength(1);
    expect((await laterServer.follow()).ids).toEqual([...earlierEvents.ids, ...newEvents.ids]);
    await laterServer.ringport.stop();
  });

  test.each([
    ["is shorter than the cursor", 0],
    ["has another event at the cursor", 1],
    ["is longer than before", 3],
  ])("a reader of a restored log that %s learns where to continue, and misses no event", async (_, newCount) => {
    const [folder, copyFolder] = [temporaryFolder("followed"), temporaryFolder("followed")];
    const originalServer = await startRingport(sqliteStorage({ path: `${folder}/ringport.db` }));
    for (const name of ["One", "Two"]) await originalServer.send("POST", "/v1/instances", { name });
    await originalServer.ringport.stop();
    await cp(folder, copyFolder, { recursive: true });

    const laterServer = await startRingport(sqliteStorage({ path: `${folder}/ringport.db` }));
    await laterServer.send("POST", "/v1/instances", { name: "Lost" });
    const readEvents = await laterServer.follow();
    await laterServer.ringport.stop();

    const restoredServer = await startRingport(sqliteStorage({ path: `${copyFolder}/ringport.db` }));
    for (let n = 0; n < newCount; n++) await restoredServer.send("POST", "/v1/instances", { name: "New" });
    const refusal = await restoredServer.ask("GET", `/v1/events?cursor=${readEvents.cursor}`);
    const problem = (await refusal.json()) as { code: string; cursor: string; detail: string };
    expect([refusal.status, problem.code]).toEqual([410, "log_reset"]);
    expect(refusal.headers.get("next-cursor")).toBe(problem.cursor);
    expect(problem.detail).toContain(problem.cursor);
    const streamResponse = await restoredServer.ask("GET", "/v1/events", {
      accept: "text/event-stream",
      "last-event-id": readEvents.cursor!,
    });
    expect(streamResponse.status).toBe(410);
    const newEvents = await restoredServer.follow(problem.cursor);
    expect(newEvents.ids).toHaveLength(newCount);
    expect([...readEvents.ids.slice(0, 2), ...newEvents.ids]).toEqual((await restoredServer.follow()).ids);

    const client = createClient({
      url: "http://ringport.test",
      token: restoredServer.token,
      fetch: restoredServer.ringport.fetch,
    });
    const abort = new AbortController();
    const pages = client.followEvents({ cursor: readEvents.cursor }, { signal: abort.signal });
    expect((await pages.next()).value).toMatchObject({ items: [], cursor: problem.cursor, reset: true });
    if (newCount > 0) expect((await pages.next()).value).toMatchObject({ items: newEvents.ids.map((id) => ({ id })) });
    abort.abort(new Error("aborted by the test"));
    await restoredServer.ringport.stop();
  });

  test("a cursor whose event was deleted still works", async () => {
    const { ringport, send, follow } = await startRingport(
      sqliteStorage({ path: `${temporaryFolder("followed")}/ringport.db` }),
    );
    const { id: instanceId } = (await (await send("POST", "/v1/instances", { name: "Desk" })).json()) as WithId;
    const call = { instanceId, type: "DYNAMIC_STREAM", target: { phoneNumber: "+12025550100" } };
    const { id } = (await (await send("POST", "/v1/calls", call)).json()) as WithId;
    await send("DELETE", `/v1/calls/${id}`);
    const { cursor } = await follow();
    await ringport.erase({ phone: "+12025550100" });
    await send("POST", "/v1/instances", { name: "After" });
    expect((await follow(cursor)).ids).toHaveLength(1);
    await ringport.stop();
  });
});

const postgres = await findPostgres();
describe.skipIf(postgres.missing)(postgres.title, () => {
  test("a reader sees every event of eight writers exactly once", { timeout: 60_000 }, async () => {
    const server = await postgres.start();
    try {
      await manyWriters(postgresStorage({ url: await server.createDatabase() }));
    } finally {
      await server.stop();
    }
  });
});
