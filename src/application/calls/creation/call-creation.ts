import { InternalError } from "../../../base/error.ts";
import { shown } from "../../../base/shown.ts";
import { mayUseInstanceId } from "../../../domain/access/ownership.ts";
import type { Principal } from "../../../domain/access/principal.ts";
import type { UploadedAudio } from "../../../domain/calls/audio-input.ts";
import { asCreated, type Call, type Message, UNDIALLED } from "../../../domain/calls/call.ts";
import type { CheckedCallInput } from "../../../domain/calls/call-input.ts";
import { agentLanguageIn, agentToolsIn, voiceIn } from "../../../domain/calls/call-type-input.ts";
import { storedAudioId } from "../../../domain/calls/stored-audio.ts";
import type { Fact } from "../../../domain/events.ts";
import { parseCreateCall } from "../../../domain/input/inputs.ts";
import { batchPolicy } from "../../../domain/instances/queue-capacity.ts";
import { type CallerId, callerOf } from "../../../domain/numbers/caller-id.ts";
import { type Fault, invalidInput, Refusal } from "../../../domain/refusal.ts";
import { VoiceUnavailable } from "../../../ports/speech.ts";
import type { Insertion, NewReceipt, Receipt } from "../../../ports/storage.ts";
import type { Telephony } from "../../../ports/telephony.ts";
import { audioNotFound } from "../../audio-library.ts";
import { voiceOf } from "../../call-audio/agents/agent-voice.ts";
import { programOf } from "../../call-audio/call-types/all-call-types.ts";
import { type ProgramContext, ProgramFailed } from "../../call-audio/call-types/call-type-program.ts";
import type { Context } from "../../context.ts";
import { type IdempotencyContext, runOnce } from "../../idempotency/idempotency.ts";
import { instanceNotFound, ownedInstance } from "../../instances/owned-instance.ts";
import type { CreateOptions, Creation } from "../../use-cases.ts";
import { byteBudgetOf, storageQuota } from "../../user-limits/byte-budget.ts";
import { referenceData } from "../live/outcomes.ts";
import { assertCallerAllowed } from "./callers.ts";
import { assertCallable, assertTokenAllows, dailyLimitReached, quotaOf, withCheckedLimits } from "./destinations.ts";
import { screeningFaults, unspeakableTextFault } from "./engine-faults.ts";
import { type CheckedAudio, type CheckedMessage, decodedAudio, MessageChecks } from "./message-checks.ts";
import { assertNotOneWay } from "./one-way-calls.ts";
import { assertSipAllowed, sipChoiceOf } from "./sip-choices.ts";

/** Dependencies of {@link CallCreation}. */
export type CallCreationContext = Pick<
  Context,
  | "access"
  | "agent"
  | "agentTools"
  | "callLimits"
  | "counters"
  | "events"
  | "ids"
  | "limits"
  | "oneWayCalls"
  | "policy"
  | "purgeClock"
  | "schemas"
  | "speech"
  | "processPauses"
  | "storage"
  | "strictSchemas"
  | "system"
  | "telephony"
  | "transcription"
> &
  IdempotencyContext &
  ProgramContext;

/** The place of a call in a batch. */
export type BatchPlace = Required<Pick<Call, "batchId" | "batchPosition" | "batchAttempt">>;

/** Maximum number of languages listed in a fault. */
const MAX_NAMED_LANGUAGES = 20;

/** Checks the input of a new call and stores the call as `QUEUED`. */
export class CallCreation {
  readonly #context: CallCreationContext;
  readonly #onQueued: (call: Call) => void;
  /** The checks of messages, which stored audio files share. */
  readonly messages: MessageChecks;

  /** @param onQueued receives every call that may now be waiting in its queue */
  constructor(context: CallCreationContext, onQueued: (call: Call) => void) {
    this.#context = context;
    this.#onQueued = onQueued;
    this.messages = new MessageChecks(context);
  }

  async create(principal: Principal, body: unknown, options: CreateOptions = {}): Promise<Call & Creation> {
    const input = await this.check(body, options);
    const audio =
      input.type === "FIXED_AUDIO" && "audioBase64" in input.audio ? await decodedAudio(input.audio) : undefined;
    return runOnce(
      this.#context,
      principal,
      options.idempotencyKey,
      ["call", audio ? { ...input, audio } : input],
      (receipt) => this.#place(withCheckedLimits(principal), input, audio, receipt, options),
      (receipt) => this.#replay(receipt),
    );
  }

