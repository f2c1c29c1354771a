import { type Call, isActive } from "../../../domain/call.ts";
import { Refusal } from "../../../domain/refusal.ts";
import type { Context } from "../../context.ts";
import { LiveStream } from "./live-stream.ts";
import { ReservableStream } from "./reservable-stream.ts";
import type { StreamReservation } from "./stream-client.ts";
import { checkStreamable, streamOver } from "./stream-refusals.ts";

/** The live streams of this process, by call. One exists from the first that needs it, session or client, to the end. */
export class Streams {
  readonly #byCall = new Map<string, ReservableStream>();
  /** Ends a call whose client has hung up before a session carried it; set by whoever can. */
  terminate: (callId: string) => void = () => {};

  /** How many clients are attached, or about to be. */
  get attached(): number {
    let attached = 0;
    for (const place of this.#byCall.values()) if (place.taken) attached++;
    return attached;
  }

  /** How many streams there are. */
  get size(): number {
    return this.#byCall.size;
  }

  /** The stream of a call, where there is one. */
  find(callId: string): LiveStream | undefined {
    return this.#byCall.get(callId)?.stream;
  }

  /** The stream of a call that is not over. */
  of(context: Context, call: Pick<Call, "id">): LiveStream {
    return this.#placeOf(context, call).stream;
  }

  /**
   * Takes the one place at the stream of a call.
   * @throws {Refusal} `not_a_stream_call`, `call_ended`, `stream_already_attached`, `stopping`
   */
  async seat(context: Context, call: Call): Promise<StreamReservation> {
    checkStreamable(call);
    if (context.events.closed) throw new Refusal("stopping", "the server is stopping");
    const place = this.#placeOf(context, call);
    const { over } = place.stream;
    if (over !== undefined) throw streamOver(over === "completed" ? "COMPLETED" : "FAILED");
    if (place.stream.closing)
      throw new Refusal("call_ended", "the stream's client has hung up; what it had sent is played to its end");
    const seat = place.take();
    if (!seat) throw new Refusal("stream_already_attached", "a client is attached to this stream already");
    // It may have ended since it was read, before anybody listened.
    const now = await context.storage.calls.get(call.id).catch((error: unknown) => {
      seat.release();
      throw error;
    });
    if (now && isActive(now.status)) return seat;
    seat.release();
    place.stream.discard();
    throw streamOver(now?.status ?? "FAILED");
  }

  #placeOf(context: Context, { id }: Pick<Call, "id">): ReservableStream {
    const known = this.#byCall.get(id);
    if (known) return known;
    const stream = new LiveStream(context, id, {
      gone: () => {
        if (this.#byCall.get(id) !== place) return;
        this.#byCall.delete(id);
        place.stop();
      },
      terminate: () => this.terminate(id),
    });
    const place = new ReservableStream(stream, context.system, context.timings.streamAttachMs);
    this.#byCall.set(id, place);
    return place;
  }
}
