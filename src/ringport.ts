import type { AccountUseCases } from "./application/accounts/account-use-cases.ts";
import { createApplication } from "./application/application.ts";
import type { Erasure } from "./application/calls/deletion/erasure.ts";
import { EventLog } from "./application/calls/event-log.ts";
import type { ContextParts } from "./application/context.ts";
import { Counters } from "./application/counters.ts";
import { Vault } from "./application/encryption/vault.ts";
import { guardedLogger, guardedSystem } from "./application/port-guards/guarded-basics.ts";
import { guardedPorts } from "./application/port-guards/guarded-ports.ts";
import { guardedPasswords } from "./application/port-guards/guarded-web.ts";
import { IssuedTokens } from "./application/tokens/issued-tokens.ts";
import { RecentTokens } from "./application/tokens/recent-tokens.ts";
import { type IssuedToken, type NewToken, tokenAuthenticator } from "./application/tokens/tokens.ts";
import { idSource } from "./base/ids.ts";
import { sha256Hex } from "./base/sha256.ts";
import { within } from "./base/timers.ts";
import { currentApplication, type RunningParts, type UseCases } from "./current-application.ts";
import { checkedCallLimits } from "./domain/calls/call-limits.ts";
import { inputSchemas } from "./domain/input/inputs.ts";
import { SINGLE_POLICY } from "./domain/instances/queue-capacity.ts";
import { DEFAULT_LIMITS } from "./domain/limits.ts";
import { DEFAULT_TIMINGS, isLeaseRenewedInTime, type Timings } from "./domain/timings.ts";
import { createHttp } from "./http/app.ts";
import type { Absence } from "./http/not-running.ts";
import { eventView } from "./http/views/event-view.ts";
import { Lifecycle, type RunningApp } from "./lifecycle.ts";
import type { EmbeddedPorts, RingportOptions } from "./options.ts";
import { silentLogger } from "./ports/logger.ts";
import type { TokenRecord } from "./ports/storage.ts";
import { realSystem } from "./ports/system.ts";
import type { WebApp } from "./ports/web.ts";
import { VERSION } from "./version.ts";

/** Tokens of the HTTP interface, used unless the embedding program authenticates users itself. */
export interface Tokens {
  /**
   * Creates a token, and the user if it is new. The token can be read only once. A demo token may create 50 calls a day
   * unless another limit is named.
   * @throws {RangeError} a call limit or scope is malformed, or allows more than the issuer has
   */
  issue(token: NewToken): Promise<IssuedToken>;
  /** Creates the first token, to be shown on the first start; returns undefined if a token exists. */
  first(token: NewToken): Promise<IssuedToken | undefined>;
  list(): Promise<TokenRecord[]>;
  /** Returns false if the token is unknown or already revoked. */
  revoke(tokenId: string): Promise<boolean>;
}

/** A Ringport: an application to serve or mount, and the same use cases without HTTP. */
export interface Ringport extends WebApp, UseCases {
  readonly tokens: Tokens;
  /** People who sign in with an email address and a password; the console uses them. */
  readonly accounts: AccountUseCases;
  /**
   * Deletes all users' data about calls to a phone number, and about calls that mention it, such as those transferred
   * there: calls with events, transcripts and recordings, results of idempotent requests, and records of linked
   * devices. The same applies to another form of the number that reaches the same phone (Brazil, Mexico, Argentina).
   * Active calls are ended first.
   * @throws {Refusal} `phone_number_invalid`
   */
  erase(person: { readonly phone: string }): Promise<Erasure>;
  /**
   * Opens the storage, settles what a crashed process left behind, and connects the linked numbers. The first use of
   * the server calls it if the program has not. If another server's lease has not run out yet, it waits until the lease
   * has: once under `onLeaseLost: "exit"`, repeatedly under `"restart"`.
   * @throws {StorageLocked} another server is using the same data
   */
  start(): Promise<void>;
  /**
   * Resolves with the reason when this Ringport has stopped because it lost its database, under `onLeaseLost: "exit"`.
   */
  readonly ended: Promise<Error>;
  /** Stops dialling, lets live calls end for `drainMs`, closes everything. Idempotent. */
  stop(options?: { drainMs?: number }): Promise<void>;
  /**
   * Reason why it cannot be used at the moment: `not_ready` before the start and after a failed start; undefined while
   * it runs.
   */
  absence(): Absence | undefined;
  /** The option `basePath` without a trailing slash; "" if there is none. */
  readonly basePath: string;
  /** The option `publicUrl`; undefined if it is not set. */
  readonly publicUrl: string | undefined;
  /** True if `DYNAMIC_STREAM` calls carry audio: the option `streamPreview`. */
  readonly streamPreview: boolean;
  /** True if the HTTP interface accepts Ringport's own tokens: the option `authenticate` is not set. */
  readonly acceptsOwnTokens: boolean;
  /** Sets the address at which it is reachable; ignored if `publicUrl` is set. Server adapters call this. */
  listeningAt(url: string): void;
}

