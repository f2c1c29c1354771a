import { isId } from "../../base/ids.ts";
import { sha256OfBytes } from "../../base/sha256.ts";
import { within } from "../../base/timeout.ts";
import { type AudioPlace, DecodedAudio, decodedFile, NO_BASE64 } from "../../domain/audio-input.ts";
import { type Call, isActive, type Message } from "../../domain/call.ts";
import { CLOSED_BEFORE_ANSWER } from "../../domain/call-flow.ts";
import { type CheckedCallInput, voiceIn } from "../../domain/call-input.ts";
import { type CallerId, callerOf } from "../../domain/caller-id.ts";
import type { Event } from "../../domain/events.ts";
import { parseCreateCall } from "../../domain/inputs.ts";
import type { FailedReason } from "../../domain/outcome.ts";
import type { Principal } from "../../domain/principal.ts";
import { type Fault, invalidInput, Refusal } from "../../domain/refusal.ts";
import type { TranscriptLine } from "../../domain/transcript.ts";
import { AudioUnsupported } from "../../ports/audio-decoder.ts";
import type { StoredRecording } from "../../ports/recordings.ts";
import { VoiceUnavailable } from "../../ports/speech.ts";
import { type CallFilter, type Insertion, type Page, StorageUnavailable } from "../../ports/storage.ts";
import { once, type Running } from "../access/idempotency.ts";
import { PerUser } from "../access/per-user.ts";
import { eraseRecording, readRecording } from "../call-audio/call-recording.ts";
import { FairTurns } from "../call-audio/speech/fair-turns.ts";
import type { StreamReservation } from "../call-audio/streams/stream-client.ts";
import { checkStreamable, streamsOff } from "../call-audio/streams/stream-refusals.ts";
import type { Context } from "../context.ts";
import { notFound, shortened } from "../instances/instances.ts";
import { retryUntilStored } from "../retry-until-stored.ts";
import type { CallUseCases, CreateOptions, Creation, EventPage, EventQuery } from "../use-cases.ts";
import { assertCallerAllowed } from "./callers.ts";
import { assertCallable, assertTokenAllows, dailyLimitReached, quotaOf, withCheckedLimits } from "./destinations.ts";
import type { Dispatcher } from "./dispatcher.ts";
import { followCall } from "./followed-call.ts";
import { readLog } from "./log-pages.ts";
import type { Terminations } from "./terminations.ts";

/** Audio files that are checked at the same time. */
const INSPECTED_AT_ONCE = 2;
/** Audio files of one user that are checked or wait for it: each is held in memory. */
const USER_INSPECTIONS = 50;

/** What a caller may do with his calls. */
export class Calls implements CallUseCases {
  readonly #context: Context;
  readonly #dispatcher: Dispatcher;
  readonly #queued: (call: Call) => void;
  readonly #terminations: Terminations;
  readonly #inspections = new PerUser(USER_INSPECTIONS);
  readonly #inspectionTurns: FairTurns;

  constructor(context: Context, dispatcher: Dispatcher, queued: (call: Call) => void, terminations: Terminations) {
    this.#context = context;
    this.#inspectionTurns = new FairTurns(context.system, INSPECTED_AT_ONCE);
    this.#dispatcher = dispatcher;
    this.#queued = queued;
    this.#terminations = terminations;
  }

