import type { CallLimits } from "./domain/calls/call-limits.ts";
import type { Speaker } from "./domain/calls/transcript.ts";
import type { QueuePolicy } from "./domain/instances/queue-capacity.ts";
import type { Limits } from "./domain/limits.ts";
import type { Timings } from "./domain/timings.ts";
import type { HttpParts } from "./http/app.ts";
import type { AgentTool } from "./ports/agent-tool.ts";
import type { AudioAgent } from "./ports/audio-conversation.ts";
import type { AudioDecoder } from "./ports/audio-decoder.ts";
import type { Authenticate } from "./ports/authenticator.ts";
import type { BodyParser } from "./ports/body-parser.ts";
import type { Agent } from "./ports/conversation.ts";
import type { Logger } from "./ports/logger.ts";
import type { Network } from "./ports/network-pages.ts";
import type { PasswordHasher } from "./ports/password-hasher.ts";
import type { Recordings } from "./ports/recordings.ts";
import type { Speech } from "./ports/speech.ts";
import type { Storage } from "./ports/storage.ts";
import type { System } from "./ports/system.ts";
import type { Transcription } from "./ports/transcription.ts";
import type { VoiceActivity } from "./ports/voice-activity.ts";
import type { WebhookSender } from "./ports/webhook-sender.ts";

/** Options that only the HTTP interface reads. */
export type HttpOptions = Partial<Pick<HttpParts, "basePath" | "cors" | "rateLimit" | "asset">>;

/**
 * The parts and settings of Ringport. Each has a default: without options it keeps its data in `./data`, carries calls
 * over the simulated phone network and speaks with the engines that are installed.
 */
export interface RingportOptions extends Partial<Timings>, HttpOptions {
  /**
   * The public address of this server, base path included, without a trailing slash. Default: the address that it
   * listens on.
   */
  readonly publicUrl?: string | undefined;
  /**
   * The networks that carry calls. A new instance gets the first one that its user may use. Default:
   * `embedded.networks`.
   */
  readonly telephony?: Network | readonly Network[] | undefined;
  /** Storage of calls, instances and tokens. Default: embedded SQLite in `data`, or PostgreSQL at `databaseUrl`. */
  readonly storage?: Storage | undefined;
  /**
   * Text to speech: one engine, or several whose voices have different ids. Default: the engines that are installed.
   */
  readonly speech?: Speech | readonly Speech[] | undefined;
  /** Decodes audio files. Default: WAV and MP3, in a worker. */
  readonly decoder?: AudioDecoder | undefined;
  /** Live audio streams (`DYNAMIC_STREAM`), a preview. Default: false. */
  readonly streamPreview?: boolean | undefined;
  /** Transcribes live streams. Default: streams are not transcribed. */
  readonly transcription?: Transcription | undefined;
  /** Conducts agent calls (`DYNAMIC_AGENT`). Default: an agent that follows a script (docs/agents.md). */
  readonly agent?: Agent | AudioAgent | undefined;
  /** Functions that the model of an agent may call (docs/agents.md). Default: none. */
  readonly agentTools?: readonly AgentTool[] | undefined;
  /**
   * The voice of agents, such as `pt-BR-1`, if the call names none. Default: `en-US-1`, or the first voice that works.
   */
  readonly agentVoiceId?: string | undefined;
  /**
   * The speakers whose words are transcribed: the callee, and the caller (the audio that the callee hears). Default:
   * the callee.
   */
  readonly transcriptSpeakers?: readonly Speaker[] | undefined;
  /** Storage of call recordings. Default: WAV files in the folder `call-recordings` of `data`. */
  readonly recordings?: Recordings | undefined;
  /** Detects speech. Default: measures the energy above the noise, and mistakes music for speech. */
  readonly voiceActivity?: VoiceActivity | undefined;
  /** Finds the user of a bearer token. Default: looks it up in the storage. */
  readonly authenticate?: Authenticate | undefined;
  /** Clock and randomness. Default: those of the system. */
  readonly system?: System | undefined;
  /**
   * People who may register once there is an account: those with an `invitation`, or everyone (`open`). Default:
   * `invitation`.
   */
  readonly registration?: "open" | "invitation" | undefined;
  /** Hashes the passwords of accounts. Default: scrypt, at most two at a time. */
  readonly passwords?: PasswordHasher | undefined;
  /** Receives log messages for the operator. Default: silent. */
  readonly log?: Logger | undefined;
  /** Limits of a request. */
  readonly limits?: Partial<Limits> | undefined;
  /**
   * Prefixes of the only numbers that are called, whatever a token allows: `["+49", "+1415"]`. Default: every number.
   */
  readonly allowedPrefixes?: CallLimits["allowedPrefixes"];
  /** Calls that a token without its own limit may create within 24 hours. Default: unlimited. */
  readonly maxCallsPerDay?: CallLimits["maxCallsPerDay"];
  /** Number of calls an instance may hold. Default: one, as the HTTP interface specifies. */
  readonly queue?: QueuePolicy | undefined;
  /**
   * Number of days after which ended calls, with their recordings, and deleted instances are purged. Default: never.
   */
  readonly retentionDays?: number | undefined;
  /** Number of days after the end of a call until its recording is deleted. Default: deleted with the call. */
  readonly recordingRetentionDays?: number | undefined;
  /**
   * Behaviour when another server has taken over the database, or may have: `restart` ends all calls, closes all lines
   * and starts again as soon as the database is free; `exit` stops permanently. Only PostgreSQL can be taken over.
   * Default: `restart`; for `ringport serve`: `exit`.
   */
  readonly onLeaseLost?: "restart" | "exit" | undefined;
  /** Maximum time that live calls may continue when the server stops, ms. Default: 10,000. */
  readonly drainMs?: number | undefined;
  /** True if a call without inbound audio fails even on networks on which silence is inconclusive. Default: false. */
  readonly requireInboundAudio?: boolean | undefined;
  /**
   * Behaviour of agent calls and streams on a network that does not return the callee's audio (`receivesAudio: false`):
   * `refuse` ends them before any phone rings, `warn` places them, with the event `media.one_way` and a warning in the
   * log. Default: `warn`.
   */
  readonly oneWayCalls?: "refuse" | "warn" | undefined;
  /** 64 hex digits: the key that encrypts credentials. Default: generated on the first start and kept in `data`. */
  readonly secret?: string | undefined;
  /**
   * Earlier secrets, 64 hex digits each: values sealed with them are opened, and sealed again with `secret` after the
   * start. The log reports when they are no longer needed. Default: none.
   */
  readonly previousSecrets?: readonly string[] | undefined;
  /** Folder of the embedded defaults: database, key, recordings. Default: `./data`. */
  readonly data?: string | undefined;
  /** `postgres://…`: PostgreSQL instead of the embedded SQLite. */
  readonly databaseUrl?: string | undefined;
  /** Schema of the tables on PostgreSQL, created if it is missing. Default: the first schema in the search path. */
  readonly databaseSchema?: string | undefined;
  /** Name prefix of all tables and indexes, such as `ringport_`. Default: none. */
  readonly databasePrefix?: string | undefined;
  /** Delivery of webhooks. */
  readonly webhooks?: WebhookOptions | undefined;
  /** Options of the embedded defaults (see `adapters/defaults.ts`). */
  readonly embedded?: EmbeddedTuning | undefined;
}

