import { Refusal } from "../../domain/refusal.ts";
import type { HttpDependencies } from "../dependencies.ts";
import type { Route } from "../route.ts";
import { TICKET } from "../stream/stream-query.ts";
import type { TokenWatches } from "../stream/token-watches.ts";
import { callIdOf } from "./record-id.ts";

/** Listening to a live call. Refusals precede the upgrade. */
export function listenRoutes({ calls, system, log }: HttpDependencies, watches: TokenWatches): Route[] {
  return [
    {
      method: "GET",
      path: "/v1/calls/:callId/listen",
      operation: {
        id: "listenToCall",
        tag: "Calls",
        summary: "Listen to both sides of a live call over a WebSocket",
        description:
          "For any type of call. Text messages of the server are `ListenWaiting` (before pickup), `ListenStarted`, `ListenGap` and " +
          "`ListenEnded`; binary messages are the audio since pickup, 16-bit little-endian PCM with two interleaved channels: the " +
          "callee, and what was played to them. A client that reads too slowly loses the oldest audio, and learns how much. A " +
          "call has at most 4 listeners, and its timeline notes them. The client sends nothing. Close codes: 1000 the call is " +
          "over, 1001 the server is stopping, 1011 the server has made a mistake, 4001 the token was revoked or has expired, 4009 " +
          "the client has read nothing for 30 s.",
        access: "call",
        path: { callId: "The id of a call that is not over." },
        query: { ticket: TICKET },
        answers: { 101: { description: "Switching to WebSocket." } },
        problems: ["call_not_found", "too_many_listeners", "call_ended", "upgrade_required"],
      },
      async run(context) {
        const callId = callIdOf(context);
        const listening = await calls.listen(context.caller, callId);
        if (!context.upgrading) {
          listening.close();
          throw new Refusal(
            "upgrade_required",
            "the request is not a WebSocket handshake: connect with a WebSocket client",
          );
        }
        const { caller, token } = context;
        const { listenSocket } = await import("../listen/listen-socket.ts");
        context.accepted = listenSocket({
          listening,
          watchToken: (revoked) => watches.watch(token, caller, revoked),
          system,
          log,
          fields: { request_id: context.requestId, call_id: callId },
        });
        return { status: 101, headers: {} };
      },
    },
  ];
}
