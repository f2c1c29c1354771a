import process from "node:process";
import { expect, onTestFinished, test } from "vitest";
import { messageOf } from "../rounds/messages.ts";
import { connected } from "../support/postgres.ts";
import { type Relay, relayTo } from "../support/relay.ts";
import { createDatabase, ON_EVERY_POSTGRES, onEach, Server, type Target } from "../support/server.ts";
import { type CallView, type Client, expected, type InstanceView, until } from "../support/server-client.ts";
import { callees, type FarEnd, type FarEndCall, startFarEnd } from "../support/sip/far-end.ts";
import { expectProblem } from "./shapes.ts";

const LEASE_MS = 3_000;
const RENEW_MS = 300;
/** What has to happen has happened within this on a busy machine, ms. */
const SOON_MS = 20_000;
const OWNERSHIP_LOST = 8;
/** Longer than a test lasts. */
const MESSAGE = { type: "FIXED_AUDIO", tts: undefined, audio: { audioBase64: messageOf(30_000) } };

/** Two servers on one database, the first one by way of a relay, and the phone that both call. */
class Pair {
  readonly relay: Relay;
  readonly phone: FarEnd;
  readonly first: Server;
  readonly second: Server;
  readonly #databaseUrl: string;

  private constructor(databaseUrl: string, relay: Relay, phone: FarEnd, first: Server, second: Server) {
    this.#databaseUrl = databaseUrl;
    this.relay = relay;
    this.phone = phone;
    this.first = first;
    this.second = second;
  }

  static async start(target: Target, onOwnershipLost: "exit" | "restart"): Promise<Pair> {
    const databaseUrl = await createDatabase();
    const relay = await relayTo(databaseUrl);
    const phone = await startFarEnd({ callees: { "*": callees.answers } });
    const env = {
      RINGPORT_TELEPHONY: "sip",
      RINGPORT_SIP_TRUNKS: JSON.stringify([{ name: "desk", server: phone.uri, users: "*" }]),
      RINGPORT_LEASE_MS: String(LEASE_MS),
      RINGPORT_LEASE_RENEW_MS: String(RENEW_MS),
      RINGPORT_ON_OWNERSHIP_LOST: onOwnershipLost,
    };
    const first = new Server(target, { databaseUrl: relay.url, env });
    const waiting = { ...env, RINGPORT_ON_OWNERSHIP_LOST: "restart" };
    const second = new Server(target, { databaseUrl, data: first.data, env: waiting });
    onTestFinished(async () => {
      await Promise.all([first.dispose(), second.dispose()]);
      await Promise.all([relay.cut(), phone.close()]);
    });
    await first.start();
    return new Pair(databaseUrl, relay, phone, first, second);
  }

  /** Places the n-th call and waits until its audio is heard. */
  async talks(client: Client, instanceId: string, n: number): Promise<{ call: CallView; heard: FarEndCall }> {
    const call = await client.call(instanceId, MESSAGE);
    const heard = await this.phone.call(n);
    await until(
      () => heard.voice?.packets.length ?? 0,
      (packets) => packets > 10,
      SOON_MS,
      "audio of the call",
    );
    return { call, heard };
  }

  /** When the lease runs out unless it is renewed, ms on the clock of `performance`. */
  async leaseEnd(): Promise<number> {
    await using database = await connected(this.#databaseUrl);
    const { rows } = await database.query<{ expires_at: string }>("select expires_at from owners");
    return Number(rows[0]?.expires_at) - Date.now() + performance.now();
  }
}

async function instance(client: Client): Promise<string> {
  const body = { name: "Front desk", provider: "sip/desk" };
  const { id } = expected(201, await client.post("/v1/instances", body)).json<InstanceView>();
  await client.waitForInstance(id, "ACTIVE");
  return id;
}

function end(call: FarEndCall): Promise<FarEndCall["end"]> {
  return until(
    () => call.end,
    (end) => end !== undefined,
    SOON_MS,
    "the call to end",
  );
}

const invitedAt = (call: FarEndCall): number => call.requests[0]!.at;
const byeAt = (call: FarEndCall): number => call.requests.find(({ method }) => method === "BYE")!.at;

onEach(ON_EVERY_POSTGRES, (target) => {
  for (const onOwnershipLost of ["exit", "restart"] as const)
    test(`a server that was stopped longer than its lease hangs up first of all, then ${onOwnershipLost}s`, async () => {
      const pair = await Pair.start(target, onOwnershipLost);
      const { first, second } = pair;
      const client = await first.as("ada");
      const id = await instance(client);
      const before = await pair.talks(client, id, 0);

      process.kill(first.pid, "SIGSTOP");
      const leaseEnd = await pair.leaseEnd();
      await second.start();
      const other = second.client(client.token);
      expect((await other.readCall(before.call.id)).outcome?.reason).toBe("interrupted");
      const after = await pair.talks(other, id, 1);
      expect(invitedAt(after.heard)).toBeGreaterThan(leaseEnd);

      const goesOnAt = performance.now();
      process.kill(first.pid, "SIGCONT");
      expect(await end(before.heard)).toBe("they hung up");
      if (onOwnershipLost === "exit") expect(await first.gone).toBe(OWNERSHIP_LOST);
      else expectProblem(await client.get("/v1/calls"), 503, "storage_unavailable");
      expect(before.heard.voice?.packets.filter(({ at }) => at >= goesOnAt)).toEqual([]);
      expect(after.heard.end, "the call of the other server goes on").toBeUndefined();
      expect(pair.phone.calls).toHaveLength(2);
      if (onOwnershipLost === "exit") return;

      await second.stop();
      await until(
        async () => (await client.get(`/v1/calls/${after.call.id}`)).status,
        (status) => status === 200,
        SOON_MS,
        "the first server to own the database again",
      );
      await client.waitForCall(after.call.id);
      expect((await client.readCall(before.call.id)).outcome?.reason).toBe("interrupted");
      await client.waitForInstance(id, "ACTIVE");
      await pair.talks(client, id, 2);
    });

  test("a server that is cut off from its database has hung up before another one dials", async () => {
    const pair = await Pair.start(target, "exit");
    const { first, second, relay } = pair;
    const client = await first.as("ada");
    const id = await instance(client);
    const before = await pair.talks(client, id, 0);

    await relay.cut();
    const leaseEnd = await pair.leaseEnd();
    await second.start();
    const after = await pair.talks(second.client(client.token), id, 1);
    expect(before.heard.end).toBe("they hung up");
    expect(byeAt(before.heard)).toBeLessThan(leaseEnd);
    expect(invitedAt(after.heard)).toBeGreaterThan(leaseEnd);
    const last = before.heard.voice?.packets.at(-1)?.at ?? 0;
    expect(last).toBeLessThan(leaseEnd);
    expect(await first.gone).toBe(OWNERSHIP_LOST);
  });

  test("a live call outlives an outage shorter than its lease", async () => {
    const pair = await Pair.start(target, "exit");
    const client = await pair.first.as("ada");
    const { call, heard } = await pair.talks(client, await instance(client), 0);
    await pair.relay.cut();
    await until(
      () => pair.first.output,
      (output) => output.includes("could not be renewed"),
      SOON_MS,
      "a renewal to fail",
    );
    const renewed = await pair.leaseEnd();
    await pair.relay.mend();
    await until(
      () => pair.leaseEnd(),
      (leaseEnd) => leaseEnd > renewed + LEASE_MS,
      SOON_MS,
      "several renewals",
    );
    expect(heard.end).toBeUndefined();
    expect((await client.readCall(call.id)).status).toBe("IN_PROGRESS");
  });
});
