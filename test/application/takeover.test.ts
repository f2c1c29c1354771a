import { describe, expect, onTestFinished, test, vi } from "vitest";
import { isActive } from "../../src/domain/calls/call.ts";
import type { RingportOptions } from "../../src/options.ts";
import { StorageLocked } from "../../src/ports/storage.ts";
import { createRingport } from "../../src/ringport.ts";
import { ManualSystem } from "../../src/testing/manual-system.ts";
import { ScriptedTelephony } from "../../src/testing/scripted-telephony.ts";
import { ALICE, NUMBER, ToneSpeech } from "../support/application.ts";
import { LeasedDatabase, type LeasedStorage } from "../support/leased-storage.ts";
import { MemoryRecordings } from "../support/memory-recordings.ts";
import { memoryStorage } from "../support/memory-storage.ts";

/** A database, and servers on it that share a clock. */
class TestDatabase {
  readonly system = new ManualSystem();
  readonly database: LeasedDatabase = new LeasedDatabase(this.system, memoryStorage());
  readonly #devices = new Map<string, string | null>();

  /** A server that has not been started yet. */
  server(options: Partial<RingportOptions> = {}): Server {
    const server = new Server(this.system, this.database.storage(), this.#devices, options);
    onTestFinished(() => this.settle(server.ringport.stop({ drainMs: 0 })));
    return server;
  }

  /** The outcome of a promise while time advances. */
  async settle<T>(promise: Promise<T>): Promise<T> {
    let isSettled = false;
    const done = promise.finally(() => {
      isSettled = true;
    });
    done.catch(() => {});
    for (let tries = 0; tries < 2_000 && !isSettled; tries++) await this.system.advance(50);
    return done;
  }
}

class Server {
  readonly network: ScriptedTelephony;
  readonly ringport: ReturnType<typeof createRingport>;
  readonly storage: LeasedStorage;
  readonly warnings: string[] = [];
  readonly #system: ManualSystem;

  constructor(
    system: ManualSystem,
    storage: LeasedStorage,
    devices: Map<string, string | null>,
    options: Partial<RingportOptions>,
  ) {
    this.#system = system;
    this.storage = storage;
    this.network = new ScriptedTelephony(system, {});
    Object.defineProperty(this.network, "devices", { value: devices }); // the network remembers them, not the server
    this.ringport = createRingport({
      system,
      storage,
      telephony: this.network,
      speech: new ToneSpeech(),
      recordings: new MemoryRecordings(),
      secret: "00".repeat(32),
      log: { debug() {}, info() {}, warn: (_, message) => void this.warnings.push(message), error() {} },
      ...options,
    });
  }

  /** An instance whose line is online. */
  async instance(): Promise<string> {
    const { id } = await this.ringport.instances.create(ALICE, { name: "Reception" });
    await this.ringport.instances.configure(ALICE, id);
    await this.network.line(id).scan();
    await this.#system.settle();
    return id;
  }

  /** A call that speaks for a minute. */
  async call(instanceId: string): Promise<string> {
    const tts = { text: "x".repeat(1_200), voiceId: "en-US-1" };
    const target = { phoneNumber: NUMBER };
    const { id } = await this.ringport.calls.create(ALICE, { instanceId, type: "FIXED_TTS", target, tts });
    await this.#system.settle();
    return id;
  }

  async talkingCall(instanceId: string): Promise<string> {
    const id = await this.call(instanceId);
    this.network.leg(id).placed();
    this.network.leg(id).answer();
    await this.#system.settle();
    return id;
  }

