import { Refusal } from "../../domain/refusal.ts";
import type { HttpDependencies } from "../dependencies.ts";
import type { Route } from "../route.ts";
import { OwnDialect } from "../stream/own-dialect.ts";
import { streamSocket } from "../stream/stream-socket.ts";

/** The stream of a call: refusals come before the upgrade, in the order of the interface's decisions. */
export function streamRoute({ calls }: Pick<HttpDependencies, "calls">): Route {
  return {
    method: "GET",
    path: "/v1/calls/:callId/stream",
    operation: {
      id: "streamCall",
      tag: "Calls",
      summary: "Stream the audio of a DYNAMIC_STREAM call over a WebSocket",
      description: "A preview: it answers 501 until the live stream is released.",
      bearer: true,
      path: { callId: "The id of a DYNAMIC_STREAM call." },
      answers: { 101: { description: "Switching to WebSocket." } },
      problems: ["stream_not_available", "call_not_found", "not_a_stream_call", "call_ended", "upgrade_required"],
    },
    async run(exchange) {
      const seat = await calls.stream(exchange.caller, exchange.params.callId ?? "");
      if (!exchange.upgrading) {
        seat.release();
        throw new Refusal("upgrade_required", "connect with a WebSocket client; this request asked for no upgrade");
      }
      exchange.accepted = streamSocket(
        seat,
        (output) => new OwnDialect(output, /[?&]audio=callee/.test(exchange.search) ? 16_000 : undefined),
      );
      return { status: 101, headers: {} };
    },
  };
}
