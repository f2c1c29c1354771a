import type { Voice } from "../ports/speech.ts";
import type { CallUseCases, ConsentUseCases, InstanceUseCases, QueryUseCases, WebhookUseCases } from "./use-cases.ts";

/** The use cases of an embedding program. */
export interface UseCases {
  readonly instances: InstanceUseCases;
  readonly calls: CallUseCases;
  readonly webhooks: WebhookUseCases;
  readonly consents: ConsentUseCases;
  /**
   * Everything that happened to the user's instances and calls, or to one instance, oldest first: at most `limit` (50)
   * events behind `cursor`. Whoever goes on from the cursor of each page sees every event exactly once.
   * @throws {Refusal} `invalid_request`: the cursor is invalid
   */
  events: QueryUseCases["events"];
  /** How the user's calls of the last 14 days ended, today included. */
  callSummary: QueryUseCases["callSummary"];
  /** The networks that the user's instances may use, the default one first. */
  networks: QueryUseCases["networks"];
  voices(): Promise<readonly Voice[]>;
  /**
   * A short sentence in the voice's own language, as a WAV file: 16-bit PCM, mono, 16 kHz.
   * @throws {Refusal} `voice_not_found` naming the voices of that language; `speech_unavailable`
   */
  voiceSample(voiceId: string): Promise<Uint8Array<ArrayBuffer>>;
}

/** The use cases of an application. */
interface ProvidedUseCases extends Omit<UseCases, keyof QueryUseCases> {
  readonly queries: QueryUseCases;
}

/** Use cases that ask for their application at each use; the first one may start it. */
export function useCasesOnDemand(app: () => Promise<ProvidedUseCases>): UseCases {
  return {
    events: async (...args) => (await app()).queries.events(...args),
    callSummary: async (...args) => (await app()).queries.callSummary(...args),
    networks: async (...args) => (await app()).queries.networks(...args),
    voices: async () => (await app()).queries.voices(),
    voiceSample: async (voiceId) => (await app()).queries.voiceSample(voiceId),
    instances: onDemand<InstanceUseCases>(async () => (await app()).instances, {
      create: 1,
      update: 1,
      list: 1,
      get: 1,
      configure: 1,
      pairingCode: 1,
      linkTicket: 1,
      linkPage: 1,
      unlink: 1,
      delete: 1,
    }),
    webhooks: onDemand<WebhookUseCases>(async () => (await app()).webhooks, {
      create: 1,
      list: 1,
      get: 1,
      update: 1,
      delete: 1,
      rotateSecret: 1,
      test: 1,
      deliveries: 1,
      replay: 1,
    }),
    consents: onDemand<ConsentUseCases>(async () => (await app()).consents, { put: 1, get: 1, delete: 1, list: 1 }),
    calls: {
      create: async (...args) => (await app()).calls.create(...args),
      get: async (...args) => (await app()).calls.get(...args),
      list: async (...args) => (await app()).calls.list(...args),
      hangUp: async (...args) => (await app()).calls.hangUp(...args),
      timeline: async (...args) => (await app()).calls.timeline(...args),
      transcripts: async (...args) => (await app()).calls.transcripts(...args),
      async *events(...args) {
        yield* (await app()).calls.events(...args);
      },
      stream: async (...args) => (await app()).calls.stream(...args),
      streamable: async (...args) => (await app()).calls.streamable(...args),
      listen: async (...args) => (await app()).calls.listen(...args),
      recording: async (...args) => (await app()).calls.recording(...args),
      eraseRecording: async (...args) => (await app()).calls.eraseRecording(...args),
      wait: async (...args) => (await app()).calls.wait(...args),
    },
  };
}

/**
 * Methods that ask for what has them at each use.
 * @param methods the names of all of them
 */
export function onDemand<Methods extends object>(
  get: () => Promise<Methods>,
  methods: Readonly<Record<keyof Methods, 1>>,
): Methods {
  type Methodical = Record<string, (...args: unknown[]) => unknown>;
  const method =
    (name: string) =>
    async (...args: unknown[]) =>
      ((await get()) as Methodical)[name]!(...args);
  return Object.fromEntries(Object.keys(methods).map((name) => [name, method(name)])) as Methods;
}
