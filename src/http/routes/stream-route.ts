import { isActive } from "../../domain/call.ts";
import { Refusal } from "../../domain/refusal.ts";
import type { HttpDependencies } from "../dependencies.ts";
import type { Route } from "../route.ts";
import { callIdOf } from "./record-id.ts";

/** The stream of a call: refusals come before the upgrade, in the order of the interface's decisions. */
export function streamRoute({ calls, streamPreview }: Pick<HttpDependencies, "calls" | "streamPreview">): Route {
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
      if (!streamPreview)
        throw new Refusal(
          "stream_not_available",
          "live audio streams are a preview and switched off here; the server's operator switches them on with " +
            "streamPreview (RINGPORT_STREAM_PREVIEW=1)",
        );
      const call = await calls.get(exchange.caller, callIdOf(exchange));
      if (call.message.type !== "DYNAMIC_STREAM")
        throw new Refusal("not_a_stream_call", `the call is a ${call.message.type} call, not a DYNAMIC_STREAM call`);
      if (!isActive(call.status)) throw new Refusal("call_ended", `the call is ${call.status}`);
      if (!exchange.upgrading)
        throw new Refusal("upgrade_required", "connect with a WebSocket client; this request asked for no upgrade");
      throw new Refusal("stream_not_available", "live audio streams come in a later release");
    },
  };
}
