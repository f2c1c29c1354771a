import type { HttpDependencies } from "../dependencies.ts";
import type { HttpRoute } from "../route.ts";
import { listenSocket } from "../sockets/listen-socket.ts";
import { handshakeRefusal, TICKET } from "../stream/stream-query.ts";
import type { TokenWatches } from "../stream/token-watches.ts";
import { callIdOf } from "./record-id.ts";

/** The route for listening to a live call. Requests are refused before the upgrade. */
export function listenRoutes({ calls, system, log }: HttpDependencies, watches: TokenWatches): HttpRoute[] {
  return [
    {
      method: "GET",
      path: "/v1/calls/:callId/listen",
      operation: {
        id: "listenToCall",
        tag: "Calls",
        summary: "Listen to both sides of a live call over a WebSocket",
        description:
          "For any type of call, up to 4 listeners, each recorded in the call's timeline. Text: `ListenWaiting`, `ListenStarted`, " +
          "`ListenGap`, `ListenEnded`; binary: two-channel PCM (`pcm_s16le`). Close codes as for a stream.",
        access: "call",
        cost: ["sockets"],
        path: { callId: "The id of an active call." },
        query: { ticket: TICKET },
        responses: { 101: { description: "Switching to WebSocket." } },
        problems: ["call_not_found", "too_many_listeners", "call_ended", "upgrade_required", "server_busy"],
      },
      async run(context) {
        const callId = callIdOf(context);
        const listening = await calls.listen(context.caller, callId);
        if (!context.canUpgrade) {
          listening.close();
          throw handshakeRefusal();
        }
        const { caller, token } = context;
        context.socketHandlers = listenSocket({
          listening,
          watchToken: (onRevoked) => watches.watch(token, caller, onRevoked),
          system,
          log,
          fields: { request_id: context.requestId, call_id: callId },
        });
        return { status: 101, headers: {} };
      },
    },
  ];
}
