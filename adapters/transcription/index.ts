// Speech to text of live calls: engines for `createRingport({ transcription })`.

export { type DeepgramOptions, deepgramTranscription } from "./deepgram.ts";
export type { LivePatience } from "./live-session.ts";
export { type OpenaiTranscriptionOptions, openaiTranscription } from "./openai-batch.ts";
export { type OpenaiRealtimeOptions, openaiRealtimeTranscription } from "./openai-realtime.ts";
export type { RealtimeDialectName } from "./realtime-dialects.ts";
