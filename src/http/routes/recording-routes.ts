import { isActive } from "../../domain/call.ts";
import { byteRange } from "../byte-range.ts";
import type { HttpDependencies } from "../dependencies.ts";
import { HttpRefusal } from "../problem.ts";
import { noContent } from "../reply.ts";
import type { Route } from "../route.ts";
import { callIdOf } from "./record-id.ts";

const path = { callId: "The id of the call, with the prefix call_." };

/** The recordings of the caller's calls. */
export function recordingRoutes({ calls }: Pick<HttpDependencies, "calls">): Route[] {
  return [
    {
      method: "GET",
      path: "/v1/calls/:callId/recording",
      operation: {
        id: "getRecording",
        tag: "Recordings",
        summary: "Hear the recording of a call",
        description:
          "A WAV file of two channels, 16-bit PCM: what the callee heard on the left, what the callee said on the right. " +
          "While the call lasts, what there is so far. One range of bytes may be asked for once the call is over.",
        bearer: true,
        path,
        headers: ["Range"],
        answers: {
          200: { description: "The recording.", media: ["audio/wav"], headers: ["Accept-Ranges"] },
          206: { description: "A part of it.", media: ["audio/wav"], headers: ["Content-Range", "Accept-Ranges"] },
        },
        problems: ["call_not_found", "recording_not_found", "range_not_satisfiable"],
      },
      async run(exchange) {
        const callId = callIdOf(exchange);
        const growing = isActive((await calls.get(exchange.caller, callId)).status);
        const { size, bytes } = await calls.recording(exchange.caller, callId);
        const headers: Record<string, string> = {
          "content-type": "audio/wav",
          "content-disposition": `attachment; filename="${callId}.wav"`,
          // Voices of people: nobody on the way keeps them.
          "cache-control": "private, no-store",
          "accept-ranges": growing ? "none" : "bytes",
        };
        // A client that only wants a part of what it knows must get the whole: there is no validator to compare.
        const conditional = growing || exchange.header("if-range") !== null;
        const range = conditional ? undefined : byteRange(exchange.header("range"), size);
        if (range === "unsatisfiable")
          throw new HttpRefusal("range_not_satisfiable", `the recording has ${size} bytes`, {
            headers: { "content-range": `bytes */${size}` },
          });
        const { from, to } = range ?? { from: 0, to: size };
        headers["content-length"] = String(to - from);
        if (range) headers["content-range"] = `bytes ${from}-${to - 1}/${size}`;
        return { status: range ? 206 : 200, headers, body: bytes(from, to) };
      },
    },
    {
      method: "DELETE",
      path: "/v1/calls/:callId/recording",
      operation: {
        id: "deleteRecording",
        tag: "Recordings",
        summary: "Delete the recording of a call",
        description: "For good. A call that still goes on does so without being recorded.",
        bearer: true,
        path,
        answers: { 204: { description: "The recording is deleted." } },
        problems: ["call_not_found", "recording_not_found"],
      },
      async run(exchange) {
        await calls.eraseRecording(exchange.caller, callIdOf(exchange));
        return noContent();
      },
    },
  ];
}