  /**
   * Checks the body of a batch's call like that of any other call, without placing it.
   * @throws {Refusal} with all faults
   */
  async check(body: unknown, { strict = false }: Pick<CreateOptions, "strict"> = {}): Promise<CheckedCallInput> {
    const { schemas, strictSchemas } = this.#context;
    return parseCreateCall(strict ? strictSchemas : schemas, body, [
      ...(await this.#voiceFaults(body)),
      ...this.#toolFaults(body),
      ...(await screeningFaults(this.#context, body)),
    ]);
  }

  /**
   * The message of a batch whose message is an audio file, and the file.
   * @throws {Refusal} `audio_unsupported`, `server_busy`
   */
  async audioMessage(
    principal: Principal,
    input: Extract<CheckedCallInput, { type: "FIXED_AUDIO" }>,
    signal?: AbortSignal,
  ): Promise<CheckedMessage> {
    return this.messages.check(principal, input, undefined, signal);
  }

  /**
   * Creates the call of a batch's target. It occupies a separate slot under `single`, so that no request gets it as the
   * active call.
   * @param audio the audio file of a batch, as `audioMessage` checked it
   * @throws {Refusal} as {@link create}; `batch_state`: the target does not wait for this call
   */
  async createForBatch(principal: Principal, body: unknown, place: BatchPlace, audio?: CheckedAudio): Promise<Call> {
    const input = await this.check(body);
    const call = await this.#place(withCheckedLimits(principal), input, audio, undefined, {}, place);
    if (!call) throw new InternalError("a call of a batch has no receipt");
    return call;
  }

  /** The original response, without later changes to the call. */
  async #replay({ recordId, existing }: Receipt): Promise<(Call & Creation) | undefined> {
    const call = await this.#context.storage.calls.get(recordId);
    return (
      call && { ...asCreated(call), status: existing ?? "QUEUED", created: existing === undefined, replayed: true }
    );
  }

  /** Faults of a well-formed voice id: the voice does not exist here, or cannot speak the text. */
  async #voiceFaults(body: unknown): Promise<Fault[]> {
    const language = agentLanguageIn(body);
    // An audio agent speaks with its own voice.
    if (language !== undefined && this.#context.agent?.kind !== "audio") return this.#languageFaults(language);
    const requestedVoice = voiceIn(body);
    if (requestedVoice === undefined) return [];
    try {
      const { speech, limits } = this.#context;
      const voice = await speech.voice(requestedVoice.voiceId);
      const fault = await unspeakableTextFault(body, voice, speech, limits.textLength);
      return fault ? [fault] : [];
    } catch (error) {
      if (!(error instanceof VoiceUnavailable)) throw error;
      return [{ pointer: requestedVoice.pointer, code: "voice_unavailable", detail: error.message }];
    }
  }

  /** Faults of tools that this server does not have. */
  #toolFaults(body: unknown): Fault[] {
    const names = this.#context.agentTools.map(({ name }) => name);
    const unknownName = agentToolsIn(body).find((name) => !names.includes(name));
    if (unknownName === undefined) return [];
    const hint = names.length === 0 ? "this server has none" : `the tools of this server are ${names.join(", ")}`;
    return [
      { pointer: "/agent/tools", code: "value_invalid", detail: `there is no tool ${shown(unknownName)}; ${hint}` },
    ];
  }

  async #languageFaults(language: string): Promise<Fault[]> {
    const voices = await this.#context.speech.voices();
    if (voiceOf(voices, language) !== undefined) return [];
    const languages = [...new Set(voices.map((voice) => voice.language))].slice(0, MAX_NAMED_LANGUAGES).join(", ");
    const detail = `no voice here speaks ${language}; ${languages === "" ? "no speech engine is installed" : `there are voices for ${languages}`}`;
    return [{ pointer: "/agent/language", code: "voice_unavailable", detail }];
  }

