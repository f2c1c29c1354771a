import { sha256OfBytes } from "../../../base/sha256.ts";
import type { Principal } from "../../../domain/access/principal.ts";
import { type AudioPlace, decodeFile, NOT_BASE64, UploadedAudio } from "../../../domain/calls/audio-input.ts";
import type { Message } from "../../../domain/calls/call.ts";
import type { CheckedCallInput } from "../../../domain/calls/call-input.ts";
import { storedMessage, storedOptions } from "../../../domain/calls/call-type-input.ts";
import type { CheckedFile } from "../../../domain/calls/stored-audio.ts";
import { invalidInput, Refusal } from "../../../domain/refusal.ts";
import { AudioUnsupported } from "../../../ports/audio-decoder.ts";
import { usableAudio } from "../../audio-library.ts";
import { FairTurns } from "../../call-audio/speech/fair-turns.ts";
import type { Context } from "../../context.ts";
import { PerUser } from "../../user-limits/per-user.ts";
import { MAX_AT_ONCE } from "../../user-limits/user-limits.ts";

type MessageChecksContext = Pick<Context, "decoder" | "limits" | "purgeClock" | "storage" | "system">;

/** Maximum number of audio files checked at the same time. */
const MAX_CONCURRENT_INSPECTIONS = 2;

/** The signal of a caller that never stops waiting. */
const NEVER_ABORTED: AbortSignal = new AbortController().signal;

/** The message of a call, and its audio file. */
export interface CheckedMessage {
  readonly message: Message;
  readonly file?: Uint8Array | undefined;
}

/** An audio file that was checked, and its message. */
export interface CheckedAudio extends CheckedMessage {
  readonly message: Extract<Message, { type: "FIXED_AUDIO" }>;
}

/** Turns the input of a call into its stored message; audio files are checked in fair turns. */
export class MessageChecks {
  readonly #context: MessageChecksContext;
  readonly #inspections = new PerUser(MAX_AT_ONCE.inspections);
  readonly #inspectionTurns: FairTurns;

  constructor(context: MessageChecksContext) {
    this.#context = context;
    this.#inspectionTurns = new FairTurns(context.system, MAX_CONCURRENT_INSPECTIONS);
  }

  /**
   * The message to store, and its file.
   * @param audio the audio file of a `FIXED_AUDIO` call, or one that has already been checked
   * @throws {Refusal} `audio_unsupported`, `server_busy`
   */
  async check(
    principal: Principal,
    input: CheckedCallInput,
    audio: UploadedAudio | CheckedAudio | undefined,
    signal: AbortSignal = NEVER_ABORTED,
  ): Promise<CheckedMessage> {
    const { extension } = input.target;
    const afterAnswer = extension === undefined ? {} : { extension };
    if (input.type !== "FIXED_AUDIO") return { message: { ...storedMessage(input), ...afterAnswer } };
    const { message, file } = await this.#audioMessage(principal, input, audio, signal);
    return { message: { ...message, ...storedOptions(input), ...afterAnswer }, file };
  }

  /** The message that plays a stored audio file. @throws {Refusal} `audio_not_found`, `demo_token_restricted` */
  async storedAudio(principal: Principal, audioId: string): Promise<CheckedAudio> {
    const { file, sha256 } = await usableAudio(this.#context, principal, audioId);
    return { message: { type: "FIXED_AUDIO", ...file, sha256, audioId } };
  }

  async #audioMessage(
    principal: Principal,
    { audio: place, instanceId }: Extract<CheckedCallInput, { type: "FIXED_AUDIO" }>,
    audio: UploadedAudio | CheckedAudio | undefined,
    signal: AbortSignal,
  ): Promise<CheckedAudio> {
    if (audio && !(audio instanceof UploadedAudio)) return audio;
    if ("audioId" in place) return this.storedAudio(principal, place.audioId);
    const { bytes, sha256 } = audio ?? (await decodedAudio(place));
    const file = await this.checkFile(principal, instanceId, bytes, signal);
    return { message: { type: "FIXED_AUDIO", ...file, sha256 }, file: bytes };
  }

  /**
   * Checks an audio file in a fair turn.
   * @param instanceId the instance that will play it, or the user
   * @throws {Refusal} `audio_unsupported`, `server_busy`
   */
  async checkFile(
    { userId }: Principal,
    instanceId: string,
    file: Uint8Array,
    signal: AbortSignal = NEVER_ABORTED,
  ): Promise<CheckedFile> {
    const { decoder, limits } = this.#context;
    const release = this.#inspections.take(userId);
    if (!release)
      throw new Refusal("server_busy", "too many of your audio files are being checked at the moment; try again");
    try {
      const endTurn = await this.#turn(userId, instanceId, signal);
      try {
        const { format, durationMs, truncated, bytes } = await decoder.inspect(file, { maxDurationMs: limits.audioMs });
        return { format, durationMs, truncated, ...(bytes && { bytes }) };
      } finally {
        endTurn();
      }
    } catch (error) {
      if (!(error instanceof AudioUnsupported)) throw error;
      throw audioRefusal(error.message);
    } finally {
      release();
    }
  }

  /** A turn for one check. The signal withdraws a waiting check; a check that has begun runs to its end. */
  #turn(userId: string, instanceId: string, signal: AbortSignal): Promise<() => void> {
    const waitController = new AbortController();
    const withdraw = () => waitController.abort(signal.reason);
    if (signal.aborted) withdraw();
    signal.addEventListener("abort", withdraw);
    const begin = () => signal.removeEventListener("abort", withdraw);
    return this.#inspectionTurns.take(
      { userId, instanceId, isPlaying: false, aheadMs: 0, isSteady: true, begin },
      waitController.signal,
    );
  }
}

/** The file, decoded already if the body was parsed elsewhere. @throws {Refusal} `audio_unsupported` */
export async function decodedAudio({ audioBase64 }: AudioPlace): Promise<UploadedAudio> {
  if (typeof audioBase64 !== "string") return audioBase64;
  const bytes = decodeFile(audioBase64);
  if (!bytes) throw audioRefusal(NOT_BASE64);
  return new UploadedAudio(bytes, await sha256OfBytes(bytes));
}

function audioRefusal(detail: string): Refusal {
  return invalidInput([{ pointer: "/audio/audioBase64", code: "audio_unsupported", detail }]);
}
