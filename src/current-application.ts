import { Accounts } from "./application/accounts/accounts.ts";
import type { Application } from "./application/application.ts";
import { AudioLibrary } from "./application/audio-library.ts";
import type { BatchUseCases } from "./application/batches/batch-use-cases.ts";
import { Batches } from "./application/batches/batches.ts";
import { Calls } from "./application/calls/calls.ts";
import type { Erasure } from "./application/calls/deletion/erasure.ts";
import { Consents } from "./application/consents.ts";
import { Instances } from "./application/instances/instances.ts";
import type { VoiceFilter } from "./application/listed-voices.ts";
import { IssuedTokens } from "./application/tokens/issued-tokens.ts";
import type {
  AudioUseCases,
  CallUseCases,
  ConsentUseCases,
  InstanceUseCases,
  QueryUseCases,
  WebhookUseCases,
} from "./application/use-cases.ts";
import { Webhooks } from "./application/webhooks/webhooks.ts";
import { Refusal } from "./domain/refusal.ts";
import { type Absence, closedRefusal } from "./http/not-running.ts";
import { toResponse } from "./http/replies/reply.ts";
import { ownPaths } from "./http/requests/own-paths.ts";
import { withoutFragment } from "./http/requests/without-fragment.ts";
import type { Logger } from "./ports/logger.ts";
import type { Voice } from "./ports/speech.ts";
import type { RequestLike, WebApp } from "./ports/web.ts";

/** The use cases of an embedding program. */
export interface UseCases {
  readonly instances: InstanceUseCases;
  readonly calls: CallUseCases;
  readonly batches: BatchUseCases;
  readonly webhooks: WebhookUseCases;
  readonly consents: ConsentUseCases;
  readonly audio: AudioUseCases;
  /**
   * The events of the user's instances and calls, or of one instance, oldest first: at most `limit` (50) events after
   * `cursor`. Paging by cursor returns every event exactly once.
   * @throws {Refusal} `invalid_request`: the cursor is invalid
   */
  events: QueryUseCases["events"];
  /** Results of the user's calls in the last 14 days, today included. */
  callSummary: QueryUseCases["callSummary"];
  /** The networks that the user's instances may use, the default network first. */
  networks: QueryUseCases["networks"];
  /** The available voices, without variants unless the filter asks for them. */
  voices(filter?: VoiceFilter): Promise<readonly Voice[]>;
  /**
   * A short sentence in the voice's own language, as a WAV file: 16-bit PCM, mono, 16 kHz.
   * @throws {Refusal} `voice_not_found` naming the voices of that language; `speech_unavailable`
   */
  voiceSample(voiceId: string): Promise<Uint8Array<ArrayBuffer>>;
}

/** An application and its parts, running on an open storage. */
export interface RunningParts {
  readonly application: Application;
  readonly tokens: IssuedTokens;
  readonly http: WebApp;
  accounts(): Accounts;
}

/** Source of the current application: the life cycle of the server. */
export interface ApplicationSource {
  /** The running application, if it can be used now. */
  readonly current: RunningParts | undefined;
  /** The reason why there is no application. */
  readonly absence: Absence;
  /**
   * The running application, started if necessary.
   * @throws {Refusal} this server does not own its database at the moment
   */
  use(): Promise<RunningParts>;
}

/** Options of {@link currentApplication}. */
export interface CurrentOptions {
  /** Path before `/v1`, without a trailing slash. */
  readonly basePath: string;
  readonly log: Logger;
}

/** The members of a Ringport that delegate to the current application. */
export interface CurrentApplication extends WebApp, UseCases {
  readonly accounts: Methods<Accounts>;
  readonly tokens: Methods<IssuedTokens>;
  erase(person: { readonly phone: string }): Promise<Erasure>;
}

/**
 * The public side of a Ringport. It stays the same when another application replaces one that has lost its lease: each
 * call goes to the application running at that time, and the first call starts it. If none may run, requests get a 503.
 */
export function currentApplication(source: ApplicationSource, { basePath, log }: CurrentOptions): CurrentApplication {
  const isOwn = ownPaths(basePath);
  const refusalOf = closedRefusal(basePath);
  const refuse = (request: RequestLike) => refusalOf(request, source.absence);
  const use = () => source.use();
  const application = async () => (await use()).application;
  const queries = async () => (await application()).queries;
  const http = async (): Promise<WebApp | undefined> => {
    try {
      return (await use()).http;
    } catch (error) {
      if (!(error instanceof Refusal)) log.error({ err: error }, "received a request, but Ringport is not running");
      return undefined;
    }
  };
  return {
    // Most requests arrive while it is running, and need not wait for it.
    handle: (...args) =>
      source.current?.http.handle(...args) ?? http().then((web) => web?.handle(...args) ?? refuse(args[0])),
    claims: (request) =>
      use().then(
        ({ http }) => http.claims(request),
        () => isOwn(request.url),
      ),
    fetch: (request) =>
      source.current?.http.fetch(request) ??
      http().then((web) => web?.fetch(request) ?? toResponse(refuse(withoutFragment(request)))),
    upgrade: async (...args) => (await http())?.upgrade(...args) ?? refuse(args[0]),
    instances: methodsOf(Instances, async () => (await application()).instances),
    batches: methodsOf(Batches, async () => (await application()).batches),
    webhooks: methodsOf(Webhooks, async () => (await application()).webhooks),
    consents: methodsOf(Consents, async () => (await application()).consents),
    audio: methodsOf(AudioLibrary, async () => (await application()).audio),
    calls: {
      ...methodsOf(Calls, async () => (await application()).calls),
      async *events(...args) {
        yield* (await application()).calls.events(...args);
      },
    },
    events: async (...args) => (await queries()).events(...args),
    callSummary: async (...args) => (await queries()).callSummary(...args),
    networks: async (...args) => (await queries()).networks(...args),
    voices: async (filter) => (await queries()).voices(filter),
    voiceSample: async (voiceId) => (await queries()).voiceSample(voiceId),
    erase: async ({ phone }) => (await application()).erase(phone),
    accounts: methodsOf(Accounts, async () => (await use()).accounts()),
    tokens: methodsOf(IssuedTokens, async () => (await use()).tokens),
  };
}

/** The methods of an object that return promises. */
type Methods<T> = {
  readonly [Name in keyof T as T[Name] extends (...args: never[]) => Promise<unknown> ? Name : never]: T[Name];
};

/** The methods of a class, each of which runs on the object that `get` resolves with at that time. */
export function methodsOf<T extends object>(type: { readonly prototype: T }, get: () => Promise<T>): Methods<T> {
  type Callable = Record<string, (...args: unknown[]) => unknown>;
  const names = Object.getOwnPropertyNames(type.prototype).filter((name) => name !== "constructor");
  const method =
    (name: string) =>
    async (...args: unknown[]) =>
      ((await get()) as unknown as Callable)[name]?.(...args);
  return Object.fromEntries(names.map((name) => [name, method(name)])) as Methods<T>;
}
