/** What `/openapi.json` says about the messages of a stream, which OpenAPI itself has no place for. */
export const STREAM_DESCRIPTION = `A preview, which the server's operator switches on (\`RINGPORT_STREAM_PREVIEW=1\`); until then it answers 501.

**Binary messages of the client** are audio for the callee: PCM (\`pcm_s16le\`, mono), mu-law or MP3, cut anywhere and sent as
fast as you like. It is played in real time; what comes before the answer waits for it.

**Text messages of the client** are JSON:

| message | |
|---|---|
| \`{"type":"mark","name":"…"}\` | asks for the event \`mark\` when everything sent before it was played; 1 to 256 characters |
| \`{"type":"clear"}\` | drops what waits, marks included |
| \`{"type":"progress"}\` | asks how far the server is: answered, in its turn, with \`StreamProgress\` |
| \`{"type":"dtmf","digits":"…"}\` | presses keys: 1 to 64 of 0-9 * # A-D |
| \`{"type":"hangup"}\` | plays what waits, then ends the call (at once: \`clear\` before it) |

**Text messages of the server** are \`StreamCallEvent\`, \`StreamTranscript\`, \`StreamProgress\` and, for a message that it did not understand,
\`StreamError\`. Events so far come first, and final transcripts that a broken connection may have lost. \`buffer_high\`: more than 30 s wait, send no more; \`buffer_low\`: go on.
**Binary messages of the server** come with \`audio=callee\`, from the answer on.
A client that reads too slowly loses the oldest audio and is told so by the event \`audio_dropped\`.

A client that comes back after a break asks for \`progress\`: its \`messages\` counts what was taken from clients of this call so
far, audio and text, \`progress\` itself not counted; the rest is to be sent again.

A client that closes with 1000, or without a code, ends the call once what waits was played. After any other end the call waits
10 s for it to come back, from the answer on.

| close code | |
|---|---|
| 1000 | the call is over, and completed |
| 1001 | the server stops, or the connection was opened too late: connect again |
| 1003 | the bytes are not the audio that they should be |
| 1009 | a message of more than 1 MiB |
| 1011 | the server has made a mistake |
| 4001 | the token was revoked or has expired |
| 4008 | more than 60 s of audio were waiting |
| 4009 | the client does not read: more than 1 MiB of text was waiting |
| 4010 | the call has failed |`;