/** Delivery of webhooks. */
export interface WebhookOptions {
  /**
   * Endpoints may be in private networks, and need no HTTPS: for development and tests, because every user of the
   * server can then send requests into its network. Default: false.
   */
  readonly allowPrivate?: boolean | undefined;
}

/** Fine-tuning of the embedded defaults. */
export interface EmbeddedTuning {
  /** `FULL` survives a power cut; `NORMAL` may lose the last commits. Default: `FULL`. */
  readonly synchronous?: "FULL" | "NORMAL" | undefined;
  /** Factor for the timings of simulated callees and link codes: 0.1 is ten times as fast. Default: 1. */
  readonly simulatorTimeScale?: number | undefined;
  /** Rate of simulated legs, Hz. Default: 16000. */
  readonly simulatorSampleRate?: 8000 | 16000 | undefined;
  /**
   * Voice of simulated callees; they speak its language if that is English, Portuguese or Spanish. Default: `en-US-1`,
   * or the first voice that works.
   */
  readonly simulatorVoiceId?: string | undefined;
  /**
   * The networks that carry calls, the default one first. Default: `sip` if SIP is configured, otherwise `simulator`;
   * never both.
   */
  readonly networks?: readonly NetworkName[] | undefined;
  /** Real phones, over SIP. */
  readonly sip?: SipTuning | undefined;
  /** A server with `POST {baseUrl}/audio/speech`. */
  readonly httpSpeech?: HttpSpeechTuning | undefined;
  /** Natural voices, and transcription without a server, on this machine (docs/voices.md). */
  readonly neural?: NeuralTuning | undefined;
  /** The engine that transcribes live streams; pass your own as `transcription`. */
  readonly transcription?: TranscriptionTuning | undefined;
  /** The agent that conducts calls; pass your own as `agent`. Default: `scripted`. */
  readonly agent?: AgentTuning | undefined;
  /** HTTP requests that the model of an agent may send (docs/agents.md). Default: none. */
  readonly httpTools?: HttpToolsTuning | undefined;
}