  async create(principal: Principal, body: unknown, options: CreateOptions = {}): Promise<Call & Creation> {
    const { schemas, strictSchemas } = this.#context;
    const input = parseCreateCall(options.strict ? strictSchemas : schemas, body, await this.#voiceFaults(body));
    const audio = input.type === "FIXED_AUDIO" ? await decodedAudio(input.audio) : undefined;
    return once(
      this.#context,
      principal,
      options.idempotencyKey,
      ["call", audio ? { ...input, audio } : input],
      (running) => this.#place(withCheckedLimits(principal), input, audio?.bytes, running),
      (first) => ({ ...(first as Call & Creation), replayed: true }),
    );
  }

  async get(principal: Principal, callId: string): Promise<Call> {
    const call = isId("call", callId) ? await this.#context.storage.calls.get(callId) : undefined;
    if (!call || !owns(principal, call)) throw callNotFound(callId);
    return call;
  }

  async list(principal: Principal, filter: CallFilter = {}, page: Page = {}): Promise<Call[]> {
    const { userId, demoInstanceId } = principal;
    if (demoInstanceId === undefined) return this.#context.storage.calls.list(userId, filter, page);
    if (filter.instanceId !== undefined && filter.instanceId !== demoInstanceId) return [];
    return this.#context.storage.calls.list(userId, { ...filter, instanceId: demoInstanceId }, page);
  }

  async hangUp(principal: Principal, callId: string): Promise<void> {
    const { system, timings } = this.#context;
    const begun = system.monotonic();
    const live = this.#dispatcher.session(callId)?.call; // known without the storage, which may be down
    const late = () => new StorageUnavailable(`call ${callId} could not be read within ${timings.storeMs} ms`);
    const call =
      live && owns(principal, live)
        ? live
        : await within(this.get(principal, callId), { system, ms: timings.storeMs, late });
    if (!(await this.#terminations.terminate(call, timings.storeMs - (system.monotonic() - begun))))
      throw new Refusal("call_not_found", `call "${callId}" has ended already`);
  }

  async timeline(principal: Principal, callId: string, query: EventQuery = {}): Promise<EventPage> {
    const { events } = this.#context.storage;
    const { id, userId } = await this.get(principal, callId);
    return readLog(events, userId, query, (page) => events.ofCall(id, page));
  }

  async transcripts(
    principal: Principal,
    calls: readonly Pick<Call, "id" | "userId" | "instanceId">[],
  ): Promise<ReadonlyMap<string, readonly TranscriptLine[]>> {
    for (const call of calls) if (!owns(principal, call)) throw callNotFound(call.id);
    const byCall = new Map<string, TranscriptLine[]>();
    if (calls.length === 0) return byCall;
    for (const line of await this.#context.storage.transcripts.ofCalls(calls.map(({ id }) => id))) {
      const lines = byCall.get(line.callId);
      if (lines) lines.push(line);
      else byCall.set(line.callId, [line]);
    }
    return byCall;
  }

  async *events(
    principal: Principal,
    callId: string,
    { signal }: { signal?: AbortSignal } = {},
  ): AsyncGenerator<Event> {
    const { id } = await this.get(principal, callId);
    yield* followCall(this.#context, id, signal);
  }

  async stream(principal: Principal, callId: string): Promise<StreamReservation> {
    if (!this.#context.streamPreview) throw streamsOff();
    return this.#context.streams.reserve(this.#context, await this.get(principal, callId));
  }

  async streamable(principal: Principal, callId: string): Promise<Call> {
    if (!this.#context.streamPreview) throw streamsOff();
    const call = await this.get(principal, callId);
    checkStreamable(call);
    return call;
  }

  async recording(principal: Principal, callId: string): Promise<StoredRecording> {
    return readRecording(this.#context, await this.get(principal, callId));
  }

  async eraseRecording(principal: Principal, callId: string): Promise<void> {
    await eraseRecording(this.#context, this.#dispatcher, await this.get(principal, callId));
  }

  async wait(principal: Principal, callId: string, options: { signal?: AbortSignal } = {}): Promise<Call> {
    for await (const _ of this.events(principal, callId, options));
    return this.get(principal, callId);
  }

  /** Ends a waiting call whose stream's client has hung up, however long the storage takes. Never rejects. */
  async terminate(callId: string): Promise<void> {
    const { storage, log } = this.#context;
    try {
      const call = await retryUntilStored(this.#context, `the end of call ${callId}`, () => storage.calls.get(callId));
      if (call && isActive(call.status)) await this.#terminations.end(call, "terminated", CLOSED_BEFORE_ANSWER);
    } catch (error) {
      log.warn({ call_id: callId, err: error }, "the call could not be ended, although its client has hung up");
    }
  }

  /** Ends every active call of an instance at once: the live one is hung up, and none of the others is dialled after it. */
  async endAllOf(instanceId: string, reason: FailedReason): Promise<void> {
    const calls = await this.#context.storage.calls.active(instanceId);
    await Promise.all(calls.map((call) => this.#terminations.end(call, reason, null)));
  }

  /** What is wrong with a well-formed voice id: nobody here speaks with that voice. */
  async #voiceFaults(body: unknown): Promise<Fault[]> {
    const voiceId = voiceIn(body);
    if (voiceId === undefined) return [];
    try {
      await this.#context.speech.voice(voiceId);
      return [];
    } catch (error) {
      if (!(error instanceof VoiceUnavailable)) throw error;
      return [{ pointer: "/tts/voiceId", code: "voice_unavailable", detail: error.message }];
    }
  }

  async #place(
    principal: Principal,
    input: CheckedCallInput,
    audio: Uint8Array | undefined,
    running: Running | undefined,
  ): Promise<Call & Creation> {
    const { storage, policy, events, counters, telephony } = this.#context;
    const { instanceId, target } = input;
    const { userId, demoInstanceId } = principal;
    if (demoInstanceId !== undefined && demoInstanceId !== instanceId)
      throw new Refusal("demo_token_restricted", "this demo token can call from its own instance only");
    assertTokenAllows(principal, target.phoneNumber);
    const instance = isId("inst", instanceId) ? await storage.instances.get(instanceId) : undefined;
    if (!instance || instance.userId !== userId || instance.status === "DELETED") throw notFound(instanceId);
    const network = telephony.get(instance.provider);
    await assertCallable(this.#context, network, target.phoneNumber);
    const from = callerOf(input.from, instance.callerId);
    await assertCallerAllowed(this.#context, principal, network, from);

    if (policy.kind === "single") {
      const [existing] = await storage.calls.active(instanceId);
      if (existing) {
        const result = { ...existing, created: false, replayed: false };
        await running?.finish(result);
        return result;
      }
    }

    const { message, file } = await this.#message(principal, input, audio);
    const call = this.#newCall(principal, input, message, from);
    const subject = { callId: call.id, instanceId, userId };
    const log = [events.event("queued", subject, { type: message.type })];
    if (message.type === "FIXED_AUDIO" && message.truncated)
      log.push(events.event("audio_truncated", subject, { played_ms: message.durationMs }));
    const receipt =
      running &&
      ((result: { created: boolean; call: Call }) =>
        running.receipt({ ...result.call, created: result.created, replayed: false }));
    const quota = quotaOf(this.#context, principal);
    let inserted: Insertion;
    try {
      inserted = await storage.calls.insert(call, file, policy, log, receipt, quota);
    } catch (error) {
      // The answer may be all that was lost.
      this.#waits(call);
      throw error;
    }
    switch (inserted.kind) {
      case "limited":
        throw dailyLimitReached(quota!, inserted.oldestAt);
      case "instance_gone":
        throw notFound(instanceId);
      case "full":
        throw new Refusal("queue_full", `instance "${instanceId}" already has as many calls as its queue takes`);
      case "existing":
        return { ...inserted.call, created: false, replayed: false };
      case "created":
        counters.callCreated(message.type);
        events.publish(log);
        this.#waits(inserted.call);
        return { ...inserted.call, created: true, replayed: false };
    }
  }

  /** It is dialled as soon as it can be, or fails when it has waited too long. */
  #waits(call: Call): void {
    this.#queued(call);
    this.#dispatcher.wake(call.instanceId);
  }

  #newCall(principal: Principal, input: CheckedCallInput, message: Message, from: CallerId | undefined): Call {
    return {
      id: this.#context.ids("call"),
      instanceId: input.instanceId,
      userId: principal.userId,
      tokenId: principal.tokenId ?? null,
      ...(principal.allowedPrefixes && { allowedPrefixes: principal.allowedPrefixes }),
      status: "QUEUED",
      targetPhone: input.target.phoneNumber,
      ...(from && { from }),
      message,
      outcome: null,
      mediaStatistics: null,
      recordedMs: input.recording ? 0 : null,
      createdAt: this.#context.system.now(),
      startedAt: null,
      endedAt: null,
      slot: 0,
      owner: null,
      dialingAt: null,
      version: 1,
    };
  }

  async #message(
    principal: Principal,
    input: CheckedCallInput,
    audio: Uint8Array = new Uint8Array(),
  ): Promise<{ message: Message; file?: Uint8Array | undefined }> {
    switch (input.type) {
      case "FIXED_TTS":
        return { message: { type: input.type, text: input.tts.text, voiceId: input.tts.voiceId } };
      case "FIXED_AUDIO":
        return this.#audioMessage(principal, input.instanceId, audio);
      case "DYNAMIC_STREAM":
        return { message: { type: input.type } };
      case "DYNAMIC_AGENT":
        return { message: { type: input.type, instructions: input.agent.instructions } };
    }
  }

  async #audioMessage(
    { userId }: Principal,
    instanceId: string,
    file: Uint8Array,
  ): Promise<{ message: Message; file: Uint8Array }> {
    const { decoder, limits } = this.#context;
    const leave = this.#inspections.take(userId);
    if (!leave)
      throw new Refusal("server_busy", "too many of your audio files are being checked at the moment; try again");
    try {
      const demand = { userId, instanceId, playing: false, aheadMs: 0 };
      const end = await this.#inspectionTurns.take(demand, new AbortController().signal);
      try {
        const { format, durationMs, truncated } = await decoder.inspect(file, { maxDurationMs: limits.audioMs });
        return { message: { type: "FIXED_AUDIO", format, durationMs, truncated }, file };
      } finally {
        end();
      }
    } catch (error) {
      if (!(error instanceof AudioUnsupported)) throw error;
      throw audioRefused(error.message);
    } finally {
      leave();
    }
  }
}

/** The file, decoded already if the body was parsed elsewhere. @throws {Refusal} `audio_unsupported` */
async function decodedAudio({ audioBase64 }: AudioPlace): Promise<DecodedAudio> {
  if (typeof audioBase64 !== "string") return audioBase64;
  const bytes = decodedFile(audioBase64);
  if (!bytes) throw audioRefused(NO_BASE64);
  return new DecodedAudio(bytes, await sha256OfBytes(bytes));
}

function audioRefused(detail: string): Refusal {
  return invalidInput([{ pointer: "/audio/audioBase64", code: "audio_unsupported", detail }]);
}

/** Whether the call is the caller's to see. */
function owns({ userId, demoInstanceId }: Principal, call: Pick<Call, "userId" | "instanceId">): boolean {
  return call.userId === userId && (demoInstanceId ?? call.instanceId) === call.instanceId;
}

function callNotFound(callId: string): Refusal {
  return new Refusal("call_not_found", `there is no call "${shortened(callId)}"`);
}
