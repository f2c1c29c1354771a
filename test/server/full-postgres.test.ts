import { chmodSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { messageOf } from "../chaos/messages.ts";
import { fillDisk, mountInMemory, unmount } from "../support/mount.ts";
import { findPostgres, openClient } from "../support/postgres.ts";
import { expectProblem } from "../support/response-shapes.ts";
import { describeEach, ON_EVERY_POSTGRES, Server, type Target } from "../support/server.ts";
import { type CallView, type Client, until } from "../support/server-client.ts";
import { callees, startFarEnd } from "../support/sip/far-end.ts";
import { byeAt, createTrunkInstance, endOf, LEASE_MS, SOON_MS } from "./pair.ts";

/** PostgreSQL's initial data takes up about half of it. */
const DISK_SIZE = "size=64m";
const RENEW_MS = 300;
/** Interval of renewals that fills a page with versions of the lease within seconds, ms. */
const SHORT_RENEW_MS = 50;
/** Longer than a test lasts. */
const MESSAGE = { type: "FIXED_AUDIO", tts: undefined, audio: { audioBase64: messageOf(60_000) } };

const disk = join(tmpdir(), `ringport-postgres-disk-${process.pid}`);
const filler = join(disk, "filler");
const { startIn, missing: noPostgres } = await findPostgres();
const missing =
  noPostgres ?? (startIn ? mountInMemory(disk, DISK_SIZE) : "the server at TEST_POSTGRES_URL has its own disk");
unmount(disk);

/** A server on a PostgreSQL that has a small disk; one call is live, and one waits for its end. */
async function startServer(target: Target, renewMs = RENEW_MS) {
  mountInMemory(disk, DISK_SIZE);
  onTestFinished(() => unmount(disk));
  chmodSync(disk, 0o777);
  const postgres = await startIn!(disk);
  onTestFinished(() => postgres.stop());
  const databaseUrl = await postgres.createDatabase();
  const phone = await startFarEnd({ callees: { "*": callees.answers } });
  onTestFinished(() => phone.close());
  const env = {
    RINGPORT_TELEPHONY: "sip",
    RINGPORT_SIP_TRUNKS: JSON.stringify([{ name: "desk", server: phone.uri, users: "*" }]),
    RINGPORT_QUEUE: "fifo",
    RINGPORT_LEASE_MS: String(LEASE_MS),
    RINGPORT_LEASE_RENEW_MS: String(renewMs),
    RINGPORT_ON_LEASE_LOST: "restart",
  };
  const server = new Server(target, { databaseUrl, env });
  onTestFinished(() => server.dispose());
  await server.start();
  const client = await server.as("ada");
  const id = await createTrunkInstance(client);
  const liveCall = await client.call(id, MESSAGE);
  const phoneCall = await phone.call(0);
  const waitingCall = await client.call(id, MESSAGE);
  await client.waitForCall(liveCall.id, ["IN_PROGRESS"]);
  return { postgres, databaseUrl, phone, server, client, liveCall, phoneCall, waitingCall };
}

/** Creates instances until the database has no room for another one. */
function fillTables(client: Client) {
  const metadata = { padding: "x".repeat(15_000) };
  return until(
    () => client.post("/v1/instances", { name: "Padding", metadata }),
    ({ status }) => status !== 201,
    SOON_MS,
    "the tables to be full",
  );
}

/** End of the lease in the database. */
async function leaseEnd(databaseUrl: string): Promise<number> {
  await using database = await openClient(databaseUrl);
  const { rows } = await database.query<{ expires_at: string }>("select expires_at from owners");
  return Number(rows[0]?.expires_at);
}

/** Fills the write-ahead log of PostgreSQL, which exits if it cannot be continued. */
async function fillLog(databaseUrl: string): Promise<void> {
  await using database = await openClient(databaseUrl);
  database.on("error", () => {});
  for (;;)
    try {
      await database.query("select pg_logical_emit_message(true, 'padding', 'x'), pg_switch_wal()");
    } catch {
      return;
    }
}

const readyStatus = (server: Server) => server.request("GET", "/readyz").then(({ status }) => status);
const callStatus = (client: Client, { id }: CallView) => client.readCall(id).then((call) => call.status);

describeEach(ON_EVERY_POSTGRES, (target) => {
  describe.skipIf(missing)(`a full PostgreSQL disk${missing ? ` (skipped: ${missing})` : ""}`, () => {
    test("ends no call and leaves the server ready", async () => {
      const { databaseUrl, phone, server, client, liveCall, phoneCall, waitingCall } = await startServer(target);
      fillDisk(filler);
      expectProblem(await fillTables(client), 503, "storage_unavailable");
      const previousLeaseEnd = await leaseEnd(databaseUrl);
      await until(
        async () => {
          fillDisk(filler);
          expect(await readyStatus(server)).toBe(200);
          expectProblem(await fillTables(client), 503, "storage_unavailable");
          expect(await readyStatus(server), "after a refused write").toBe(200);
          return leaseEnd(databaseUrl);
        },
        (leaseEnd) => leaseEnd > previousLeaseEnd + LEASE_MS,
        2 * SOON_MS,
        "renewals for longer than a lease",
      );
      const packetsBefore = phoneCall.voice?.packets.length ?? 0;
      await until(
        () => phoneCall.voice?.packets.length ?? 0,
        (packetCount) => packetCount > packetsBefore + 50,
        SOON_MS,
        "another second of the message",
      );
      expect(phoneCall.end).toBeUndefined();

      // Keys are events, so a key that cannot be stored shows that the table of events is full as well.
      let keyCount = 0;
      await until(
        async () => {
          fillDisk(filler);
          if (/retrying events of call/.test(server.output)) return true;
          await phoneCall.voice?.press("1");
          keyCount++;
          return false;
        },
        Boolean,
        2 * SOON_MS,
        "a key that cannot be stored",
      );
      const { status: refusedStatus } = await until(
        () => client.postCall(liveCall.instance_id),
        ({ status }) => status !== 201,
        SOON_MS,
        "a new call to be refused",
      );
      expect(refusedStatus).toBe(503);
      await phoneCall.hangUp();
      const retries = () => server.output.match(/retrying events of call/g)?.length ?? 0;
      const retriesBefore = retries();
      await until(retries, (count) => count > retriesBefore, SOON_MS, "another attempt to store the events");
      expect(await callStatus(client, liveCall)).toBe("IN_PROGRESS");
      expect(await callStatus(client, waitingCall)).toBe("QUEUED");
      expect(phone.calls).toHaveLength(1);
      expect(await readyStatus(server)).toBe(200);

      rmSync(filler);
      await phone.call(1);
      await client.waitForCall(waitingCall.id, ["IN_PROGRESS"]);
      expect((await client.readCall(liveCall.id)).outcome?.reason).toBe("callee_hung_up");
      expect((await client.timeline(liveCall.id)).filter(({ type }) => type === "dtmf")).toHaveLength(keyCount);
      expect(phone.calls).toHaveLength(2);
    }, 120_000);

    test("leaves no room for renewals while a transaction keeps their old versions", async () => {
      const { databaseUrl, server, client, liveCall, phoneCall } = await startServer(target, SHORT_RENEW_MS);
      {
        await using connection = await openClient(databaseUrl);
        await connection.query("begin isolation level repeatable read; select count(*) from calls");
        await until(
          () => {
            fillDisk(filler);
            return phoneCall.end;
          },
          (end) => end !== undefined,
          2 * SOON_MS,
          "the call to end",
        );
        expect(phoneCall.end).toBe("caller hung up");
        expect(server.output).toMatch(/the lease on the database could not be renewed[^\n]*could not extend file/);
        expect(await readyStatus(server)).toBe(503);
      }
      rmSync(filler);
      await until(
        () => readyStatus(server),
        (answer) => answer === 200,
        SOON_MS,
        "the server to be ready",
      );
      expect((await client.readCall(liveCall.id)).outcome?.reason).toBe("interrupted");
    }, 120_000);

    test("ends live calls within the lease if PostgreSQL exits; waiting ones continue later", async () => {
      const { postgres, databaseUrl, phone, server, client, liveCall, phoneCall, waitingCall } =
        await startServer(target);
      fillDisk(filler);
      await fillLog(databaseUrl);
      const endedAt = performance.now();
      expect(await readyStatus(server)).toBe(503);
      expectProblem(await client.postCall(liveCall.instance_id), 503, "storage_unavailable");
      expectProblem(await client.get(`/v1/calls/${liveCall.id}`), 503, "storage_unavailable");
      expect(phoneCall.end).toBeUndefined();
      expect(await endOf(phoneCall)).toBe("caller hung up");
      expect(byeAt(phoneCall)).toBeLessThan(endedAt + LEASE_MS);
      expect(await readyStatus(server)).toBe(503);

      rmSync(filler);
      await postgres.restart();
      await until(
        () => readyStatus(server),
        (answer) => answer === 200,
        SOON_MS,
        "the server to be ready",
      );
      expect((await client.readCall(liveCall.id)).outcome?.reason).toBe("interrupted");
      await phone.call(1);
      await client.waitForCall(waitingCall.id, ["IN_PROGRESS"]);
      expect(phone.calls).toHaveLength(2);
    }, 120_000);
  });
});