  async #place(
    principal: Principal,
    input: CheckedCallInput,
    audio: UploadedAudio | CheckedAudio | undefined,
    receipt: NewReceipt | undefined,
    { strict = false, signal }: CreateOptions,
    place?: BatchPlace,
  ): Promise<(Call & Creation) | undefined> {
    const { storage, events, counters, telephony } = this.#context;
    const policy = place ? batchPolicy(this.#context.policy) : this.#context.policy;
    const { instanceId, target } = input;
    const { userId } = principal;
    if (!mayUseInstanceId(principal, instanceId))
      throw new Refusal("demo_token_restricted", "this demo token can call from its own instance only");
    assertTokenAllows(principal, target.phoneNumber);
    const instance = await ownedInstance(storage, principal, instanceId);
    const network = telephony.get(instance.provider);
    await assertCallable(this.#context, network, target.phoneNumber);
    for (const phoneNumber of transferNumbers(input)) {
      assertTokenAllows(principal, phoneNumber);
      await assertCallable(this.#context, network, phoneNumber);
    }
    const from = callerOf(input.from, instance.callerId);
    await assertCallerAllowed(this.#context, principal, network, from);
    assertSipAllowed(network, sipChoiceOf(input));

    // Checked before an active call is returned: a bad message fails even if the line is busy.
    const { message, file } = await this.messages.check(principal, input, audio, signal);
    const call = { ...this.#newCall(principal, input, message, from), ...place };
    if (strict && message.type === "DYNAMIC_AGENT") await this.#assertConductable(call, network);
    if (policy.kind === "single") {
      const [existing] = await storage.calls.active(instanceId);
      if (existing) return { ...existing, created: false, replayed: false };
    }

    const subject = { callId: call.id, instanceId, userId };
    const newEvents = [
      events.event({ event: "queued", data: { type: message.type, ...referenceData(call) } }, subject),
    ];
    for (const event of audioEvents(message)) newEvents.push(events.event(event, subject));
    const quota = quotaOf(this.#context, principal);
    let insertion: Insertion;
    try {
      insertion = await storage.calls.insert(
        call,
        file,
        policy,
        newEvents,
        receipt,
        quota,
        byteBudgetOf(this.#context.limits),
      );
    } catch (error) {
      // The call may have been stored, with only the result lost.
      this.#onQueued(call);
      throw error;
    }
    switch (insertion.kind) {
      case "limited":
        throw dailyLimitReached(this.#context, quota!, insertion.oldestAt);
      case "repeated":
        return undefined;
      case "over_budget":
        throw await storageQuota(this.#context, call, insertion.owner);
      case "instance_gone":
        throw instanceNotFound(instanceId);
      case "audio_gone":
        throw audioNotFound(storedAudioId(message) ?? "");
      case "target_taken":
        throw new Refusal("batch_state", `batch "${call.batchId}" does not wait for a call to ${call.targetPhone}`);
      case "full":
        throw new Refusal(
          "queue_full",
          `the queue of instance "${instanceId}" is full; wait until one of its calls ends`,
        );
      case "existing":
        return { ...insertion.call, created: false, replayed: false };
      case "created":
        counters.callCreated(message.type);
        events.publish(newEvents);
        this.#onQueued(insertion.call);
        return { ...insertion.call, created: true, replayed: false };
    }
  }

  /** Refuses a strict request for a call that would fail before it is dialled. @throws {Refusal} `agent_unavailable` */
  async #assertConductable(call: Call, network: Telephony | undefined): Promise<void> {
    const program = programOf(call);
    try {
      if (program.kind === "live") await program.check(this.#context, call, network);
      if (network) assertNotOneWay(this.#context, call, network);
    } catch (error) {
      if (!(error instanceof ProgramFailed)) throw error;
      throw invalidInput([{ pointer: "/agent", code: "agent_unavailable", detail: error.message }]);
    }
  }

  #newCall(principal: Principal, input: CheckedCallInput, message: Message, from: CallerId | undefined): Call {
    const sip = sipChoiceOf(input);
    const createdAt = this.#context.system.now();
    this.#context.processPauses.readClocks();
    return {
      id: this.#context.ids("call"),
      instanceId: input.instanceId,
      userId: principal.userId,
      tokenId: principal.tokenId ?? null,
      ...(principal.demoInstanceId !== undefined && { isDemo: true as const }),
      ...(principal.allowedPrefixes && { allowedPrefixes: principal.allowedPrefixes }),
      ...(principal.maxCallsPerDay !== undefined && { maxCallsPerDay: principal.maxCallsPerDay }),
      status: "QUEUED",
      targetPhone: input.target.phoneNumber,
      ...(from && { from }),
      ...(sip && { sip }),
      message,
      ...(input.reference !== undefined && { reference: input.reference }),
      ...(input.metadata !== undefined && { metadata: input.metadata }),
      outcome: null,
      mediaStatistics: null,
      recordedMs: input.recording ? 0 : null,
      createdAt,
      ...(input.expiresAfterMs !== undefined && { expiresAt: createdAt + input.expiresAfterMs }),
      ...UNDIALLED,
    };
  }
}

/** The numbers that the call may be transferred to. */
function transferNumbers(input: CheckedCallInput): readonly string[] {
  return input.type === "DYNAMIC_AGENT" ? (input.agent.transferTo ?? []) : [];
}

/** Facts that a call reports at its creation: which bytes of its audio file cannot be heard. */
function audioEvents(message: Message): readonly Fact[] {
  if (message.type !== "FIXED_AUDIO") return [];
  const ignoredEvents = (message.bytes?.ignored ?? []).map((data) => ({ event: "audio_ignored", data }) as const);
  return message.truncated
    ? [{ event: "audio_truncated", data: { played_ms: message.durationMs } }, ...ignoredEvents]
    : ignoredEvents;
}