  async status(path = "/v1/instances"): Promise<{ status: number; code?: string; retryAfter: string | null }> {
    const response = await this.ringport.fetch(new Request(`http://ringport.test${path}`));
    const { code } = (await response.json()) as { code?: string };
    return { status: response.status, ...(code ? { code } : {}), retryAfter: response.headers.get("retry-after") };
  }
}

const UNAVAILABLE = { status: 503, code: "storage_unavailable", retryAfter: "1" };

describe("a start", () => {
  test("waits for a dead server's lease, logs it once, and responds 503", async () => {
    const database = new TestDatabase();
    await database.database.storage().open({ exclusive: true }); // its process is dead
    await database.system.advance(2_000);
    const server = database.server({ onLeaseLost: "exit" });
    const startup = server.ringport.start();
    const statusRequest = server.status(); // before the other server is noticed
    await vi.waitFor(() => expect(server.warnings).toHaveLength(1));
    await database.system.advance(5_000);
    expect([await statusRequest, await server.status()]).toEqual([UNAVAILABLE, UNAVAILABLE]);
    await expect(server.ringport.instances.list(ALICE)).rejects.toMatchObject({ code: "storage_unavailable" });
    await database.settle(startup);
    expect(database.system.monotonic()).toBeGreaterThanOrEqual(10_000);
    expect(database.system.monotonic()).toBeLessThan(10_500);
    expect(server.warnings).toEqual([expect.stringMatching(/its lease runs out in 8 s; waiting$/)]);
    expect((await server.status()).status).toBe(401);
  });

  test("fails with `exit` if the other server is alive", async () => {
    const database = new TestDatabase();
    await database.server().ringport.start();
    const second = database.server({ onLeaseLost: "exit" });
    await expect(database.settle(second.ringport.start())).rejects.toBeInstanceOf(StorageLocked);
    expect(database.system.monotonic()).toBeLessThan(10_500);
    expect(await second.status()).toEqual(UNAVAILABLE);
  });

  test("waits with `restart` for the other server, and takes over within a second", async () => {
    const database = new TestDatabase();
    const first = database.server();
    await first.ringport.start();
    const second = database.server();
    let hasStarted = false;
    void second.ringport.start().then(() => {
      hasStarted = true;
    });
    await database.system.advance(60_000);
    expect([hasStarted, second.warnings.length]).toEqual([false, 1]);
    await database.settle(first.ringport.stop());
    await database.system.advance(1_000);
    expect(hasStarted).toBe(true);
  });

  test("acquires a lease that is released while it waits", async () => {
    const database = new TestDatabase();
    const first = database.server();
    await first.ringport.start();
    const second = database.server({ onLeaseLost: "exit" });
    const startup = second.ringport.start();
    await vi.waitFor(() => expect(second.warnings).toHaveLength(1));
    await database.settle(first.ringport.stop({ drainMs: 0 }));
    const startedAt = database.system.monotonic();
    await database.settle(startup);
    expect(database.system.monotonic() - startedAt).toBeLessThanOrEqual(1_050);
  });

  test("is ended by a stop while it waits", async () => {
    const database = new TestDatabase();
    await database.server().ringport.start();
    const second = database.server();
    const rejection = expect(second.ringport.start()).rejects.toBeInstanceOf(StorageLocked);
    await database.system.advance(3_000);
    await second.ringport.stop();
    await rejection;
    expect((await second.status()).code).toBe("stopping");
  });

  test("needs no wait after a clean stop", async () => {
    const database = new TestDatabase();
    const first = database.server();
    await first.ringport.start();
    await database.settle(first.ringport.stop({ drainMs: 0 }));
    const startedAt = database.system.monotonic();
    await database.server().ringport.start();
    expect(database.system.monotonic()).toBe(startedAt);
  });

  test.each([{ leaseMs: 4_000 }, { leaseRenewMs: 5_000 }])("refuses a late renewal: %o", (options) => {
    expect(() => createRingport(options)).toThrow(/leaseRenewMs is \d+: it must be less than half of leaseMs/);
  });
});

describe("a server that cannot reach its database", () => {
  test("hangs up before another server dials", async () => {
    const database = new TestDatabase();
    const first = database.server();
    const instanceId = await first.instance();
    const lostCall = await first.talkingCall(instanceId);
    const second = database.server();
    first.storage.isUnreachable = true;
    const startup = second.ringport.start();
    const waitForHangUp = async () => {
      while (first.network.leg(lostCall).hangUps === 0) await database.system.advance(20);
      return database.system.monotonic();
    };
    const hungUpAt = await waitForHangUp();
    await database.settle(startup);
    expect(database.system.monotonic()).toBeGreaterThan(hungUpAt + 500);
    await database.system.settle();
    const next = await second.talkingCall(instanceId);
    const { status, outcome } = await second.ringport.calls.get(ALICE, lostCall);
    expect([status, outcome?.reason]).toEqual(["FAILED", "interrupted"]);

    // Once its database is back, the first server waits, and responds to no request.
    first.storage.isUnreachable = false;
    await database.system.advance(30_000);
    expect(await first.status()).toEqual(UNAVAILABLE);
    await expect(first.ringport.calls.get(ALICE, next)).rejects.toMatchObject({ code: "storage_unavailable" });
    expect(second.network.leg(next).hangUps).toBe(0);
    const newInstanceId = await second.instance();
    await database.settle(second.ringport.stop({ drainMs: 0 }));
    await database.system.advance(7_000);

    // The same object is the owner again, with the records of the other one.
    expect((await first.ringport.calls.get(ALICE, next)).outcome?.reason).toBe("interrupted");
    const { connection, instance } = await connectionOf(first, newInstanceId);
    expect([instance, connection.state, connection.reason]).toEqual(["ACTIVE", "online", null]);
    const nextCall = await first.talkingCall(newInstanceId);
    expect((await first.ringport.calls.get(ALICE, nextCall)).status).toBe("IN_PROGRESS");
  });

  test("starts afresh only when its lines are closed", async () => {
    const database = new TestDatabase();
    const server = database.server();
    const instanceId = await server.instance();
    const line = server.network.line(instanceId);
    line.closeBarrier = new Promise((resolve) => database.system.after(11_500, () => resolve(undefined)));
    server.storage.isUnreachable = true;
    await database.system.advance(9_000);
    server.storage.isUnreachable = false;
    await database.system.advance(2_000);
    expect([server.network.line(instanceId) === line, line.closed]).toEqual([true, false]);
    await database.system.advance(20_000);
    expect([server.network.line(instanceId) === line, line.closed]).toEqual([false, true]);
  });

  test("ends every request that waits for the end of a call", async () => {
    const database = new TestDatabase();
    const first = database.server();
    const call = await first.talkingCall(await first.instance());
    let refusal: unknown;
    first.ringport.calls.wait(ALICE, call).catch((error: unknown) => {
      refusal = error;
    });
    await database.system.settle();
    first.storage.isUnreachable = true;
    await database.system.advance(15_000);
    expect(refusal).toMatchObject({ code: "stopping" });
  });

  test("stops permanently with `exit`, and logs the reason", async () => {
    const database = new TestDatabase();
    const first = database.server({ onLeaseLost: "exit" });
    await first.talkingCall(await first.instance());
    first.storage.isUnreachable = true;
    first.storage.close = () => new Promise(() => {}); // like an unanswered connection
    const reason = await database.settle(first.ringport.ended);
    expect(reason.message).toBe("the lease on the database was not renewed in time");
    expect(first.network.legs.map((leg) => leg.hangUps > 0)).toEqual([true]);
    expect((await first.status()).code).toBe("stopping");
    await expect(first.ringport.start()).rejects.toThrow("this Ringport was stopped");
    expect(first.warnings).toContain("the storage did not close properly");
  });

  test("does not respond once it resumes after a stop", async () => {
    const database = new TestDatabase();
    const first = database.server();
    await first.instance();
    database.system.stall(30_000);
    expect(await first.status()).toEqual(UNAVAILABLE);
    await expect(first.ringport.instances.list(ALICE)).rejects.toMatchObject({ code: "storage_unavailable" });
  });
});

describe("a server whose database was taken over", () => {
  test("leaves its calls to the new owner, which settles each of them once", async () => {
    const database = new TestDatabase();
    const first = database.server();
    const call = await first.talkingCall(await first.instance());
    database.database.release(database.database.epoch); // as if it had expired unnoticed
    const second = database.server();
    await second.ringport.start();
    await database.system.advance(3_000);
    expect(first.network.leg(call).hangUps).toBeGreaterThan(0);
    const finalCall = await second.ringport.calls.get(ALICE, call);
    expect([isActive(finalCall.status), finalCall.outcome?.reason]).toEqual([false, "interrupted"]);
    const { events } = await second.ringport.calls.timeline(ALICE, call);
    expect(events.filter(({ type }) => type === "failed")).toHaveLength(1);
  });
});

async function connectionOf({ ringport }: Server, id: string) {
  const { status, connection } = await ringport.instances.get(ALICE, id);
  return { instance: status, connection };
}
