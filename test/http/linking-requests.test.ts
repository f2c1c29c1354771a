import { describe, expect, test } from "vitest";
import { ask, requestOf } from "./support/ask.ts";
import { INSTANCE_ID, serve } from "./support/fakes.ts";

const configure = `/v1/instances/${INSTANCE_ID}/configure`;
const pairing = { method: "POST", path: `/v1/instances/${INSTANCE_ID}/pairing-code`, body: { phone: "+12025550100" } };
const code = { instanceId: INSTANCE_ID, payload: "2@abc", expiresAt: 0, sequence: 1, message: "Scan it." };

/** An application whose network has no code until it is released. A token is a user, or a demo token of theirs: `ada.inst_1`. */
function scene() {
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  let begun = 0;
  const waiting = (signal: AbortSignal | undefined) => {
    begun++;
    return Promise.race([held, new Promise((_, reject) => signal?.addEventListener("abort", reject))]);
  };
  const { app } = serve({
    instances: {
      configure: async (_, __, options) => waiting(options?.signal).then(() => code),
      pairingCode: async (_, __, ___, options) =>
        waiting(options?.signal).then(() => ({
          instanceId: INSTANCE_ID,
          code: "7GQ4",
          expiresAt: 0,
          message: "Type it.",
        })),
    },
    http: {
      authenticate: async (token) => {
        const [userId = "", demoInstanceId] = token.split(".");
        return { userId, ...(demoInstanceId !== undefined && { demoInstanceId }) };
      },
    },
  });
  /** Starts requests that wait for the network. */
  const begin = async (
    token: string,
    count: number,
    question: { path: string } = { path: configure },
    signal?: AbortSignal,
  ) => {
    const before = begun;
    const replies = Array.from({ length: count }, () =>
      app.handle(requestOf({ ...question, token, ...(signal && { signal }) })),
    );
    await expect.poll(() => begun).toBe(before + count);
    return replies;
  };
  return { app, begin, release };
}

const BUSY = { status: 503, json: { code: "server_busy" }, headers: { "retry-after": "5" } };

describe("requests for a linking code", () => {
  test("a user has twenty at once; other users' do not count", async () => {
    const { app, begin, release } = scene();
    const replies = [...(await begin("ada", 15)), ...(await begin("ada", 5, pairing))];
    for (const question of [{ path: configure }, pairing])
      expect(await ask(app, { ...question, token: "ada" })).toMatchObject(BUSY);
    replies.push(...(await begin("bob", 1)));
    release();
    for (const reply of await Promise.all(replies)) expect(reply.status).toBe(200);
    expect((await ask(app, { path: configure, token: "ada" })).status).toBe(200);
  });

  test("a demo token has five, which count towards its user's", async () => {
    const { app, begin, release } = scene();
    const replies = await begin("ada.inst_1", 5);
    expect(await ask(app, { path: configure, token: "ada.inst_1" })).toMatchObject(BUSY);
    replies.push(...(await begin("ada", 15)));
    for (const token of ["ada", "ada.inst_2"]) expect(await ask(app, { path: configure, token })).toMatchObject(BUSY);
    release();
    await Promise.all(replies);
    for (const token of ["ada", "ada.inst_1", "ada.inst_2"])
      expect((await ask(app, { path: configure, token })).status).toBe(200);
  });

  test("a request ends with its connection and makes room", async () => {
    const { app, begin } = scene();
    const connection = new AbortController();
    const replies = await begin("ada", 20, { path: configure }, connection.signal);
    expect(await ask(app, { path: configure, token: "ada" })).toMatchObject(BUSY);
    connection.abort();
    await Promise.all(replies);
    await begin("ada", 20);
  });
});
