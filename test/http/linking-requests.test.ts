import { describe, expect, test } from "vitest";
import { ask, requestOf } from "./support/ask.ts";
import { INSTANCE_ID, serve } from "./support/fakes.ts";

const configurePath = `/v1/instances/${INSTANCE_ID}/configure`;
const pairingRequest = {
  method: "POST",
  path: `/v1/instances/${INSTANCE_ID}/pairing-code`,
  body: { phone: "+12025550100" },
};
const code = { instanceId: INSTANCE_ID, payload: "2@abc", expiresAt: 0, sequence: 1, message: "Scan it." };

/** An application whose network returns no code until `release` is called. A token is the name of a user, or a demo token of that user: `ada.inst_1`. */
function scene() {
  let release = () => {};
  const untilReleased = new Promise<void>((resolve) => {
    release = resolve;
  });
  let startedCount = 0;
  const waitForNetwork = (signal: AbortSignal | undefined) => {
    startedCount++;
    return Promise.race([untilReleased, new Promise((_, reject) => signal?.addEventListener("abort", reject))]);
  };
  const { app } = serve({
    instances: {
      configure: async (_, __, options) => waitForNetwork(options?.signal).then(() => code),
      pairingCode: async (_, __, ___, options) =>
        waitForNetwork(options?.signal).then(() => ({
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
    request: { path: string } = { path: configurePath },
    signal?: AbortSignal,
  ) => {
    const startedBefore = startedCount;
    const replies = Array.from({ length: count }, () =>
      app.handle(requestOf({ ...request, token, ...(signal && { signal }) })),
    );
    await expect.poll(() => startedCount).toBe(startedBefore + count);
    return replies;
  };
  return { app, begin, release };
}

const BUSY = { status: 503, json: { code: "server_busy" }, headers: { "retry-after": "5" } };

describe("requests for a linking code", () => {
  test("a user may have twenty at once; those of other users do not count", async () => {
    const { app, begin, release } = scene();
    const replies = [...(await begin("ada", 15)), ...(await begin("ada", 5, pairingRequest))];
    for (const request of [{ path: configurePath }, pairingRequest])
      expect(await ask(app, { ...request, token: "ada" })).toMatchObject(BUSY);
    replies.push(...(await begin("bob", 1)));
    release();
    for (const reply of await Promise.all(replies)) expect(reply.status).toBe(200);
    expect((await ask(app, { path: configurePath, token: "ada" })).status).toBe(200);
  });

  test("a demo token may have five, which count towards its user's", async () => {
    const { app, begin, release } = scene();
    const replies = await begin("ada.inst_1", 5);
    expect(await ask(app, { path: configurePath, token: "ada.inst_1" })).toMatchObject(BUSY);
    replies.push(...(await begin("ada", 15)));
    for (const token of ["ada", "ada.inst_2"])
      expect(await ask(app, { path: configurePath, token })).toMatchObject(BUSY);
    release();
    await Promise.all(replies);
    for (const token of ["ada", "ada.inst_1", "ada.inst_2"])
      expect((await ask(app, { path: configurePath, token })).status).toBe(200);
  });

  test("a request ends with its connection and makes room", async () => {
    const { app, begin } = scene();
    const connection = new AbortController();
    const replies = await begin("ada", 20, { path: configurePath }, connection.signal);
    expect(await ask(app, { path: configurePath, token: "ada" })).toMatchObject(BUSY);
    connection.abort();
    await Promise.all(replies);
    await begin("ada", 20);
  });
});
