// Speech to text for live calls: engines for `createRingport({ transcription })`.

export { type DeepgramOptions, deepgramTranscription } from "./deepgram.ts";
export type { LiveTimeouts } from "./live-session.ts";
export { type OpenaiTranscriptionOptions, openaiTranscription } from "./openai-batch.ts";
export { type OpenaiRealtimeOptions, openaiRealtimeTranscription } from "./openai-realtime.ts";
export type { RealtimeDialectName } from "./realtime-dialects.ts";