/** The built-in networks. */
export const NETWORK_NAMES = ["simulator", "sip"] as const;

/** A built-in network. */
export type NetworkName = (typeof NETWORK_NAMES)[number];

/** SIP trunks and accounts. */
export interface SipTuning {
  /**
   * The trunks: objects as for `ringport/sip`, JSON text, or the path of a JSON file. The JSON may also contain routes.
   */
  readonly trunks?: string | readonly SipTrunkOptions[] | undefined;
  /** Routes over the trunks, as for `ringport/sip`. Default: the routes in the JSON of `trunks`. */
  readonly routes?: readonly SipRouteOptions[] | undefined;
  /**
   * Lets users enter their own SIP account on the page behind an instance's QR code, with any server, or only with
   * these: `sip.example.com`, `*.example.com`. Default: off.
   */
  readonly accounts?: boolean | { readonly servers: readonly string[] } | undefined;
  /**
   * Allows these accounts private addresses, such as a PBX in your own network: then every user can send packets into
   * it. Otherwise only servers that `servers` lists by their full name may have one. Default: false.
   */
  readonly accountsAllowPrivate?: boolean | undefined;
  /**
   * Rules for the numbers that these accounts may call, as in the options of a trunk. Default: every number except
   * emergency and premium-rate numbers.
   */
  readonly accountDestinations?: SipDestinations | undefined;
  /**
   * Maximum number of threads for the audio of SIP calls, 1 to 127. Default: one fewer than the processors, at least 1.
   */
  readonly mediaThreads?: number | undefined;
}

/** Rules for numbers called over SIP. */
export interface SipDestinations {
  /**
   * Prefixes of the allowed numbers: `["+49", "+1415"]`. Default: every number except those of the next two options.
   */
  readonly allowedPrefixes?: readonly string[] | undefined;
  /** Calls emergency numbers too. Default: false. */
  readonly allowEmergency?: boolean | undefined;
  /** Calls premium-rate and satellite numbers too. Default: false. */
  readonly allowPremium?: boolean | undefined;
}

/** A trunk: `Trunk` of `ringport/sip`, which names and checks its other options. */
export interface SipTrunkOptions {
  readonly name: string;
  readonly server: string;
  readonly [option: string]: unknown;
}

/** Several trunks behind one name: `Route` of `ringport/sip`, which names and checks its other options. */
export interface SipRouteOptions {
  readonly name: string;
  readonly trunks: readonly { readonly trunk: string; readonly [option: string]: unknown }[];
}

/** A speech server: Kokoro-FastAPI, Speaches, LocalAI and others. */
export interface HttpSpeechTuning {
  /** Address of the server with the version, without `/audio/speech`: `http://127.0.0.1:8880/v1`. */
  readonly baseUrl: string;
  /** Key for the server, sent as a bearer token; never part of an error message. */
  readonly apiKey?: string | undefined;
  /** The model that speaks. */
  readonly model: string;
  /** Map from our voice ids to the server's: `{ "pt-BR-1": { voice: "pf_dora" } }`. */
  readonly voices: Readonly<
    Record<string, { voice: string; model?: string; speed?: number; scripts?: readonly string[] }>
  >;
  /** Sample rate of its PCM if the server does not report it, Hz. Default: 24000. */
  readonly sampleRate?: number | undefined;
  /** Maximum number of concurrent requests. Default: 4. */
  readonly atOnce?: number | undefined;
}

/** sherpa-onnx models that speak and transcribe on this machine. */
export interface NeuralTuning {
  /** Folder with one subfolder for each model; a relative path starts at `data`. Default: `models`. */
  readonly models?: string | undefined;
  /**
   * More voices, and other ids: `{ "pt-BR-1": { model: "vits-piper-pt_BR-faber-medium" } }`. Default: every model has
   * its own id.
   */
  readonly voices?: Readonly<Record<string, { model: string; speaker?: number; speed?: number }>> | undefined;
  /** Number of processes that run models. Default: 1. */
  readonly processes?: number | undefined;
  /** Memory that a process may use in addition to its models before it is replaced, MiB. Default: 1024. */
  readonly memoryMb?: number | undefined;
}