type RunningRingport = RunningParts & RunningApp;

const DRAIN_MS = 10_000;

/**
 * Creates a Ringport. Nothing is opened before `start` or the first use.
 *
 * Throws a RangeError if `leaseRenewMs` is not less than half of `leaseMs`, or a call limit is invalid.
 */
export function createRingport(options: RingportOptions = {}): Ringport {
  const system = guardedSystem(options.system ?? realSystem);
  const log = guardedLogger(options.log ?? silentLogger);
  let listeningUrl = "http://127.0.0.1:8080";
  const basePath = (options.basePath ?? "").replace(/\/+$/, "");
  const publicUrl = () => options.publicUrl?.replace(/\/+$/, "") ?? listeningUrl + basePath;
  const callLimits = checkedCallLimits(options);
  const timings = timingsOf(options);
  if (!isLeaseRenewedInTime(timings))
    throw new RangeError(
      `leaseRenewMs is ${timings.leaseRenewMs}: it must be less than half of leaseMs (${timings.leaseMs})`,
    );
  const lifecycle = new Lifecycle<RunningRingport>({
    system,
    log,
    onLeaseLost: options.onLeaseLost ?? "restart",
    ports: () =>
      embeddedPorts({ ...options, ...withoutUndefined({ system: options.system && system, log: options.log && log }) }),
    open: (storage) => storage.open({ exclusive: true, leaseMs: timings.leaseMs }),
    start,
    giveUpStorage: (storage) => closeInTime("the storage", () => storage.close()),
    async closePorts({ telephony, speech, decoder, transcription, agent, recordings, bodies }) {
      for (const network of telephony) await closeInTime(`the network ${network.name}`, () => network.close());
      const engines = { speech, decoder, transcription, agent, recordings, bodies };
      await Promise.all(Object.entries(engines).map(([name, engine]) => closeInTime(name, () => engine?.close())));
    },
  });

  async function closeInTime(name: string, close: () => Promise<void> | undefined): Promise<void> {
    const timeoutError = () => new Error(`${name} did not close within ${timings.closeMs} ms`);
    const closing = (async () => close())();
    await within(closing, { system, ms: timings.closeMs, timeoutError }).catch((error: unknown) =>
      log.warn({ err: error }, `${name} did not close properly`),
    );
  }

  /** Assembles an application on the open storage, and starts it. */
  async function start(ports: EmbeddedPorts): Promise<RunningRingport> {
    const { storage, decoder, bodies, telephony, secret, asset, sha256, passwords, previousSecrets } = ports;
    const key = await secret();
    const guards = guardedPorts({ ...ports, voiceActivity: options.voiceActivity }, { system, log }, timings);
    const ids = idSource(
      () => system.now(),
      (bytes) => system.random(bytes),
    );
    const limits = { ...DEFAULT_LIMITS, ...withoutUndefined(options.limits ?? {}) };
    const context: ContextParts = {
      system,
      ids,
      nodeId: ids("node"),
      storage,
      ...guards,
      agentVoiceId: options.agentVoiceId,
      transcriptSpeakers: options.transcriptSpeakers ?? ["callee"],
      log,
      events: new EventLog(system, ids, log),
      counters: new Counters(),
      vault: new Vault(key, previousSecrets),
      timings,
      limits,
      callLimits,
      policy: options.queue ?? SINGLE_POLICY,
      schemas: inputSchemas(limits),
      strictSchemas: inputSchemas(limits, { strict: true }),
      streamPreview: options.streamPreview ?? false,
      requireInboundAudio: options.requireInboundAudio ?? false,
      oneWayCalls: options.oneWayCalls ?? "warn",
      publicUrl,
      webhooksAllowPrivate: options.webhooks?.allowPrivate ?? false,
      eventJson: (event) => JSON.stringify(eventView(event)),
    };
    const application = createApplication(context, {
      calls: options.retentionDays,
      recordings: options.recordingRetentionDays,
    });
    const { accounts } = storage;
    const recentTokens = new RecentTokens(system);
    const http = createHttp({
      instances: application.instances,
      calls: application.calls,
      batches: application.batches,
      queries: application.queries,
      webhooks: application.webhooks,
      consents: application.consents,
      audio: application.audio,
      authenticate: options.authenticate ?? tokenAuthenticator(accounts, system, sha256, recentTokens),
      pages: telephony.flatMap((network) => network.pages ?? []),
      limits,
      system,
      log,
      publicUrl,
      bodies,
      closing: () => lifecycle.isClosed,
      version: VERSION,
      streamPreview: context.streamPreview,
      mp3Stream: decoder.mp3Stream?.bind(decoder),
      ...withoutUndefined({
        basePath: options.basePath,
        cors: options.cors,
        rateLimit: options.rateLimit,
        asset: options.asset ?? asset,
      }),
    });
    try {
      await application.start();
    } catch (error) {
      const { lostSignal } = application.lease;
      const cause: unknown = lostSignal.aborted ? lostSignal.reason : error; // closing lines refuse the steps of the start
      await application.stop(0).catch(() => {});
      throw cause;
    }
    const { registration = "invitation" } = options;
    const tokens = new IssuedTokens({ accounts, system, ids, recentTokens });
    return {
      application,
      accounts: () =>
        application.accounts({
          passwords: guardedPasswords(passwords, { system, log }),
          registration,
          sha256: sha256 ?? sha256Hex,
          tokens,
        }),
      tokens,
      http,
      lease: application.lease,
      stop: (drainMs) => application.stop(drainMs),
    };
  }

  return {
    ...currentApplication(lifecycle, { basePath, log }),
    start: async () => void (await lifecycle.start()),
    stop: (stopOptions) => lifecycle.stop(stopOptions?.drainMs ?? options.drainMs ?? DRAIN_MS),
    ended: lifecycle.ended,
    absence: () => (lifecycle.current ? undefined : lifecycle.absence),
    basePath,
    publicUrl: options.publicUrl,
    streamPreview: options.streamPreview ?? false,
    acceptsOwnTokens: !options.authenticate,
    listeningAt: (url) => {
      listeningUrl = url;
    },
  };
}

/** The embedded defaults, loaded only here and only when needed: the core knows no runtime. */
async function embeddedPorts(options: RingportOptions): Promise<EmbeddedPorts> {
  const { embedded } = await import("../adapters/defaults.ts");
  return embedded(options);
}

function timingsOf(options: RingportOptions): Timings {
  const names = Object.keys(DEFAULT_TIMINGS) as (keyof Timings)[];
  return { ...DEFAULT_TIMINGS, ...withoutUndefined(Object.fromEntries(names.map((name) => [name, options[name]]))) };
}

/** The members that are not undefined. */
function withoutUndefined<T extends object>(members: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as never;
}
