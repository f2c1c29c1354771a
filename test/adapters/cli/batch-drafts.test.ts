import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { freshFolder, launch, node, type RunningCommand } from "./run-cli.ts";

const INSTANCE = "inst_01k7zq0f8vf1c9m2x4s6t8w0ya";
const BATCH = "batch_01k7zq0f8vf1c9m2x4s6t8w0ya";
const REPORT = { rows: 1, stored: { WAITING: 1 }, faults: [] };

type Reply = readonly [status: number, body?: unknown];
/** Replies by request; no reply is sent for undefined. */
type Replies = Readonly<Record<string, Reply | undefined>>;

const REPLIES: Replies = {
  [`GET /v1/instances/${INSTANCE}`]: [200, { id: INSTANCE }],
  "POST /v1/batches": [201, { id: BATCH, status: "DRAFT" }],
  [`POST /v1/batches/${BATCH}/targets`]: [200, REPORT],
  [`DELETE /v1/batches/${BATCH}`]: [204],
};

const problem = (status: number, code: string, detail: string): Reply => [status, { status, code, detail, errors: [] }];

describe.skipIf(node.missing)("the draft of `ringport batch create`", { timeout: 60_000 }, () => {
  const servers: Server[] = [];
  afterEach(() => {
    for (const server of servers.splice(0)) {
      server.closeAllConnections();
      server.close();
    }
  });

  /** Starts the command against a server with these replies. */
  async function create(
    replies: Replies,
    ...options: string[]
  ): Promise<{ command: RunningCommand; requests: readonly string[]; waitForRequest(request: string): Promise<void> }> {
    const requests: string[] = [];
    const server = createServer((request: IncomingMessage, response: ServerResponse) => {
      const name = `${request.method} ${request.url?.split("?")[0]}`;
      requests.push(name);
      server.emit("received");
      request.resume();
      const allReplies: Replies = { ...REPLIES, ...replies };
      const reply = name in allReplies ? allReplies[name] : problem(404, "not_found", `no such route: ${name}`);
      if (!reply) return;
      const [status, body] = reply;
      response.writeHead(status, {
        "content-type": status < 400 ? "application/json" : "application/problem+json",
      });
      response.end(body === undefined ? undefined : JSON.stringify(body));
    });
    servers.push(server);
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const file = join(freshFolder(), "people.csv");
    writeFileSync(file, "phone\n+12025550100\n");
    const env = {
      RINGPORT_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      RINGPORT_TOKEN: `rp_live_${"a".repeat(43)}`,
    };
    const command = launch(["batch", "create", file, "--text", "Hi.", "--instance", INSTANCE, ...options], { env });
    const waitForRequest = async (request: string): Promise<void> => {
      while (!requests.includes(request)) await once(server, "received");
    };
    return { command, requests, waitForRequest };
  }

  test("is deleted if its import is refused", async () => {
    const refusal = problem(
      409,
      "batch_full",
      "a batch has at most 3 targets; row 5 and the rows after it were not stored",
    );
    const { command, requests } = await create({ [`POST /v1/batches/${BATCH}/targets`]: refusal });
    const { code, stdout, stderr } = await command.finished;
    expect([code, stdout, stderr]).toEqual([
      2,
      "",
      expect.stringMatching(
        /^ringport: FILE is ".*people.csv": a batch has at most 3 targets: split the file, and create a batch of each part\n$/,
      ),
    ]);
    expect(requests.at(-1)).toBe(`DELETE /v1/batches/${BATCH}`);
  });

  test("is deleted if the file has no rows", async () => {
    const emptyReport: Reply = [200, { rows: 0, stored: {}, faults: [] }];
    const { command, requests } = await create({ [`POST /v1/batches/${BATCH}/targets`]: emptyReport });
    const { code, stderr } = await command.finished;
    expect([code, stderr]).toEqual([2, expect.stringMatching(/^ringport: FILE is ".*": it has no row below its head/)]);
    expect(requests.at(-1)).toBe(`DELETE /v1/batches/${BATCH}`);
  });

  test("is deleted on Ctrl-C", async () => {
    const { command, requests, waitForRequest } = await create({ [`POST /v1/batches/${BATCH}/targets`]: undefined });
    await waitForRequest(`POST /v1/batches/${BATCH}/targets`);
    command.child.kill("SIGINT");
    expect(await command.finished).toEqual({ code: 130, stdout: "", stderr: "Interrupted: no batch was created.\n" });
    expect(requests.at(-1)).toBe(`DELETE /v1/batches/${BATCH}`);
  });

  test("is named if it cannot be deleted", async () => {
    const replies = {
      [`POST /v1/batches/${BATCH}/targets`]: problem(
        409,
        "batch_full",
        "a batch has at most 3 targets; row 5 and the rows after it were not stored",
      ),
      [`DELETE /v1/batches/${BATCH}`]: problem(404, "batch_not_found", "gone"),
    };
    const { code, stderr } = await (await create(replies)).command.finished;
    expect([code, stderr]).toEqual([
      2,
      expect.stringContaining(
        `each part; the draft ${BATCH} could not be deleted; do so later: ringport batch delete ${BATCH}\n`,
      ),
    ]);
    const plan = {
      ...{ targets: { WAITING: 1 }, faults: [], problems: [], instances: [], calls: [] },
      ...{ starts_at: null, ends_at: null, call_ms: 1, call_ms_source: "assumed" },
    };
    const dryRun = await (
      await create(
        {
          ...replies,
          [`POST /v1/batches/${BATCH}/targets`]: [200, REPORT],
          [`GET /v1/batches/${BATCH}/plan`]: [200, plan],
        },
        "--dry-run",
      )
    ).command.finished;
    expect([dryRun.code, dryRun.stdout]).toEqual([2, expect.stringMatching(/^1 to call\n/)]);
    expect(dryRun.stderr).toContain(`the draft ${BATCH} could not be deleted`);
  });

  test("is kept if its start is refused, and the error says how to continue", async () => {
    const refusal = problem(409, "batch_empty", "no target to call");
    const { command, requests } = await create({ [`POST /v1/batches/${BATCH}/start`]: refusal }, "--start", "--json");
    const { code, stdout, stderr } = await command.finished;
    expect([code, stdout, JSON.parse(stderr)]).toEqual([
      2,
      "",
      {
        ...{ code: "batch_empty", status: 409, request_id: null, errors: [] },
        detail: `no target to call; the draft ${BATCH} is kept; continue with ringport batch start ${BATCH}, or delete it: ringport batch delete ${BATCH}`,
      },
    ]);
    expect(requests.at(-1)).toBe(`POST /v1/batches/${BATCH}/start`);
  });

  test("is reported as possibly started if the server fails", async () => {
    const failure = problem(500, "internal_error", "the request failed");
    const { command } = await create({ [`POST /v1/batches/${BATCH}/start`]: failure }, "--start");
    const { code, stderr } = await command.finished;
    expect([code, stderr]).toEqual([
      1,
      `ringport: the request failed; the batch ${BATCH} may have been started: ringport batch show ${BATCH}\n`,
    ]);
  });
});
