import { streamsOff } from "../../application/call-audio/streams/stream-refusals.ts";
import type { HttpDependencies } from "../dependencies.ts";
import { choiceParameter, readQuery } from "../query-parameter.ts";
import { json } from "../reply.ts";
import type { Route } from "../route.ts";
import type { Dialect, DialectOutput } from "../stream/dialect.ts";
import { NativeDialect } from "../stream/native-dialect.ts";
import { STREAM_DESCRIPTION } from "../stream/stream-description.ts";
import { noHandshake, STREAM_QUERY, streamFormat } from "../stream/stream-query.ts";
import { streamSocket } from "../stream/stream-socket.ts";
import type { StreamTickets } from "../stream/stream-tickets.ts";
import type { TokenWatches } from "../stream/token-watches.ts";
import { TwilioDialect, twilioParameters, twilioStreamSid } from "../stream/twilio-dialect.ts";
import { timestamp } from "../views.ts";
import { callIdOf } from "./record-id.ts";

const TICKET_QUERY = {
  purpose: choiceParameter("for", "What the ticket is for. Default: `stream`.", ["stream", "listen"]),
};
const path = { callId: "The id of a DYNAMIC_STREAM call." };

/**
 * The stream of a call, and tickets for it. Refusals precede the upgrade, in the order of the interface's decisions. The
 * query is checked after the switch, without which no query would work, and before the call is read.
 */
export function streamRoutes(
  deps: HttpDependencies,
  tickets: StreamTickets,
  server: () => string,
  watches: TokenWatches,
): Route[] {
  const { calls, system, log, mp3Stream } = deps;
  const requireStreams = (): void => {
    if (!deps.streamPreview) throw streamsOff();
  };
  return [
    {
      method: "GET",
      path: "/v1/calls/:callId/stream",
      operation: {
        id: "streamCall",
        tag: "Calls",
        summary: "Stream the audio of a DYNAMIC_STREAM call over a WebSocket",
        description: STREAM_DESCRIPTION,
        access: "call",
        cost: ["sockets"],
        path,
        query: STREAM_QUERY,
        answers: { 101: { description: "Switching to WebSocket." } },
        problems: [
          "stream_not_available",
          "invalid_request",
          "call_not_found",
          "not_a_stream_call",
          "stream_already_attached",
          "call_ended",
          "upgrade_required",
          "server_busy",
        ],
      },
      async run(context) {
        requireStreams();
        const query = readQuery(context.search, STREAM_QUERY);
        const format = streamFormat(query, mp3Stream !== undefined);
        const callId = callIdOf(context);
        const reservation = await calls.stream(context.caller, callId);
        if (!context.upgrading) {
          reservation.release();
          throw noHandshake();
        }
        const fields = { request_id: context.requestId, call_id: callId };
        const twilio = (output: DialectOutput): Dialect =>
          new TwilioDialect(output, {
            streamSid: twilioStreamSid((bytes) => system.random(bytes)),
            callSid: callId,
            accountSid: context.caller.userId,
            customParameters: twilioParameters(context.search),
            warn: (detail) => log.warn(fields, detail),
          });
        const native = (output: DialectOutput): Dialect =>
          new NativeDialect(output, { ...format, mp3Stream, now: () => system.now() });
        context.accepted = streamSocket({
          reservation,
          dialect: query.protocol === "twilio" ? twilio : native,
          watchToken: (revoked) => watches.watch(context.token, context.caller, revoked),
          log,
          fields,
        });
        return { status: 101, headers: {} };
      },
    },
    {
      method: "POST",
      path: "/v1/calls/:callId/stream-ticket",
      operation: {
        id: "createStreamTicket",
        tag: "Calls",
        summary: "Get a ticket for the stream of a DYNAMIC_STREAM call, or for listening to a call",
        description:
          "For browsers, which cannot send a header with a WebSocket: the ticket replaces the token on one WebSocket of this call, " +
          "once, within 60 s. The connection ends with 4001 when the token itself is revoked.",
        access: "call",
        cost: ["tickets"],
        path,
        query: TICKET_QUERY,
        answers: { 201: { description: "The ticket.", schema: "StreamTicket" } },
        problems: [
          "stream_not_available",
          "invalid_request",
          "call_not_found",
          "not_a_stream_call",
          "call_ended",
          "server_busy",
        ],
      },
      async run(context) {
        const { purpose = "stream" } = readQuery(context.search, TICKET_QUERY);
        if (purpose === "stream") requireStreams();
        const callId = callIdOf(context);
        const { userId } = await calls[purpose === "stream" ? "streamable" : "get"](context.caller, callId);
        const { ticket, expiresAt } = await tickets.issue({
          path: `/v1/calls/${callId}/${purpose}`,
          userId,
          credential: context.token ?? context.caller,
        });
        const url = `${server().replace(/^http/, "ws")}/v1/calls/${callId}/${purpose}?ticket=${ticket}`;
        return json(201, { ticket, expires_at: timestamp(expiresAt), url }, { "cache-control": "no-store" });
      },
    },
  ];
}
