import { type Call, isActive } from "../../domain/call.ts";
import { Refusal } from "../../domain/refusal.ts";
import type { Context } from "../context.ts";
import { LiveStream } from "./live-stream.ts";
import type { StreamSeat } from "./stream-client.ts";
import { checkStreamable, streamOver } from "./stream-refusals.ts";

/** The live streams of this process, by call. One exists from the first that needs it, session or client, to the end. */
export class Streams {
  readonly #byCall = new Map<string, LiveStream>();

  /** How many clients are attached, or about to be. */
  get attached(): number {
    let attached = 0;
    for (const stream of this.#byCall.values()) if (stream.taken) attached++;
    return attached;
  }

  /** The stream of a call, where there is one. */
  find(callId: string): LiveStream | undefined {
    return this.#byCall.get(callId);
  }

  /** The stream of a call that is not over. */
  of(context: Context, call: Pick<Call, "id">): LiveStream {
    const known = this.#byCall.get(call.id);
    if (known) return known;
    const stream = new LiveStream(context, call, () => this.#byCall.delete(call.id));
    this.#byCall.set(call.id, stream);
    return stream;
  }

  /**
   * Takes the one place at the stream of a call.
   * @throws {Refusal} `not_a_stream_call`, `call_ended`, `stream_already_attached`
   */
  async seat(context: Context, call: Call): Promise<StreamSeat> {
    checkStreamable(call);
    const stream = this.of(context, call);
    const seat = stream.seat();
    if (!seat) throw new Refusal("stream_already_attached", "a client is attached to this stream already");
    // It may have ended since it was read, before anybody listened.
    const now = await context.storage.calls.get(call.id).catch((error: unknown) => {
      seat.release();
      throw error;
    });
    if (now && isActive(now.status)) return seat;
    seat.release();
    this.#byCall.delete(call.id);
    throw streamOver(now?.status ?? "FAILED");
  }
}
