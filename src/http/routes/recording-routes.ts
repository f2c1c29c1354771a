import { isActive } from "../../domain/calls/call.ts";
import type { HttpDependencies } from "../dependencies.ts";
import { entityTag } from "../replies/entity-tag.ts";
import { fileReply } from "../replies/file-reply.ts";
import { noContentAfter } from "../replies/reply.ts";
import { type HttpRoute, NOT_MODIFIED } from "../route.ts";
import { callIdOf } from "./record-id.ts";

const path = { callId: "The id of the call, with the prefix call_." };

/** The routes for the recordings of the user's calls. */
export function recordingRoutes({ calls }: Pick<HttpDependencies, "calls">): HttpRoute[] {
  return [
    {
      method: "GET",
      path: "/v1/calls/:callId/recording",
      operation: {
        id: "getRecording",
        tag: "Recordings",
        summary: "Get the recording of a call",
        description:
          "A WAV file of two channels, 16-bit PCM: what the callee heard on the left, the callee's voice on the right. During " +
          "the call, the recording so far. Once the call has ended, one range of bytes may be requested.",
        access: "read",
        cost: ["turns"],
        path,
        headers: ["Range", "If-Range", "If-None-Match"],
        responses: {
          200: {
            description: "The recording.",
            media: ["audio/wav"],
            headers: ["Accept-Ranges", "Content-Disposition", "ETag"],
          },
          206: {
            description: "A part of it.",
            media: ["audio/wav"],
            headers: ["Content-Range", "Accept-Ranges", "Content-Disposition", "ETag"],
          },
          304: NOT_MODIFIED,
        },
        problems: ["call_not_found", "recording_not_found", "range_not_satisfiable"],
      },
      async run(context) {
        const callId = callIdOf(context);
        const isGrowing = isActive((await calls.get(context.caller, callId)).status);
        const file = await calls.recording(context.caller, callId);
        // The recording of a finished call never changes.
        const etag = isGrowing ? undefined : entityTag(`${callId} ${file.size}`);
        return fileReply(context, file, etag, {
          "content-type": "audio/wav",
          "content-disposition": `attachment; filename="${callId}.wav"`,
          // Recordings are private: no cache may keep them.
          "cache-control": "private, no-store",
        });
      },
    },
    {
      method: "DELETE",
      path: "/v1/calls/:callId/recording",
      operation: {
        id: "deleteRecording",
        tag: "Recordings",
        summary: "Delete the recording of a call",
        description: "Deletes it permanently. A call that is still active continues without being recorded.",
        access: "admin",
        cost: "small",
        path,
        responses: { 204: { description: "The recording is deleted." } },
        problems: ["call_not_found", "recording_not_found"],
      },
      run: async (context) => noContentAfter(calls.eraseRecording(context.caller, callIdOf(context))),
    },
  ];
}