/** An engine that transcribes. A server needs an address and a model: hosted models come and go. */
export interface TranscriptionTuning {
  /**
   * `local` runs a model on this machine (`neural`). The others are protocols of servers: `openai` sends one HTTP
   * request for each turn, `openai-realtime` and the two Deepgram engines use a WebSocket.
   */
  readonly engine: "local" | "openai" | "openai-realtime" | "deepgram" | "deepgram-flux";
  /** Address of the server, such as `http://127.0.0.1:8000/v1` or `https://api.deepgram.com`. */
  readonly baseUrl?: string | undefined;
  /** Key for the server; never part of an error message. */
  readonly apiKey?: string | undefined;
  /** The model that transcribes. Default for `local`: the only recogniser in the model folder. */
  readonly model?: string | undefined;
  /** Language of the speech, as the engine names it: `pt`. Default: the engine detects it. */
  readonly language?: string | undefined;
}

/** The agent that conducts `DYNAMIC_AGENT` calls. */
export type AgentTuning =
  /** Follows a script (docs/agents.md). */
  | { readonly engine: "scripted" }
  | {
      /** A language model that uses the transcription and the speech of this server. */
      readonly engine: "cascade";
      /** Address of the server with the version, without `/chat/completions`: `http://127.0.0.1:11434/v1`. */
      readonly baseUrl: string;
      /** Key for the server; never part of an error message. */
      readonly apiKey?: string | undefined;
      /** The model. */
      readonly model: string;
      /**
       * Maximum number of the model's replies in one call; at the limit the agent ends the call with a goodbye.
       * Default: 100.
       */
      readonly maxTurns?: number | undefined;
      /**
       * Maximum number of tokens in one call, as far as the server counts them; at the limit the agent ends the call
       * with a goodbye. Default: 200,000.
       */
      readonly maxTokens?: number | undefined;
    }
  | {
      /** A model that hears and speaks audio itself, over OpenAI's realtime protocol. */
      readonly engine: "realtime";
      /** Address of the server with the version, without `/realtime`: `https://api.openai.com/v1`. */
      readonly baseUrl: string;
      /** Key for the server; never part of an error message. */
      readonly apiKey?: string | undefined;
      /** The model. */
      readonly model: string;
      /** The provider's name for the voice. Default: the provider's own choice. */
      readonly voice?: string | undefined;
      /**
       * Maximum number of the model's replies in one call; at the limit the agent ends the call with a goodbye.
       * Default: 100.
       */
      readonly maxTurns?: number | undefined;
      /**
       * Maximum number of tokens in one call, as far as the server counts them; at the limit the agent ends the call
       * with a goodbye. Default: 200,000.
       */
      readonly maxTokens?: number | undefined;
    };

/** Agent tools that are HTTP requests. */
export interface HttpToolsTuning {
  /** The tools: objects, JSON text, or the path of a JSON file. */
  readonly tools: string | readonly HttpToolOptions[];
  /**
   * Allows tools to connect to private addresses and without HTTPS: for development and internal servers. Default:
   * false.
   */
  readonly allowPrivate?: boolean | undefined;
}

/** An HTTP request that the model of an agent may send. */
export interface HttpToolOptions extends Pick<AgentTool, "name" | "description" | "parameters" | "timeoutMs"> {
  /** Address of the request. Each `{name}` in path or query becomes the encoded argument of that name. */
  readonly url: string;
  /** GET sends the other arguments in the query; other methods send them as JSON. Default: `GET`. */
  readonly method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE" | undefined;
  /** Headers, such as `authorization`. Their values are never passed to the model or logged. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** Parts of the embedded defaults, for omitted options. */
export interface EmbeddedPorts {
  readonly storage: Storage;
  readonly telephony: readonly Network[];
  readonly speech: Speech;
  readonly decoder: AudioDecoder;
  readonly transcription: Transcription | undefined;
  /** Conducts agent calls. */
  readonly agent: Agent | AudioAgent;
  /** Tools of agents' models. */
  readonly agentTools: readonly AgentTool[];
  readonly recordings: Recordings;
  /** Delivers webhooks. */
  readonly webhookSender: WebhookSender;
  /** Hashes the passwords of accounts. */
  readonly passwords: PasswordHasher;
  /** Parses large request bodies off the thread that carries audio. */
  readonly bodies?: BodyParser | undefined;
  /**
   * The 32 bytes of the key, kept in the data folder unless the options contain one. Requested once the storage is
   * open, so that a server that cannot start leaves nothing behind.
   */
  readonly secret: () => Promise<Uint8Array>;
  /** The option `previousSecrets`, 32 bytes each. */
  readonly previousSecrets: readonly Uint8Array[];
  /** Files of the documentation page. */
  readonly asset?: HttpOptions["asset"];
  /** SHA-256 of a text's UTF-8 bytes, lower-case hex, computed by the runtime's fastest method. */
  readonly sha256?: ((text: string) => string) | undefined;
}
