import { onTestFinished } from "vitest";
import { messageOf } from "../chaos/messages.ts";
import { openClient } from "../support/postgres.ts";
import { type Relay, relayTo } from "../support/relay.ts";
import { createDatabase, Server, type Target } from "../support/server.ts";
import { type CallView, type Client, expected, type InstanceView, until } from "../support/server-client.ts";
import { callees, type FarEnd, type FarEndCall, startFarEnd } from "../support/sip/far-end.ts";

/** Length of a lease on the database, ms: a start on a busy machine takes several seconds. */
export const LEASE_MS = 6_000;
const RENEW_MS = 300;
/** Time limit of every expectation on a busy machine, ms. */
export const SOON_MS = 20_000;
/** Exit code of a server that has lost its database to another one. */
export const LEASE_LOST = 8;
/** Longer than a test lasts. */
const MESSAGE = { type: "FIXED_AUDIO", tts: undefined, audio: { audioBase64: messageOf(30_000) } };

/** Two servers on one database, the first one through a relay, and the phone that both call. */
export class Pair {
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

  static async start(target: Target, onLeaseLost: "exit" | "restart"): Promise<Pair> {
    const databaseUrl = await createDatabase();
    const relay = await relayTo(databaseUrl);
    const phone = await startFarEnd({ callees: { "*": callees.answers } });
    const env = {
      RINGPORT_TELEPHONY: "sip",
      RINGPORT_SIP_TRUNKS: JSON.stringify([{ name: "desk", server: phone.uri, users: "*" }]),
      RINGPORT_LEASE_MS: String(LEASE_MS),
      RINGPORT_LEASE_RENEW_MS: String(RENEW_MS),
      RINGPORT_ON_LEASE_LOST: onLeaseLost,
    };
    const first = new Server(target, { databaseUrl: relay.url, env });
    const waitingEnv = { ...env, RINGPORT_ON_LEASE_LOST: "restart" };
    const second = new Server(target, { databaseUrl, data: first.data, env: waitingEnv });
    onTestFinished(async () => {
      await Promise.all([first.dispose(), second.dispose()]);
      await Promise.all([relay.cut(), phone.close()]);
    });
    await first.start();
    return new Pair(databaseUrl, relay, phone, first, second);
  }

  /** Places the n-th call and waits until its audio is heard. */
  async placeCall(client: Client, instanceId: string, n: number): Promise<{ call: CallView; phoneCall: FarEndCall }> {
    const call = await client.call(instanceId, MESSAGE);
    const phoneCall = await this.phone.call(n);
    await until(
      () => phoneCall.voice?.packets.length ?? 0,
      (packets) => packets > 10,
      SOON_MS,
      "audio of the call",
    );
    return { call, phoneCall };
  }

  /** Time at which the lease expires unless renewed, ms on the clock of `performance`. */
  async leaseEnd(): Promise<number> {
    await using database = await openClient(this.#databaseUrl);
    const { rows } = await database.query<{ expires_at: string }>("select expires_at from owners");
    return Number(rows[0]?.expires_at) - Date.now() + performance.now();
  }
}

/** Creates an instance on the trunk to the phone; returns its id once it is active. */
export async function createTrunkInstance(client: Client): Promise<string> {
  const body = { name: "Front desk", provider: "sip/desk" };
  const { id } = expected(201, await client.post("/v1/instances", body)).json<InstanceView>();
  await client.waitForInstance(id, "ACTIVE");
  return id;
}

export function endOf(call: FarEndCall): Promise<FarEndCall["end"]> {
  return until(
    () => call.end,
    (end) => end !== undefined,
    SOON_MS,
    "the call to end",
  );
}

export const invitedAt = (call: FarEndCall): number => call.requests[0]!.at;
export const byeAt = (call: FarEndCall): number => call.requests.find(({ method }) => method === "BYE")!.at;
