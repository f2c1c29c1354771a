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

interface Named {
  readonly id: string;
}

interface Read {
  readonly ids: string[];
  readonly cursor: string | undefined;
}

/** A Ringport over the storage, with a token, whose wall clock is off by `shift` ms. */
async function started(storage: Storage, shift: () => number = () => 0) {
  const ringport = createRingport({
    data: temporaryFolder("followed"),
    storage,
    system: { ...realSystem, now: () => realSystem.now() + shift() },
  });
  const { token } = await ringport.tokens.issue({ userName: "ana", label: "test" });
  const send = (method: string, path: string, body?: unknown) => sent(ringport, token, method, path, body);
  const ask = (method: string, path: string, headers: Record<string, string> = {}): Promise<Response> =>
    ringport.fetch(
      new Request(`http://ringport.test${path}`, { method, headers: { ...headers, authorization: `Bearer ${token}` } }),
    );
  /** All events after the cursor. */
  const follow = async (from?: string): Promise<Read> => {
    const ids: string[] = [];
    let cursor = from;
    for (;;) {
      const answer = await send("GET", `/v1/events?limit=9${cursor === undefined ? "" : `&cursor=${cursor}`}`);
      const events = (await answer.json()) as Named[];
      ids.push(...events.map(({ id }) => id));
      cursor = answer.headers.get("next-cursor") ?? undefined;
      if (answer.headers.get("link") === null) return { ids, cursor };
    }
  };
  return { ringport, token, ask, send, follow };
}

async function sent(ringport: Ringport, token: string, method: string, path: string, body: unknown): Promise<Response> {
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const payload = body === undefined ? {} : { body: JSON.stringify(body) };
  const answer = await ringport.fetch(new Request(`http://ringport.test${path}`, { method, headers, ...payload }));
  expect(answer.ok, `${method} ${path}: ${answer.status}`).toBe(true);
  return answer;
}

/** Eight programs create calls and hang up; another one follows the log. */
async function manyWriters(storage: Storage): Promise<void> {
  const { ringport, send, follow } = await started(storage);
  let writing = WRITERS;
  const write = async (): Promise<void> => {
    const { id: instanceId } = (await (await send("POST", "/v1/instances", { name: "Desk" })).json()) as Named;
    for (let n = 0; n < CALLS; n++) {
      const call = { instanceId, type: "DYNAMIC_STREAM", target: { phoneNumber: "+12025550100" } };
      const { id } = (await (await send("POST", "/v1/calls", call)).json()) as Named;
      await send("DELETE", `/v1/calls/${id}`);
    }
  };
  const read = async (): Promise<string[]> => {
    const ids: string[] = [];
    for (let cursor: string | undefined; ; ) {
      const last = writing === 0;
      const news = await follow(cursor);
      ids.push(...news.ids);
      if (last) return ids;
      ({ cursor } = news);
      await new Promise((resume) => setTimeout(resume)); // the writers share this thread
    }
  };
  const reading = read();
  await Promise.all(Array.from({ length: WRITERS }, () => write().finally(() => writing--)));
  const seen = await reading;
  const all = (await follow()).ids;
  expect(all).toHaveLength(WRITERS * (1 + 2 * CALLS));
  expect(seen).toEqual(all);
  await ringport.stop({ drainMs: 0 });
}

describe("a reader that follows GET /v1/events", () => {
  test("a reader sees every event of eight writers exactly once (SQLite)", { timeout: 30_000 }, () =>
    manyWriters(sqliteStorage({ path: `${temporaryFolder("followed")}/ringport.db`, synchronous: "NORMAL" })),
  );

  test("a reader misses no event if the clock is set back at a restart", { timeout: 30_000 }, async () => {
    const path = `${temporaryFolder("followed")}/ringport.db`;
    const before = await started(sqliteStorage({ path }));
    await before.send("POST", "/v1/instances", { name: "Before" });
    const first = await before.follow();
    await before.ringport.stop();

    const after = await started(sqliteStorage({ path }), () => -3_600_000);
    await after.send("POST", "/v1/instances", { name: "After" });
    const news = await after.follow(first.cursor);
    expect(news.ids).toHaveLength(1);
    expect((await after.follow()).ids).toEqual([...first.ids, ...news.ids]);
    await after.ringport.stop();
  });

  test.each([
    ["is shorter than the cursor", 0],
    ["has another event where the cursor stands", 1],
    ["is longer than before", 3],
  ])("a reader of a restored log that %s learns where to continue, and misses no event", async (_, more) => {
    const [folder, copy] = [temporaryFolder("followed"), temporaryFolder("followed")];
    const begun = await started(sqliteStorage({ path: `${folder}/ringport.db` }));
    for (const name of ["One", "Two"]) await begun.send("POST", "/v1/instances", { name });
    await begun.ringport.stop();
    await cp(folder, copy, { recursive: true });

    const lost = await started(sqliteStorage({ path: `${folder}/ringport.db` }));
    await lost.send("POST", "/v1/instances", { name: "Lost" });
    const seen = await lost.follow();
    await lost.ringport.stop();

    const restored = await started(sqliteStorage({ path: `${copy}/ringport.db` }));
    for (let n = 0; n < more; n++) await restored.send("POST", "/v1/instances", { name: "New" });
    const refused = await restored.ask("GET", `/v1/events?cursor=${seen.cursor}`);
    const problem = (await refused.json()) as { code: string; cursor: string; detail: string };
    expect([refused.status, problem.code]).toEqual([410, "log_reset"]);
    expect(refused.headers.get("next-cursor")).toBe(problem.cursor);
    expect(problem.detail).toContain(problem.cursor);
    const streamed = await restored.ask("GET", "/v1/events", {
      accept: "text/event-stream",
      "last-event-id": seen.cursor!,
    });
    expect(streamed.status).toBe(410);
    const news = await restored.follow(problem.cursor);
    expect(news.ids).toHaveLength(more);
    expect([...seen.ids.slice(0, 2), ...news.ids]).toEqual((await restored.follow()).ids);

    const client = createClient({ url: "http://ringport.test", token: restored.token, fetch: restored.ringport.fetch });
    const abort = new AbortController();
    const followed = client.followEvents({ cursor: seen.cursor }, { signal: abort.signal });
    expect((await followed.next()).value).toMatchObject({ items: [], cursor: problem.cursor, reset: true });
    if (more > 0) expect((await followed.next()).value).toMatchObject({ items: news.ids.map((id) => ({ id })) });
    abort.abort(new Error("enough"));
    await restored.ringport.stop();
  });

  test("a cursor whose event was deleted still works", async () => {
    const { ringport, send, follow } = await started(
      sqliteStorage({ path: `${temporaryFolder("followed")}/ringport.db` }),
    );
    const { id: instanceId } = (await (await send("POST", "/v1/instances", { name: "Desk" })).json()) as Named;
    const call = { instanceId, type: "DYNAMIC_STREAM", target: { phoneNumber: "+12025550100" } };
    const { id } = (await (await send("POST", "/v1/calls", call)).json()) as Named;
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
