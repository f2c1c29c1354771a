/** The description of a stream's messages in `/openapi.json`; OpenAPI itself cannot express them. */
export const STREAM_DESCRIPTION = `A preview. It returns 501 until the server's operator switches it on (\`RINGPORT_STREAM_PREVIEW=1\`).

**Binary messages of the client** are audio for the callee: PCM (\`pcm_s16le\`, mono), mu-law, A-law or MP3, cut anywhere and sent as
fast as you like; a WAV file is decoded by its header. It is played in real time; audio that arrives before pickup is queued until then.

**Text messages of the client** are JSON:

| message | |
|---|---|
| \`{"type":"mark","name":"…"}\` | requests the event \`mark\` once everything sent before it has been played; 1 to 256 characters |
| \`{"type":"clear"}\` | drops all queued audio and marks, within 200 ms |
| \`{"type":"progress"}\` | requests the server's progress; the reply, in order, is \`StreamProgress\` |
| \`{"type":"dtmf","digits":"…"}\` | presses keys: 1 to 64 of 0-9 * # A-D |
| \`{"type":"hangup"}\` | plays the queued audio, then ends the call (to end it at once, send \`clear\` first) |

**Text messages of the server** are \`StreamCallEvent\`, \`StreamTranscript\`, \`StreamProgress\` and, for a message that it does not understand,
\`StreamError\`. A connection begins with the events so far, and final transcripts that a broken connection may have lost. \`buffer_high\`: more than 30 s are queued, stop sending; \`buffer_low\`: continue.
**Binary messages of the server** are sent with \`audio=callee\`, from pickup on.
If a client reads too slowly, the oldest audio is dropped; the event \`audio_dropped\` reports it.

A client that reconnects requests \`progress\`: its \`messages\` counts the messages taken from clients of this call so far, audio
and text, without \`progress\` itself; the client sends the rest again.

A client that closes with 1000, or without a code, ends the call once the queued audio has been played. After any other close the
call waits 10 s for it to reconnect, counted from pickup at the earliest.

| close code | |
|---|---|
| 1000 | the call completed |
| 1001 | the server is stopping, or the connection was opened too late: connect again |
| 1003 | the bytes are not valid audio; the reason names what they are |
| 1009 | a message is larger than 1 MiB |
| 1011 | the server has made a mistake |
| 4001 | the token was revoked or has expired |
| 4008 | more than 60 s of audio were queued, and 8 MiB more were waiting |
| 4009 | the client does not read: more than 1 MiB of text was queued |
| 4010 | the call failed |`;
