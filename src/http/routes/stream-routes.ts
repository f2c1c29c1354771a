import { streamsOffRefusal } from "../../application/call-audio/streams/stream-refusals.ts";
import type { HttpDependencies } from "../dependencies.ts";
import { jsonReply } from "../replies/reply.ts";
import { choiceParameter, readQuery } from "../requests/query-parameter.ts";
import type { HttpRoute } from "../route.ts";
import type { Dialect, DialectOutput } from "../stream/dialect.ts";
import { NativeDialect } from "../stream/native-dialect.ts";
import { handshakeRefusal, STREAM_QUERY, streamFormat } from "../stream/stream-query.ts";
import { streamSocket } from "../stream/stream-socket.ts";
import type { StreamTickets } from "../stream/stream-tickets.ts";
import type { TokenWatches } from "../stream/token-watches.ts";
import { TwilioDialect, twilioParameters, twilioStreamSid } from "../stream/twilio-dialect.ts";
import { timestamp } from "../timestamp.ts";
import { callIdOf } from "./record-id.ts";

const TICKET_QUERY = {
  purpose: choiceParameter("for", "Purpose of the ticket. Default: `stream`.", ["stream", "listen"]),
};
const path = { callId: "The id of a DYNAMIC_STREAM call." };

/**
 * The stream of a call, and tickets for it. Requests are refused before the upgrade, in the usual order of the
 * interface's checks. The query is checked after the switch that enables streams, and before the call is read.
 */
export function streamRoutes(
  deps: HttpDependencies,
  tickets: StreamTickets,
  server: () => string,
  watches: TokenWatches,
): HttpRoute[] {
  const { calls, system, log, mp3Stream } = deps;
  const requireStreams = (): void => {
    if (!deps.streamPreview) throw streamsOffRefusal();
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
        responses: { 101: { description: "Switching to WebSocket." } },
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
        if (!context.canUpgrade) {
          reservation.release();
          throw handshakeRefusal();
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
        const nativeDialect = (output: DialectOutput): Dialect =>
          new NativeDialect(output, { ...format, mp3Stream, now: () => system.now() });
        context.socketHandlers = streamSocket({
          reservation,
          dialect: query.protocol === "twilio" ? twilio : nativeDialect,
          watchToken: (onRevoked) => watches.watch(context.token, context.caller, onRevoked),
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
        responses: { 201: { description: "The ticket.", schema: "StreamTicket" } },
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
        return jsonReply(201, { ticket, expires_at: timestamp(expiresAt), url }, { "cache-control": "no-store" });
      },
    },
  ];
}

/** The description of a stream's messages in `/openapi.json`; OpenAPI itself cannot express them. */
const STREAM_DESCRIPTION = `A preview. It returns 501 until the server's operator switches it on (\`RINGPORT_STREAM_PREVIEW=1\`).

**Binary messages from the client** are audio for the callee: PCM (\`pcm_s16le\`, mono), mu-law, A-law or MP3, cut anywhere and sent as
fast as you like; a WAV file is decoded by its header. It is played in real time; audio that arrives before pickup is queued until then.

**Text messages from the client** are JSON:

| message | |
|---|---|
| \`{"type":"mark","name":"…"}\` | requests the event \`mark\` once everything sent before it has been played; 1 to 256 characters |
| \`{"type":"clear"}\` | drops all queued audio and marks, within 200 ms |
| \`{"type":"progress"}\` | requests the server's progress; the reply, in order, is \`StreamProgress\` |
| \`{"type":"dtmf","digits":"…"}\` | presses keys: 1 to 64 of 0-9 * # A-D |
| \`{"type":"hangup"}\` | plays the queued audio, then ends the call (to end it at once, send \`clear\` first) |

**Text messages from the server** are \`StreamCallEvent\`, \`StreamTranscript\`, \`StreamProgress\` and, for a message that it does not understand,
\`StreamError\`. A connection begins with the events so far, and final transcripts that a broken connection may have lost. \`buffer_high\`: more than 30 s are queued: stop sending; \`buffer_low\`: continue.
**Binary messages from the server** are sent with \`audio=callee\`, from pickup on.
If a client reads too slowly, the oldest audio is dropped; the event \`audio_dropped\` reports it.

A client that reconnects requests \`progress\`: its \`messages\` counts the messages processed from clients of this call so far, audio
and text, without \`progress\` itself; the client sends the rest again.

A client that closes with 1000, or without a code, ends the call once the queued audio has been played. After any other close the
call waits 10 s for it to reconnect, counted from pickup at the earliest.

| close code | |
|---|---|
| 1000 | the call completed |
| 1001 | the server is stopping, or the connection was opened too late: connect again |
| 1003 | the bytes are not valid audio; the reason names what they are |
| 1009 | a message is larger than 1 MiB |
| 1011 | an unexpected error of the server |
| 4001 | the token was revoked or has expired |
| 4008 | more than 60 s of audio were queued, and 8 MiB more were waiting |
| 4009 | the client does not read: more than 1 MiB of text was queued |
| 4010 | the call failed |`;
