import { type Call, isActive } from "../../../domain/calls/call.ts";
import { Refusal } from "../../../domain/refusal.ts";
import type { Storage } from "../../../ports/storage.ts";
import { LiveStream, type LiveStreamParts } from "./live-stream.ts";
import { ReservableStream } from "./reservable-stream.ts";
import type { StreamReservation } from "./stream-client.ts";
import { checkStreamable, streamEndedRefusal } from "./stream-refusals.ts";

/**
 * The live streams of this process, by call. A stream exists from its first use, by session or client, to the end of
 * the call.
 */
export class Streams {
  readonly #byCall = new Map<string, ReservableStream>();
  /** Ends a call whose client has hung up before the call had a session; set by `Calls`. */
  terminate: (callId: string) => void = () => {};

  /** Number of clients that are attached, or expected. */
  get clientCount(): number {
    let count = 0;
    for (const stream of this.#byCall.values()) if (stream.isReserved) count++;
    return count;
  }

  /** Number of streams. */
  get size(): number {
    return this.#byCall.size;
  }

  /** The stream of a call, if there is one. */
  find(callId: string): LiveStream | undefined {
    return this.#byCall.get(callId)?.stream;
  }

  /** The stream of an active call; created if there is none. */
  streamOf(context: LiveStreamParts, call: Pick<Call, "id">): LiveStream {
    return this.#createReservable(context, call).stream;
  }

  /**
   * Reserves the stream of a call for one client.
   * @throws {Refusal} `not_a_stream_call`, `call_ended`, `stream_already_attached`, `stopping`
   */
  async reserve(context: LiveStreamParts & { readonly storage: Storage }, call: Call): Promise<StreamReservation> {
    checkStreamable(call);
    if (context.events.isClosed) throw new Refusal("stopping", "the server is stopping");
    const reservable = this.#createReservable(context, call);
    const { stream } = reservable;
    const { streamEnd } = stream;
    if (streamEnd !== undefined) throw streamEndedRefusal(streamEnd === "completed" ? "COMPLETED" : "FAILED");
    if (stream.hasHungUp)
      throw new Refusal(
        "call_ended",
        "the stream's client has hung up; the call ends once its queued audio has been played",
      );
    const reservation = reservable.reserve();
    if (!reservation) throw new Refusal("stream_already_attached", "a client is already attached to this stream");
    // The call may have ended after it was read and before the stream followed it.
    const current = await context.storage.calls.get(call.id).catch((error: unknown) => {
      reservation.release();
      throw error;
    });
    if (current && isActive(current.status)) return reservation;
    reservation.release();
    stream.discard();
    throw streamEndedRefusal(current?.status ?? "FAILED");
  }

  #createReservable(context: LiveStreamParts, { id }: Pick<Call, "id">): ReservableStream {
    const currentStream = this.#byCall.get(id);
    if (currentStream) return currentStream;
    const stream = new LiveStream(context, id, {
      onEnd: () => {
        if (this.#byCall.get(id) !== reservable) return;
        this.#byCall.delete(id);
        reservable.stop();
      },
      terminate: () => this.terminate(id),
    });
    const reservable = new ReservableStream(stream, context.system, context.timings.streamAttachMs);
    this.#byCall.set(id, reservable);
    return reservable;
  }
}
